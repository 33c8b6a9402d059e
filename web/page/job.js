// job.js - the job that the controls describe, the cost of every kind, and the code to copy.

const byId = (id) => document.getElementById(id);
const MOST_KEYS = 1e8; // with more keys, some kinds do not fit into the 2 GiB that the page has

// The job that the controls describe; null if a field is not valid.
export function readJob() {
  const capacity = readCount(byId("keys").value);
  const fpr = readRate(byId("rate").value);
  const isGood = { keys: Number.isInteger(capacity) && capacity >= 1 && capacity <= MOST_KEYS, rate: fpr >= 1e-12 && fpr <= 0.5 };
  for (const [id, good] of Object.entries(isGood)) byId(id).setAttribute("aria-invalid", String(!good));
  byId("keys-problem").hidden = isGood.keys;
  byId("rate-problem").hidden = isGood.rate;
  if (!isGood.keys || !isGood.rate) return null;
  return { capacity, fpr, remove: byId("remove").checked, count: byId("count").checked, small: byId("small").checked };
}

// In the order of the tool: kinds that can do it by their size, then the others by name.
function sortRows(rows) {
  return [...rows].sort((a, b) => b.possible - a.possible || (a.possible ? a.bodyBytes - b.bodyBytes : 0) || (a.kind < b.kind ? -1 : 1));
}

// As the tool does: kinds whose copies use up capacity are chosen for counting only if they are named.
function passOver(row, job) {
  return row.possible && job.count && row.copiesTakeRoom && !row.chosen ? { ...row, possible: false, isPassedOver: true } : row;
}

export function planJob(tamis, job) {
  return sortRows(tamis.plan(job).map((row) => passOver(row, job)));
}

const COUNT_TO = 255; // the default of a spec (tamis.h)

// In the words and the order of the tool (cli/cmd_plan.c).
function whyNot(row, job) {
  const missing = ["remove", "count"].filter((ability) => job[ability] && !row.abilities.includes(ability));
  const isCountingLess = job.count && row.countTo !== 0 && row.countTo < COUNT_TO;
  if (row.status === -16) return "too large to address";
  if (missing.length) return `cannot ${missing.join(" and ")}`;
  if (isCountingLess && !(row.copiesTakeRoom && !row.chosen)) return `counts only to ${row.countTo}`;
  if (row.isPassedOver || (job.count && row.copiesTakeRoom)) return "copies use up capacity: chosen only if named";
  return row.overflow > 0 && row.fpr <= job.fpr ? "overflows too often" : "cannot reach that rate";
}

