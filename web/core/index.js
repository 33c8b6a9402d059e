// index.js - the library, loaded: import { create, open, plan } from "@tamis/core".
// tamis.wasm is in the same folder as this file. In node it is read from disk, elsewhere it is fetched.
import { load, TamisError } from "./core.js";

async function wasm() {
  const url = new URL("./tamis.wasm", import.meta.url);
  if (url.protocol !== "file:") {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`cannot load ${url}: ${answer.status}`);
    return answer.arrayBuffer();
  }
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

export const { create, open, plan, planStages, version } = await load(wasm());
export { load, TamisError };
