// core.js - sets of tamis in JavaScript, on the library compiled to WebAssembly.
//
// `load` takes the bytes of tamis.wasm, or a promise of them, and returns { create, open, plan, version }.
// index.js does that for node and for browsers; types and comments for users are in core.d.ts.

const ABILITIES = { remove: 1, count: 2, merge: 4 };

// The names behind `which` in exports.c, in its order.
const SPEC_NUMBERS = ["capacity", "fpr", "abilities", "copies", "countTo", "memory", "prefer", "lifetime", "overflow", "growTo"];
const PLAN_NUMBERS = ["status", "chosen", "copiesTakeRoom", "abilities", "capacity", "lifetime", "bodyBytes", "fileBytes", "bitsPerKey",
  "fpr", "overflow", "saturation", "linesPresent", "linesAbsent", "linesAdd", "copies", "countTo", "peakBytes"];
const INFO_NUMBERS = ["abilities", "keys", "saturated", "refusedAdds", "refusedRemoves", "bodyBytes", "growTo", "stage", "stages",
  "currentFpr", "distinct", "load", "capacity", "countTo"];

// Statuses of tamis.h by the names that errors have.
const CODES = { "-1": "FULL", "-2": "ABSENT", "-5": "SATURATED", "-6": "PART", "-10": "ARGUMENT", "-11": "KIND", "-12": "CANNOT",
  "-13": "MISMATCH", "-15": "NOT_BUILT", "-16": "LIMIT", "-30": "MEMORY", "-31": "IO", "-50": "FOREIGN", "-51": "VERSION",
  "-52": "TRUNCATED", "-53": "CHECKSUM", "-54": "CORRUPT" };

export class TamisError extends Error {
  constructor(status, text) {
    super(text);
    this.name = "TamisError";
    this.status = status;
    this.code = CODES[status] ?? String(status);
  }
}

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();
const KEY_ROOM = 4096; // keys of up to this many bytes use one common buffer

function namesOf(abilities) {
  return Object.keys(ABILITIES).filter((name) => abilities & ABILITIES[name]);
}

// The one instance of the WebAssembly module, and the functions that exchange data with it.
class Module {
  static async load(source) {
    const module = new Module();
    const imports = { env: { random: (at, n) => module.random(at, n), emscripten_notify_memory_growth() {} },
      wasi_snapshot_preview1: module.stubs() };
    const bytes = await source;
    const compiled = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
    for (const { module: from, name } of WebAssembly.Module.imports(compiled)) {
      imports[from] ??= {};
      imports[from][name] ??= () => { throw new Error(`tamis.wasm calls ${from}.${name}, which a browser does not have`); };
    }
    module.calls = (await WebAssembly.instantiate(compiled, imports)).exports;
    module.calls._initialize?.();
    module.keyAt = module.calls.get(KEY_ROOM);
    return module;
  }

  // The library never opens a file here. libc's printf, of which it uses snprintf, refers to these.
  stubs() {
    return { fd_write: () => 8, fd_close: () => 8, fd_seek: () => 8, fd_read: () => 8, proc_exit() { throw new Error("tamis.wasm ended"); } };
  }

  // The memory may have moved since the last call, so new views are made.
  bytes(at, n) {
    return new Uint8Array(this.calls.memory.buffer, at, n);
  }

  random(at, n) {
    globalThis.crypto.getRandomValues(this.bytes(at, n));
  }

  text(at) {
    const memory = new Uint8Array(this.calls.memory.buffer);
    return fromUtf8.decode(memory.subarray(at, memory.indexOf(0, at)));
  }

  // Copy bytes into the memory, with a zero after them. The caller frees the copy. The memory has 2 GiB at most, and a number
  // above 2^32 would become a small one on the way into it.
  copyIn(bytes) {
    const at = bytes.length < 2 ** 31 ? this.calls.get(bytes.length + 1) : 0;
    if (at === 0) throw new TamisError(-30, `not enough memory: needs ${bytes.length} bytes`);
    this.bytes(at, bytes.length).set(bytes);
    this.bytes(at, bytes.length + 1)[bytes.length] = 0;
    return at;
  }

  fail(status) {
    throw new TamisError(status, this.text(this.calls.problemText()) || this.text(this.calls.statusText(status)));
  }

  // The buffer of short keys. When the module gets more memory, views of the old memory become empty.
  keyView() {
    if (this.view === undefined || this.view.length === 0) this.view = this.bytes(this.keyAt, KEY_ROOM);
    return this.view;
  }

