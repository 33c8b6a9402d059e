// types.ts - a program that uses every call with its types: compiled by tsc, and run (core.mjs).
import { create, open, plan, planStages, version, load, TamisError, type Ability, type Info, type Key, type Plan, type Spec, type TamisSet } from "@tamis/core";
import { load as loadCore } from "@tamis/core/core";

declare const console: { log(text: string): void };

function check(isTrue: boolean, claim: string): void {
  if (!isTrue) throw new Error(claim);
}

const spec: Spec = { capacity: 100, fpr: 0.001, remove: true, count: true, countTo: 15, seed: 7n, geometry: {} };
const set: TamisSet = create(spec);
const keys: Key[] = ["text", new Uint8Array([1, 2]), 42n];
for (const key of keys) set.add(key).add(key);
const isThere: boolean = set.has("text");
const isGone: boolean = set.remove("text");
const copies: number = set.count(42n);
check(isThere && isGone && copies === 2, "keys");

const info: Info = set.info();
const abilities: Ability[] = info.abilities;
check(info.keys === 5 && abilities.includes("remove") && info.capacity >= 100, "info");

const bytes: Uint8Array = set.save();
check(open(bytes).has(42n) && open(bytes.buffer).has(42n) && open(new DataView(bytes.buffer)).has(42n), "files");

const rows: Plan[] = plan({ capacity: 1e6, fpr: 0.01 });
const stages: Plan[] = planStages({ capacity: 1000, growTo: 16000, fpr: 0.01 });
const first: Plan | undefined = rows.find((row) => row.chosen);
check(first !== undefined && first.geometry !== undefined && stages.length > 1, "plans");

try {
  create({ capacity: 10, fpr: 0.01, kind: "nonsense" });
} catch (problem) {
  check(problem instanceof TamisError && problem.code === "KIND" && problem.status === -11, "errors");
}

// @ts-expect-error a number is not a key
check(throws(() => set.add(7)), "numbers");
// @ts-expect-error there is no such field
check(throws(() => create({ capacity: 10, fpr: 0.01, colour: "red" })), "fields");
// @ts-expect-error a set needs a spec
check(throws(() => create()), "no spec");
// @ts-expect-error not bytes
check(throws(() => open("file")), "not bytes");

function throws(call: () => unknown): boolean {
  try {
    call();
  } catch {
    return true;
  }
  return false;
}

set.clear();
set.merge(create({ ...spec, merge: true }));
set.free();
check(load === loadCore && typeof version === "string", "the same module");
console.log("types are as they say");
