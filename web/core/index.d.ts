import type { Tamis } from "./core.js";

export const create: Tamis["create"];
export const open: Tamis["open"];
export const plan: Tamis["plan"];
export const planStages: Tamis["planStages"];
export const version: Tamis["version"];
export { load, TamisError } from "./core.js";
export type { Ability, Info, Key, Plan, Spec, Tamis, TamisSet, Wasm } from "./core.js";