  // Call `use(address, bytes)` with a key in memory. A character of a string takes at most 3 bytes.
  withKey(key, use) {
    if (typeof key === "string" && key.length * 3 <= KEY_ROOM) return use(this.keyAt, utf8.encodeInto(key, this.keyView()).written);
    const bytes = typeof key === "string" ? utf8.encode(key) : key;
    if (!(bytes instanceof Uint8Array)) throw new TypeError("a key is a string, a Uint8Array or a bigint");
    if (bytes.length <= KEY_ROOM) {
      this.keyView().set(bytes);
      return use(this.keyAt, bytes.length);
    }
    const at = this.copyIn(bytes);
    try {
      return use(at, bytes.length);
    } finally {
      this.calls.drop(at);
    }
  }

  // Fill in a spec, and call `use` while its texts are in memory.
  withSpec(spec, use) {
    if (typeof spec !== "object" || spec === null) throw new TypeError(`a spec says what the set is for, as in ${SPEC_EXAMPLE}, not ${spec}`);
    const numbers = { ...spec, abilities: abilitiesOf(spec), prefer: spec.small ? 1 : 0 };
    const unknown = Object.keys(spec).filter((name) => !SPEC_NUMBERS.includes(name) && !SPEC_WORDS.includes(name));
    if (unknown.length) throw new TypeError(`a spec has no '${unknown[0]}'; it has ${[...SPEC_NUMBERS, ...SPEC_WORDS].join(", ")}`);
    this.calls.specBegin();
    SPEC_NUMBERS.forEach((name, which) => this.specNumber(name, which, numbers[name]));
    if (spec.seed !== undefined) this.calls.specSeed(...wordsOf("seed", spec.seed, 4));
    const texts = [];
    try {
      for (const text of [spec.kind, geometryText(spec.geometry)]) texts.push(text ? this.copyIn(utf8.encode(text)) : 0);
      this.calls.specTexts(...texts);
      return use();
    } finally {
      for (const at of texts) if (at !== 0) this.calls.drop(at);
    }
  }

  specNumber(name, which, value) {
    if (value === undefined) return;
    if (typeof value !== "number" || !(value >= 0)) throw new TypeError(`${name} must be a number that is not negative`);
    if (name !== "fpr" && name !== "overflow" && !Number.isSafeInteger(value)) throw new TypeError(`${name} must be a whole number below 2^53`);
    this.calls.specNumber(which, value);
  }

  readPlan(row) {
    const plan = Object.fromEntries(PLAN_NUMBERS.map((name, which) => [name, this.calls.planNumber(row, which)]));
    const geometry = {};
    for (let i = 0; i < this.calls.planFields(row); i++) {
      geometry[this.text(this.calls.planFieldName(row, i))] = this.calls.planFieldValue(row, i);
    }
    const names = { kind: this.text(this.calls.planText(row, 0)), summary: this.text(this.calls.planText(row, 1)) };
    return { ...names, ...plan, possible: plan.status === 0, chosen: plan.chosen !== 0, copiesTakeRoom: plan.copiesTakeRoom !== 0,
      abilities: namesOf(plan.abilities), geometry };
  }
}

const SPEC_EXAMPLE = "{ capacity: 100000, fpr: 0.001, remove: true }";
const SPEC_WORDS = ["remove", "count", "merge", "small", "kind", "geometry", "seed"];

function abilitiesOf(spec) {
  return Object.keys(ABILITIES).reduce((sum, name) => sum + (spec[name] ? ABILITIES[name] : 0), 0);
}

function geometryText(geometry) {
  if (geometry === undefined || typeof geometry === "string") return geometry;
  if (typeof geometry !== "object" || geometry === null) throw new TypeError('geometry is an object or a text, as in "hashes=9"');
  return Object.entries(geometry).map(([name, value]) => `${name}=${value}`).join(",");
}

