// main.js - starts the library and connects the controls.

async function wasmOfPage() {
  const packed = Uint8Array.from(atob(byId("wasm").textContent.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

// A slider's position and its value, on a logarithmic scale.
function sliderOf(id, slider, read, write) {
  byId(slider).addEventListener("input", () => {
    byId(id).value = write(10 ** Number(byId(slider).value));
    byId(id).dispatchEvent(new Event("input"));
  });
  return () => {
    const value = read(byId(id).value);
    if (value > 0) byId(slider).value = String(Math.log10(value));
    byId(slider).setAttribute("aria-valuetext", byId(id).value);
  };
}

// The last results stay visible, but faint and without controls, until the number is valid again.
function showStale(job) {
  byId("results").inert = true;
  byId("takes").textContent = job === undefined ? "" : `Below is still the answer for ${countText(job.capacity)} keys at ${rateText(job.fpr)}.`;
}

function startJob(tamis) {
  let wanted = hashToControls(location.hash);
  let rows = [];
  let lastJob; // the last valid job
  const sliders = [sliderOf("keys", "keys-slider", readCount, (value) => countText(Number(value.toPrecision(2)))),
    sliderOf("rate", "rate-slider", readRate, (value) => rateText(Number(value.toPrecision(1))))];
  const show = (job) => {
    const planned = rows.find((row) => row.chosen)?.kind;
    const kind = rows.find((row) => row.possible && row.kind === wanted)?.kind ?? planned;
    const choose = (next) => { wanted = next; show(job); };
    drawKinds(byId("chart"), rows, job, kind, choose);
    showTable(rows, job, kind, choose);
    byId("takes").textContent = planned ? `tamis takes ${planned} for this${kind !== planned ? `; you chose ${kind}` : ""}.` : "No kind can do this.";
    byId("code").hidden = !kind;
    if (kind) showCode(job, kind);
    history.replaceState(null, "", jobToHash(job, kind !== planned ? kind : null));
  };
  const update = () => {
    const job = readJob();
    for (const place of sliders) place();
    if (job === null) return showStale(lastJob);
    byId("results").inert = false;
    lastJob = job;
    rows = planJob(tamis, job);
    show(job);
  };
  for (const id of ["keys", "rate"]) byId(id).addEventListener("input", update);
  for (const id of ["remove", "count", "small", "fast"]) byId(id).addEventListener("change", update);
  for (const button of document.querySelectorAll("button[data-copy]")) button.addEventListener("click", () => copyCode(button));
  update();
  return { repaint: () => { if (lastJob !== undefined) show(lastJob); }, getJob: () => lastJob };
}

function startFilling(tamis, seed) {
  const filling = new Filling(tamis, seed);
  const run = byId("fill-run");
  const isStopped = () => { run.textContent = "Run"; run.setAttribute("aria-pressed", "false"); };
  const restart = () => {
    isStopped();
    const capacity = Number(byId("fill-capacity").value);
    filling.start(document.querySelector("input[name=fill-kind]:checked").value, capacity, 0.02);
  };
  for (const radio of document.querySelectorAll("input[name=fill-kind]")) radio.addEventListener("change", restart);
  byId("fill-capacity").addEventListener("change", restart);
  byId("fill-clear").addEventListener("click", restart);
  byId("fill-add").addEventListener("click", () => filling.add(1));
  byId("fill-add-many").addEventListener("click", () => filling.add(Math.ceil(filling.spec.capacity / 10)));
  byId("fill-remove").addEventListener("click", () => filling.remove(1));
  byId("fill-remove-half").addEventListener("click", () => filling.remove(Math.ceil(filling.keys.length / 2)));
  run.addEventListener("click", () => {
    if (filling.timer !== null) return filling.stop(), isStopped();
    run.textContent = "Stop";
    run.setAttribute("aria-pressed", "true");
    filling.run(Number(byId("fill-speed").value), isStopped);
  });
  restart();
  return filling;
}

function startWords(tamis, getJob, seed) {
  const words = new Words(tamis, () => getJob() ?? { fpr: 0.001, remove: true }, seed);
  const drop = byId("drop");
  const isOver = (yes) => drop.classList.toggle("over", yes);
  const guarded = (work) => Promise.resolve().then(work).catch((problem) => { byId("words-about").textContent = `That did not work: ${problem.message}`; });
  byId("word").addEventListener("input", () => words.ask(byId("word").value));
  byId("word-remove").addEventListener("click", () => words.remove(byId("word").value));
  byId("words-file").addEventListener("change", (event) => guarded(() => event.target.files[0] && words.useFile(event.target.files[0])));
  byId("words-use").addEventListener("click", () => guarded(() => words.useText(byId("words-text").value, "your list")));
  byId("words-returns-leave").addEventListener("click", () => guarded(() => words.withoutReturns()));
  // Files may be dropped anywhere on the page. Otherwise the browser would open the file in place of the page. Text can still be dropped into a field.
  const isForUs = (event) => event.dataTransfer.types.includes("Files") || (drop.contains(event.target) && event.target.id !== "words-text");
  for (const name of ["dragover", "dragenter"]) document.addEventListener(name, (event) => { if (isForUs(event)) event.preventDefault(), isOver(true); });
  document.addEventListener("dragleave", (event) => { if (event.relatedTarget === null) isOver(false); });
  document.addEventListener("drop", (event) => {
    isOver(false);
    if (!isForUs(event)) return;
    event.preventDefault();
    guarded(() => words.useDropped(event.dataTransfer));
  });
  return words;
}

// ?seed=7 makes the same sets again. If it is not a number, the page uses a random seed, and says so.
function readSeed() {
  const given = new URLSearchParams(location.search).get("seed");
  if (given === null) return undefined;
  if (/^\d{1,20}$/.test(given) && BigInt(given) < 2n ** 64n) return BigInt(given);
  tellProblem(`The seed in the address, “${given}”, is not a whole number below 2^64. The page uses a random seed.`);
  return undefined;
}

function tellProblem(text) {
  byId("problem").hidden = false;
  byId("problem").textContent = text;
}

async function startPage() {
  const tamis = await load(wasmOfPage());
  const seed = readSeed();
  const job = startJob(tamis);
  const filling = startFilling(tamis, seed);
  const words = startWords(tamis, job.getJob, seed);
  const repaint = () => { job.repaint(); filling.paint(); };
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; repaint(); } });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  document.documentElement.dataset.ready = "yes";
  globalThis.tamisPage = { tamis, filling, words }; // for the curious, and for the test
}

const isNewEnough = typeof WebAssembly === "object" && typeof DecompressionStream === "function";
startPage().catch((problem) => tellProblem(isNewEnough ? `The page could not start: ${problem.message}`
  : "This page needs a browser with WebAssembly and DecompressionStream (all since 2023)."));
