// words.js - a set from your own list or from a file: look up keys, remove them, save it.

const NEWLINE = 10;
const RETURN = 13;
const MOST_COPIES = { remove: 15, count: 255 }; // the largest number of copies that -n auto makes room for
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

// The lines of a file as the tool takes them (cli/lines.c): bytes up to a newline. An empty line is a key, a carriage return is part
// of its line, and the last line may lack its newline.
function linesOf(bytes) {
  const lines = [];
  for (let from = 0, end; from < bytes.length; from = end + 1) {
    const newline = bytes.indexOf(NEWLINE, from);
    end = newline === -1 ? bytes.length : newline;
    lines.push(bytes.subarray(from, end));
  }
  return lines;
}

function endsWithReturn(line) {
  return line.length > 0 && line[line.length - 1] === RETURN;
}

// How many lines are different, and how often the most frequent one comes. Bytes are written as one letter each, so that they can
// be keys of a Map.
function countLines(lines) {
  const letters = new TextDecoder("windows-1252");
  const copies = new Map();
  let mostCopies = 0;
  for (const line of lines) {
    const name = letters.decode(line);
    const n = (copies.get(name) ?? 0) + 1;
    copies.set(name, n);
    mostCopies = Math.max(mostCopies, n);
  }
  return { distinct: copies.size, mostCopies };
}

// What `tamis build -n auto` plans for these lines (cli/cmd_build.c): where copies of a line can be removed or counted, there is
// room for them, as far as a kind has it.
function specFor(tamis, job, { distinct, mostCopies }) {
  const spec = { capacity: distinct, fpr: job.fpr, remove: job.remove, count: job.count, small: job.small };
  if (!job.remove && !job.count) return spec;
  const isPossible = () => tamis.plan(spec).some((row) => row.chosen && !row.copiesTakeRoom);
  spec.copies = Math.min(mostCopies, job.count ? MOST_COPIES.count : MOST_COPIES.remove);
  while (spec.copies > 1 && !isPossible()) spec.copies = Math.floor(spec.copies / 2);
  return spec;
}

export class Words {
  constructor(tamis, getJob, seed) {
    this.tamis = tamis;
    this.getJob = getJob;
    this.seed = seed;
    this.useText(SAMPLE.split(" ").join("\n"), "the sample");
  }

  async useFile(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (isSetFile(bytes)) this.useSet(this.tamis.open(bytes), file.name, bytes);
    else this.useLines(linesOf(bytes), file.name);
  }

  // A file from the desktop; or text that was dragged, as a list.
  useDropped(data) {
    if (data.files.length > 0) return this.useFile(data.files[0]);
    const text = data.getData("text/plain");
    if (text === "") throw new Error("what you dropped is neither a file nor text");
    return this.useText(text, "your list");
  }

  useText(text, name) {
    this.useLines(linesOf(new TextEncoder().encode(text)), name);
  }

  // Each line is added, as the tool adds it: a line that comes twice must be removed twice.
  useLines(lines, name) {
    if (lines.length === 0) throw new Error(`${name} has no lines`);
    const counts = countLines(lines);
    const spec = specFor(this.tamis, this.getJob(), counts);
    const set = this.tamis.create(this.seed === undefined ? spec : { ...spec, seed: this.seed });
    for (const line of lines) set.add(line);
    const different = counts.distinct === lines.length ? "" : ` (${exactText(counts.distinct)} different)`;
    this.useSet(set, name, set.save(), `made from ${exactText(lines.length)} ${lines.length === 1 ? "line" : "lines"}${different} for at most ${rateText(spec.fpr)}`);
    this.tellReturns(lines, name);
  }

  // Windows ends lines with a carriage return and a newline. The tool keeps the carriage return in the key, where nobody can type it.
  tellReturns(lines, name) {
    const n = lines.filter(endsWithReturn).length;
    byId("words-returns").hidden = n === 0;
    byId("words-returns-about").textContent = `${exactText(n)} of these lines end with a carriage return, as Windows writes them. As in the tool, it is part of the key.`;
    this.withoutReturns = () => this.useLines(lines.map((line) => (endsWithReturn(line) ? line.subarray(0, -1) : line)), name);
  }

  useSet(set, name, bytes, from) {
    this.set?.free();
    this.set = set;
    this.name = name;
    this.from = from ?? "opened from a file of tamis";
    byId("words-returns").hidden = true;
    this.describe();
    this.offer(bytes);
    this.ask(byId("word").value);
  }

  describe() {
    const info = this.set.info();
    const bits = info.keys > 0 ? `, ${((8 * info.bodyBytes) / info.keys).toFixed(1)} bits per key` : "";
    byId("words-about").textContent = `${this.name}: ${exactText(info.keys)} ${info.keys === 1 ? "key" : "keys"} in ${sizeText(info.bodyBytes)} (${info.kind}${bits}; `
      + `${this.from}). Its rate is ${rateText(info.currentFpr)} now.`;
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
    const isThere = this.set.has(word);
    const isAsked = word !== "" || isThere; // an empty line may be a key
    const quoted = word === "" ? "the empty line" : `“${word}”`;
    answer.className = !isAsked ? "" : isThere ? "yes" : "no";
    answer.textContent = !isAsked ? "Type a word." : isThere ? `Yes: ${quoted} is in the set, or this is a wrong yes.` : `No: ${quoted} is certainly not in the set.`;
    byId("word-remove").disabled = !isThere || !this.set.info().abilities.includes("remove");
  }

  remove(word) {
    const isGone = this.set.remove(word);
    this.ask(word);
    byId("answer").textContent = isGone ? `Removed. ${byId("answer").textContent}` : `“${word}” could not be removed.`;
    this.describe();
    this.offer(this.set.save());
  }
}