// A number above 2^53 may be another one than was written in the program: JavaScript rounds it.
function checkWhole(name, value) {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${name} must be a whole number from 0 to 2^53 - 1`);
}

// A number or bigint as 32-bit words, lowest first.
function wordsOf(name, value, n) {
  if (typeof value !== "bigint") checkWhole(`${name}, unless it is a bigint,`, value);
  const whole = BigInt(value);
  if (whole < 0n || whole >> BigInt(32 * n)) throw new RangeError(`${name} must be from 0 to 2^${32 * n} - 1`);
  return Array.from({ length: n }, (_, i) => Number((whole >> BigInt(32 * i)) & 0xffffffffn));
}

// The two halves of an id. It is slow to shift a BigInt, and fast to store it.
const idWord = new BigUint64Array(1);
const idHalves = new Uint32Array(idWord.buffer);
const isLittle = new Uint8Array(new Uint16Array([1]).buffer)[0];

function splitId(id) {
  idWord[0] = id;
  if (idWord[0] !== id) throw new RangeError("an id is from 0n to 2n ** 64n - 1n");
}

// Free the memory of sets that are garbage-collected.
const forgotten = new FinalizationRegistry(({ module, at }) => module.calls.free(at));

const ID_CALLS = { add: "addId", has: "hasId", remove: "removeId", count: "countId" };

class TamisSet {
  #module;
  #at;

  constructor(module, at) {
    this.#module = module;
    this.#at = at;
    forgotten.register(this, { module, at }, this);
  }

  get #set() {
    if (this.#at === 0) throw new Error("this set was freed");
    return this.#at;
  }

  // A call for one key, by its bytes or, for a bigint, by its id.
  #call(name, key) {
    const { calls } = this.#module;
    if (typeof key === "bigint") {
      splitId(key);
      return calls[ID_CALLS[name]](this.#set, idHalves[1 - isLittle], idHalves[isLittle]);
    }
    return this.#module.withKey(key, (at, n) => calls[name](this.#set, at, n));
  }

  #fail(status) {
    throw new TamisError(status, this.#module.text(this.#module.calls.statusText(status)));
  }

  add(key) {
    const status = this.#call("add", key);
    if (status !== 0) this.#fail(status);
    return this;
  }

  has(key) {
    return this.#call("has", key) !== 0;
  }

  remove(key) {
    const status = this.#call("remove", key);
    if (status !== 0 && status !== -2 && status !== -5) this.#fail(status);
    return status === 0;
  }

  count(key) {
    const answer = this.#call("count", key);
    if (answer < -1) this.#fail(answer + 1);
    return answer === -1 ? Infinity : answer;
  }

  countRange(first, n) {
    checkWhole("first", first);
    checkWhole("n", n);
    checkWhole("first + n", first + n);
    return this.#module.calls.hasRange(this.#set, first, n);
  }

  clear() {
    const status = this.#module.calls.clear(this.#set);
    if (status !== 0) this.#fail(status);
  }

  // A set of another instance of the module is in another memory, where its address means nothing here.
  merge(other) {
    if (!(other instanceof TamisSet)) throw new TypeError("merge() takes a set");
    if (other.#module !== this.#module) throw new TypeError("sets of two calls of load() cannot be merged: open() the other's save() here first");
    const status = this.#module.calls.merge(this.#set, other.#set);
    if (status !== 0) this.#fail(status);
  }

  info() {
    const { calls } = this.#module;
    const status = calls.inspect(this.#set);
    if (status !== 0) this.#fail(status);
    const info = Object.fromEntries(INFO_NUMBERS.map((name, which) => [name, calls.infoNumber(which)]));
    const plan = this.#module.readPlan(-1);
    return { ...info, kind: plan.kind, abilities: namesOf(info.abilities), predictedFpr: plan.fpr, geometry: plan.geometry };
  }

  save() {
    const { calls } = this.#module;
    const at = calls.saveBegin(this.#set);
    try {
      if (at === 0) this.#fail(calls.lastStatus());
      return this.#module.bytes(at, calls.saveBytes()).slice();
    } finally {
      calls.saveEnd();
    }
  }

  free() {
    if (this.#at === 0) return;
    forgotten.unregister(this);
    this.#module.calls.free(this.#at);
    this.#at = 0;
  }
}

/** The bytes of an ArrayBuffer (what fetch() gives) or of any view of one. */
function bytesOf(data) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new TypeError("open() takes the bytes of a file: a Uint8Array or an ArrayBuffer");
}

export async function load(source) {
  const module = await Module.load(source);
  const { calls } = module;
  const made = (at) => (at !== 0 ? new TamisSet(module, at) : module.fail(calls.lastStatus()));
  const planned = (isStages) => {
    const status = calls.plan(isStages);
    if (status !== 0) module.fail(status);
    return Array.from({ length: calls.planRows() }, (_, row) => module.readPlan(row));
  };
  return {
    version: module.text(calls.version()),
    create: (spec) => module.withSpec(spec, () => made(calls.create())),
    plan: (spec) => module.withSpec(spec, () => planned(0)),
    planStages: (spec) => module.withSpec(spec, () => planned(1)),
    open(data) {
      const bytes = bytesOf(data);
      const at = module.copyIn(bytes);
      try {
        return made(calls.open(at, bytes.length));
      } finally {
        calls.drop(at);
      }
    },
  };
}