function cell(row, text, className) {
  const element = row.insertCell();
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function kindCell(line, row, chosen, onChoose) {
  const head = document.createElement("th");
  head.scope = "row";
  const label = document.createElement("label");
  const radio = Object.assign(document.createElement("input"), { type: "radio", name: "kind", value: row.kind, checked: row.kind === chosen });
  radio.addEventListener("change", () => onChoose(row.kind));
  label.append(radio, ` ${row.kind}`);
  head.append(row.possible ? label : row.kind);
  line.append(head);
}

function addRow(body, row, job, chosen, onChoose) {
  const line = body.insertRow();
  line.dataset.kind = row.kind;
  if (row.kind === chosen) line.className = "chosen";
  kindCell(line, row, chosen, onChoose);
  if (!row.possible) {
    cell(line, whyNot(row, job), "cannot").colSpan = 6;
    return;
  }
  const lines = [row.linesPresent, row.linesAbsent, row.linesAdd].map((value) => fixedText(value, 1)).join(" / ");
  for (const text of [sizeText(row.bodyBytes), fixedText(row.bitsPerKey, 1), rateText(row.fpr), chanceText(row.overflow), chanceText(row.saturation), lines]) {
    cell(line, text, "number");
  }
}

export function showTable(rows, job, chosen, onChoose) {
  const body = byId("kinds").tBodies[0];
  const focused = document.activeElement?.name === "kind" ? document.activeElement.value : null;
  body.replaceChildren();
  for (const row of rows) addRow(body, row, job, chosen, onChoose);
  if (focused) body.querySelector(`input[value=${focused}]`)?.focus();
}

// ------------------------------------------------------------------ lines to copy

function plainRate(fpr) {
  return String(Number(fpr.toPrecision(10)));
}

function codeC(job, kind) {
  const abilities = [job.remove && "TAMIS_CAN_REMOVE", job.count && "TAMIS_CAN_COUNT"].filter(Boolean).join(" | ");
  return ["tamis_spec spec = TAMIS_SPEC_INIT;", `spec.capacity = ${job.capacity};`, `spec.fpr = ${plainRate(job.fpr)};`,
    abilities && `spec.abilities = ${abilities};`, job.small && "spec.prefer = TAMIS_PREFER_SMALL;", `spec.kind = "${kind}";`,
    "tamis_set *set;", "if (tamis_create(&spec, &set, NULL) != TAMIS_OK) return 1;"].filter(Boolean).join("\n");
}

function codePython(job, kind) {
  const name = job.count ? "Counter" : "Set";
  const more = [job.count || job.remove ? "" : ", remove=False", job.small ? ", prefer='small'" : "", `, kind='${kind}'`].join("");
  return `import tamis\nkeys = tamis.${name}(capacity=${job.capacity}, fpr=${plainRate(job.fpr)}${more})`;
}

function optionsOf(job, kind) {
  return `-n ${job.capacity} -e ${plainRate(job.fpr)}${job.remove ? " --remove" : ""}${job.count ? " --count" : ""}${job.small ? " --small" : ""} -k ${kind}`;
}

function codeShell(job, kind) {
  return `tamis plan ${optionsOf(job, kind)}\ntamis build keys.tamis ${optionsOf(job, kind)} keys.txt`;
}

function codeJavaScript(job, kind) {
  const more = [job.remove && "remove: true", job.count && "count: true", job.small && "small: true", `kind: "${kind}"`].filter(Boolean).join(", ");
  return `import { create } from "@tamis/core";\nconst keys = create({ capacity: ${job.capacity}, fpr: ${plainRate(job.fpr)}, ${more} });`;
}

function span(className, ...parts) {
  const element = document.createElement("span");
  element.className = className;
  element.append(...parts);
  return element;
}

// Where a line must be broken, its rest is indented, and an option such as --remove stays whole: a browser would break it after
// its hyphens. The text of the element is that of the code.
function showLines(id, text) {
  const lines = text.split(/(?<=\n)/).map((line) => span("line", ...line.split(/(?<=\s)(?=-)|(?<=-\S+)(?=\s)/).map((part) => (part.startsWith("-") ? span("option", part) : part))));
  byId(id).replaceChildren(...lines);
}

export function showCode(job, kind) {
  showLines("code-c", codeC(job, kind));
  showLines("code-python", codePython(job, kind));
  showLines("code-shell", codeShell(job, kind));
  showLines("code-javascript", codeJavaScript(job, kind));
}

export async function copyCode(button) {
  const text = byId(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(byId(button.dataset.copy)); // from a file there may be no clipboard
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

// ------------------------------------------------------------------ the address of the page says the job

export function jobToHash(job, kind) {
  const words = [`n=${job.capacity}`, `e=${plainRate(job.fpr)}`, job.remove && "remove", job.count && "count", job.small && "small", kind && `kind=${kind}`];
  return `#${words.filter(Boolean).join("&")}`;
}

export function hashToControls(hash) {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  if (words.has("n")) byId("keys").value = words.get("n");
  if (words.has("e")) byId("rate").value = words.get("e");
  if ([...words.keys()].length) for (const id of ["remove", "count"]) byId(id).checked = words.has(id);
  if (words.has("small")) byId("small").checked = true;
  return words.get("kind");
}
