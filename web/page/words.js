// words.js - a list of your own, or a file of a set: ask it, remove from it, take it home.

const MAGIC = [0x89, 0x74, 0x61, 0x6d, 0x69, 0x73, 0x0d, 0x0a];
const SAMPLE = "almond anise apple apricot artichoke basil bay bean beet bread butter cabbage caper carrot celery chard cheese cherry chestnut"
  + " chickpea chive cinnamon clove cod coriander corn courgette cream cress crumb cucumber cumin currant date dill duck egg endive fennel fig"
  + " flour garlic ginger gravy grape ham honey kale leek lemon lentil lime mace mango marrow melon milk mint mushroom mussel mustard nutmeg oat"
  + " oil olive onion orange oregano oyster parsley parsnip pasta pea peach pear pepper plum potato prune quince radish raisin rhubarb rice"
  + " rosemary saffron sage salt scallop sesame shallot shrimp sorrel spinach squash sugar tarragon thyme tomato trout tuna turnip vanilla"
  + " vinegar walnut yeast yoghurt";

function isSetFile(bytes) {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

export class Words {
  constructor(tamis, getJob) {
    this.tamis = tamis;
    this.getJob = getJob;
    this.useText(SAMPLE.split(" ").join("\n"), "the sample");
  }

  async useFile(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (isSetFile(bytes)) this.useSet(this.tamis.open(bytes), file.name, bytes);
    else this.useText(new TextDecoder().decode(bytes), file.name);
  }

  // Every different line is a key, without its line end, as the tool takes lines.
  useText(text, name) {
    const lines = new Set(text.split(/\r?\n/).filter((line) => line !== ""));
    const job = this.getJob() ?? { fpr: 0.001, remove: true };
    if (lines.size === 0) throw new Error(`${name} has no lines`);
    const set = this.tamis.create({ capacity: lines.size, fpr: job.fpr, remove: job.remove, count: job.count, small: job.small });
    for (const line of lines) set.add(line);
    const textBytes = new TextEncoder().encode(text).length;
    this.useSet(set, name, set.save(), textBytes);
  }

  useSet(set, name, bytes, textBytes) {
    this.set?.free();
    this.set = set;
    this.name = name;
    const info = set.info();
    const from = textBytes ? `, made from ${sizeText(textBytes)} of text` : ", opened from a file of tamis";
    byId("words-about").textContent = `${name}: ${exactText(info.keys)} keys in ${sizeText(info.bodyBytes)} (${info.kind}, `
      + `${((8 * info.bodyBytes) / Math.max(1, info.keys)).toFixed(1)} bits per key${from}). Its rate is ${rateText(info.currentFpr)} now.`;
    this.offer(bytes);
    this.ask(byId("word").value);
  }

  offer(bytes) {
    const link = byId("words-save");
    if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    link.download = `${this.name.replace(/\.\w+$/, "").replace(/\W+/g, "-")}.tamis`;
    byId("words-shell").textContent = `tamis has ${link.download} questions.txt`;
  }

  ask(word) {
    const answer = byId("answer");
    const canRemove = this.set.info().abilities.includes("remove");
    const isThere = word !== "" && this.set.has(word);
    answer.className = word === "" ? "" : isThere ? "yes" : "no";
    answer.textContent = word === "" ? "Type a word." : isThere ? `Yes: “${word}” is in the set, almost certainly.` : `No: “${word}” is not in the set, certainly.`;
    byId("word-remove").disabled = !isThere || !canRemove;
  }

  remove(word) {
    const isGone = this.set.remove(word);
    this.ask(word);
    byId("answer").textContent = isGone ? `Removed “${word}”. ${byId("answer").textContent}` : `“${word}” could not be removed.`;
    this.offer(this.set.save());
  }
}
