/** What a set can do besides add and has. */
export type Ability = "remove" | "count" | "merge";

/** What you want. Only `capacity` and `fpr` must be given; the rest is as in tamis_spec of tamis.h. */
export interface Spec {
  /** Different keys in the set at one time. */
  capacity?: number;
  /** False-positive rate at capacity, 1e-12 to 0.5. */
  fpr?: number;
  /** Keys can be removed. */
  remove?: boolean;
  /** Copies of a key can be counted. */
  count?: boolean;
  /** The set can be merged with another. */
  merge?: boolean;
  /** Take the smallest kind, not the fastest. */
  small?: boolean;
  /** Copies of every key to plan for; 1 by default. */
  copies?: number;
  /** With `count`: the highest exact count; 255 by default. */
  countTo?: number;
  /** Largest body in bytes. Leave out `capacity` or `fpr` to get the best that fits. */
  memory?: number;
  /** Keys that are added over the set's whole life. */
  lifetime?: number;
  /** Largest acceptable probability that an add within capacity is ever refused; 1e-10 by default. */
  overflow?: number;
  /** The largest capacity that keeps the fpr: the set grows by itself. */
  growTo?: number;
  /** "line", "rank", "bloom", ...; chosen for you if it is left out. */
  kind?: string;
  /** Fields of the geometry to fix: { hashes: 9 } or "hashes=9". */
  geometry?: string | Record<string, number>;
  /** 128 bits; random if it is left out. From 2^53 on, a bigint. */
  seed?: number | bigint;
}

/** The plan of a kind for a spec, with the predictions of its analysis. */
export interface Plan {
  kind: string;
  summary: string;
  /** False: this kind cannot do it, and only kind, summary, status and abilities have a meaning. */
  possible: boolean;
  /** 0, or the status of tamis.h that says why not. */
  status: number;
  /** This is the kind that create() takes. */
  chosen: boolean;
  copiesTakeRoom: boolean;
  abilities: Ability[];
  geometry: Record<string, number>;
  capacity: number;
  lifetime: number;
  bodyBytes: number;
  fileBytes: number;
  bitsPerKey: number;
  /** Predicted at capacity. */
  fpr: number;
  /** Probability that an add within capacity is refused in the lifetime. */
  overflow: number;
  saturation: number;
  /** Cache lines that an operation touches on average. */
  linesPresent: number;
  linesAbsent: number;
  linesAdd: number;
  copies: number;
  countTo: number;
  /** For a stage of a set that grows: the peak memory while it grows to that stage. */
  peakBytes: number;
}

export interface Info {
  kind: string;
  abilities: Ability[];
  geometry: Record<string, number>;
  capacity: number;
  /** Adds minus removals. */
  keys: number;
  saturated: number;
  refusedAdds: number;
  refusedRemoves: number;
  bodyBytes: number;
  growTo: number;
  stage: number;
  stages: number;
  countTo: number;
  /** Predicted at capacity, by the kind's analysis. */
  predictedFpr: number;
  /** Computed from the present contents. */
  currentFpr: number;
  /** Estimate of the different keys that were added. */
  distinct: number;
  /** How full the set is, 0 to 1. */
  load: number;
}

/** A string is its UTF-8 bytes, as a line of text is for the command line tool. A bigint is a 64-bit id, as in tamis_add_id(). */
export type Key = string | Uint8Array | bigint;

export interface TamisSet {
  /** Add one key. Throws TamisError FULL if there is no room; then nothing changed. */
  add(key: Key): this;
  /** Never false for a key that was added and not removed. True for an absent key with probability fpr. */
  has(key: Key): boolean;
  /** Remove one copy of a key that was added. False: it is absent or saturated, and nothing changed.
   *  Remove only what you added: see docs/deletion.md. */
  remove(key: Key): boolean;
  /** Copies of the key, never too low; Infinity: more than the set can count. */
  count(key: Key): number;
  /** For how many of the ids first, ..., first + n - 1 the set says yes. All are below 2^53. */
  countRange(first: number, n: number): number;
  clear(): void;
  /** Add the contents of a set with the same kind, geometry and seed, made by the same instance of the library. */
  merge(other: TamisSet): void;
  info(): Info;
  /** The bytes of the file: what tamis_save() and `tamis build` write. */
  save(): Uint8Array;
  /** Free the memory now. Otherwise it is freed when the object is garbage-collected. */
  free(): void;
}

export class TamisError extends Error {
  /** As in tamis.h, -1 for TAMIS_ERR_FULL. */
  status: number;
  /** "FULL", "CANNOT", "CHECKSUM", ... */
  code: string;
}

export interface Tamis {
  version: string;
  create(spec: Spec): TamisSet;
  /** Open the bytes of a file; they are checked, and copied. */
  open(bytes: ArrayBuffer | ArrayBufferView): TamisSet;
  /** A row for each kind. */
  plan(spec: Spec): Plan[];
  /** A row for each stage of a set that grows. */
  planStages(spec: Spec): Plan[];
}

/** The bytes of tamis.wasm, as an ArrayBuffer or a view of one, or the WebAssembly.Module compiled from them. The type has
 *  no name here, because TypeScript knows it only with the library "dom", which programs for node may not have. */
export type Wasm = ArrayBuffer | ArrayBufferView | object;

/** Start the library from the bytes of tamis.wasm, where index.js cannot find the file itself. */
export function load(wasm: Wasm | Promise<Wasm>): Promise<Tamis>;
