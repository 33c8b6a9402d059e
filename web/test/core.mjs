// core.mjs - the package in node, compared with the command line tool: the same plans, and the same files in both directions.
//
// usage: node web/test/core.mjs BUILD        speaks TAP
import { execFileSync } from "node:child_process";
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const build = resolve(process.argv[2]);
const { create, open, plan, planStages, version, load, TamisError } = await import(pathToFileURL(join(build, "web/core/index.js")));
const folder = mkdtempSync(join(tmpdir(), "tamis-web-"));
const tests = [];
const test = (name, body) => tests.push({ name, body });

function tool(args, input = "") {
  return execFileSync(join(build, "tamis"), args, { input, encoding: "utf8", cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
}

// The tool ends with 1 if a key is absent: here that is an answer, not an error.
function ask(file, keys) {
  try {
    return tool(["has", file], keys.join("\n")).split("\n").filter(Boolean);
  } catch (ended) {
    assert.equal(ended.status, 1);
    return ended.stdout.split("\n").filter(Boolean);
  }
}

const words = (name, n) => Array.from({ length: n }, (_, i) => `${name} ${i} é`);
const kinds = plan({ capacity: 1000, fpr: 0.01 }).map((row) => row.kind);
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${what}: ${a} and ${b}`);

test("the_version_is_that_of_the_tool", () => assert.ok(tool(["--version"]).includes(version)));

for (const [job, spec] of [
  [["-n", "1000", "-e", "0.01", "--remove"], { capacity: 1000, fpr: 0.01, remove: true }],
  [["-n", "1000000", "-e", "0.001", "--small"], { capacity: 1e6, fpr: 0.001, small: true }],
  [["-n", "50000000", "-e", "0.000001", "--remove"], { capacity: 5e7, fpr: 1e-6, remove: true }],
  [["-n", "20000", "-e", "0.05", "--count"], { capacity: 20000, fpr: 0.05, count: true }],
  [["-n", "300", "-e", "0.02", "--remove", "--copies", "3"], { capacity: 300, fpr: 0.02, remove: true, copies: 3 }],
]) {
  test(`plans_are_those_of_tamis_plan_${job.join("_")}`, () => {
    const rows = Object.fromEntries(plan(spec).map((row) => [row.kind, row]));
    const told = JSON.parse(tool(["plan", ...job, "--json"]));
    assert.equal(told.chosen, Object.values(rows).find((row) => row.chosen).kind);
    for (const row of told.kinds.filter((each) => each.possible)) {
      const ours = rows[row.kind];
      assert.deepEqual(ours.geometry, row.geometry, row.kind);
      assert.equal(ours.bodyBytes, row.body_bytes, row.kind);
      for (const [name, theirs] of [["fpr", "fpr"], ["overflow", "overflow"], ["saturation", "saturation"], ["bitsPerKey", "bits_per_key"],
        ["linesPresent", "lines_present"], ["linesAbsent", "lines_absent"], ["linesAdd", "lines_add"]]) {
        near(ours[name], row[theirs], `${row.kind} ${name}`);
      }
    }
  });
}

for (const kind of kinds) {
  const keys = words("key", 900);
  const canRemove = plan({ capacity: 1000, fpr: 0.01, kind, remove: true })[0].possible;
  const spec = { capacity: 1000, fpr: 0.01, remove: canRemove, kind, seed: 7 };
  const options = ["-n", "1000", "-e", "0.01", "-k", kind, "--seed", "7", ...(canRemove ? ["--remove"] : [])];

  test(`a_file_of_the_tool_opens_in_javascript_${kind}`, () => {
    writeFileSync(join(folder, "keys.txt"), keys.join("\n") + "\n");
    tool(["build", "tool.tamis", ...options, "keys.txt"]);
    const set = open(readFileSync(join(folder, "tool.tamis")));
    for (const key of keys) assert.ok(set.has(key), key);
    assert.equal(set.info().keys, JSON.parse(tool(["info", "--json", "tool.tamis"])).keys);
    assert.equal(set.info().kind, kind);
  });

  test(`javascript_writes_the_bytes_of_the_tool_${kind}`, () => {
    const set = create(spec);
    for (const key of keys) set.add(key);
    assert.deepEqual(Buffer.from(set.save()), readFileSync(join(folder, "tool.tamis")));
  });

  test(`a_file_of_javascript_is_asked_by_the_tool_${kind}`, () => {
    const set = create({ ...spec, seed: undefined });
    for (const key of keys) set.add(key);
    writeFileSync(join(folder, "js.tamis"), set.save());
    tool(["verify", "js.tamis"]);
    assert.deepEqual(ask("js.tamis", keys), keys);
    const others = words("other", 3000);
    const yes = ask("js.tamis", others);
    assert.ok(yes.length < 3000 * 0.01 * 2, `${yes.length} of 3000 false positives`);
    assert.deepEqual(yes, others.filter((key) => set.has(key)));
  });

  if (!canRemove) continue;
  test(`what_is_added_and_removed_by_turns_is_right_${kind}`, () => {
    const set = create(spec);
    for (const key of keys) set.add(key);
    for (const key of keys.slice(0, 400)) assert.ok(set.remove(key), key);
    for (const key of keys.slice(400)) assert.ok(set.has(key), key);
    const wrong = keys.slice(0, 400).filter((key) => set.has(key)).length;
    assert.ok(wrong <= 16, `${wrong} of 400 removed keys are still there`);
    writeFileSync(join(folder, "half.tamis"), set.save());
    tool(["verify", "half.tamis"]);
    assert.deepEqual(ask("half.tamis", keys.slice(400)), keys.slice(400));
  });
}

test("keys_are_strings_bytes_and_ids", () => {
  const set = create({ capacity: 100, fpr: 1e-9, remove: true });
  set.add("größer").add(7n).add(2n ** 64n - 1n).add("x".repeat(10000)).add("");
  assert.ok(set.has(new TextEncoder().encode("größer")) && set.has(7n) && set.has(2n ** 64n - 1n) && set.has("x".repeat(10000)) && set.has(""));
  assert.ok(!set.has(8n) && !set.has("7") && !set.has("x".repeat(9999)));
  assert.throws(() => set.add(7), TypeError);
  assert.throws(() => set.add(-1n), RangeError);
  assert.throws(() => set.add(2n ** 64n), RangeError);
});

// In a process of its own, since the memory of an instance never becomes smaller. A buffer that nobody touches takes no memory.
test("memory_that_runs_out_is_told_and_nothing_changes", () => {
  const code = `import assert from "node:assert/strict";
    import { create, open } from ${JSON.stringify(pathToFileURL(join(build, "web/core/index.js")))};
    const isMemory = (problem) => problem.code === "MEMORY";
    const set = create({ capacity: 1000, fpr: 0.01, remove: true }).add("apple");
    for (const n of [3 * 2 ** 30, 2 ** 32 - 1]) {
      const bytes = new Uint8Array(n);
      assert.throws(() => set.add(bytes), isMemory);
      assert.throws(() => open(bytes), isMemory);
    }
    const large = [];
    assert.throws(() => { for (;;) large.push(create({ capacity: 3e8, fpr: 0.01, kind: "bloom" })); }, isMemory);
    assert.throws(() => large[0].save(), isMemory);
    assert.ok(set.has("apple") && set.info().keys === 1);
    large.pop().free();
    assert.ok(open(set.save()).has("apple"));`;
  writeFileSync(join(folder, "memory.mjs"), code);
  execFileSync(process.execPath, [join(folder, "memory.mjs")], { encoding: "utf8", stdio: "pipe" });
});

test("numbers_that_are_not_exact_are_refused", () => {
  const set = create({ capacity: 100, fpr: 1e-9, seed: 2n ** 53n });
  set.add(2n ** 53n - 2n);
  assert.equal(set.countRange(2 ** 53 - 2, 1), 1);
  assert.equal(set.countRange(0, 0), 0);
  for (const [first, n] of [[-1, 5], [0, -1], [NaN, 5], [0, NaN], [0, Infinity], [0.5, 5], [2 ** 53, 5], [2 ** 53 - 2, 2], ["3", 4], [5n, 5], [0]])
    assert.throws(() => set.countRange(first, n), TypeError, `${first} and ${n}`);
  for (const seed of [2 ** 53, 1.5, -1, NaN, "7", true, null, {}]) assert.throws(() => create({ capacity: 10, fpr: 0.01, seed }), TypeError, String(seed));
  for (const seed of [-1n, 2n ** 128n]) assert.throws(() => create({ capacity: 10, fpr: 0.01, seed }), /seed must be from 0 to 2\^128/);
  for (const geometry of [7, true, null]) assert.throws(() => create({ capacity: 10, fpr: 0.01, geometry }), /geometry is an object or a text/);
});

test("copies_are_counted_and_a_flood_is_many", () => {
  const set = create({ capacity: 100, fpr: 1e-6, remove: true, count: true, countTo: 15 });
  for (let i = 0; i < 12; i++) set.add("twelve");
  assert.equal(set.count("twelve"), 12);
  assert.equal(set.count("none"), 0);
  for (let i = 0; i < 5000; i++) set.add("flood");
  assert.equal(set.count("flood"), Infinity);
  assert.equal(set.remove("flood"), false);
});

test("a_full_set_says_full_and_nothing_changed", () => {
  const set = create({ capacity: 10, fpr: 0.01, kind: "dlcbf", remove: true, seed: 1 });
  let n = 0;
  const fill = () => { for (;;) { set.add(`k${n}`); n++; } };
  assert.throws(fill, (problem) => problem instanceof TamisError && problem.code === "FULL");
  for (let i = 0; i < n; i++) assert.ok(set.has(`k${i}`));
  assert.equal(set.info().keys, n);
});

test("errors_say_what_is_wrong", () => {
  const codeOf = (call) => { try { call(); } catch (problem) { return problem.code; } return "none"; };
  assert.equal(codeOf(() => create({ capacity: 10, fpr: 0.01, kind: "nonsense" })), "KIND");
  assert.equal(codeOf(() => create({ capacity: 10, fpr: 0.01, kind: "bloom", remove: true })), "CANNOT");
  assert.equal(codeOf(() => create({ capacity: 10, fpr: 2 })), "ARGUMENT");
  assert.equal(codeOf(() => create({ capacity: 10, fpr: 0.01 }).remove("x")), "CANNOT");
  assert.equal(codeOf(() => open(new Uint8Array(9000))), "FOREIGN");
  assert.throws(() => create({ capacity: 10, fpr: 0.01, colour: "red" }), TypeError);
  assert.throws(() => create({ capacity: 1.5, fpr: 0.01 }), TypeError);
});

test("a_spec_that_is_missing_or_empty_is_explained", () => {
  for (const call of [create, plan, planStages]) {
    for (const spec of [undefined, null, 1000, "line"]) assert.throws(() => call(spec), /capacity: 100000, fpr: 0.001/);
  }
  assert.throws(() => create({}), (problem) => problem.code === "ARGUMENT" && /capacity/.test(problem.message));
});

test("damaged_files_are_refused", () => {
  const set = create({ capacity: 1000, fpr: 0.01, remove: true, seed: 3 });
  for (const key of words("key", 500)) set.add(key);
  const good = set.save();
  assert.equal(open(good).info().keys, 500);
  for (let at = 0; at < good.length; at += 97) {
    const bad = good.slice();
    bad[at] ^= 1;
    assert.throws(() => open(bad), TamisError, `byte ${at}`);
  }
  assert.throws(() => open(good.subarray(0, good.length - 1)), (problem) => problem.code === "TRUNCATED");
});

test("files_come_as_views_and_buffers", () => {
  const set = create({ capacity: 100, fpr: 0.01 });
  const bytes = set.add("apple").save();
  const padded = new Uint8Array(bytes.length + 16);
  padded.set(bytes, 8);
  for (const data of [bytes, bytes.slice().buffer, padded.subarray(8, 8 + bytes.length), new DataView(padded.buffer, 8, bytes.length)])
    assert.ok(open(data).has("apple"));
  for (const data of [{}, "file", null, undefined]) assert.throws(() => open(data), TypeError);
});

test("a_set_that_grows_keeps_its_rate_and_its_file", () => {
  const set = create({ capacity: 1000, growTo: 64000, fpr: 0.01, remove: true, seed: 5 });
  const keys = words("grown", 40000);
  for (const key of keys) set.add(key);
  assert.ok(set.info().stage > 3);
  writeFileSync(join(folder, "grown.tamis"), set.save());
  assert.deepEqual(ask("grown.tamis", keys), keys);
  assert.ok(set.countRange(0, 100000) / 100000 < 0.01);
  assert.equal(planStages({ capacity: 1000, growTo: 64000, fpr: 0.01, remove: true }).length, set.info().stages + 1);
});

test("sets_merge", () => {
  const [one, two] = [1, 2].map(() => create({ capacity: 1000, fpr: 0.001, remove: true, merge: true, seed: 9 }));
  one.add("a");
  two.add("b");
  one.merge(two);
  assert.ok(one.has("a") && one.has("b"));
  assert.throws(() => one.merge(create({ capacity: 1000, fpr: 0.001, remove: true, seed: 10 })), (problem) => problem.code === "MISMATCH");
});

test("sets_of_two_instances_are_not_merged", async () => {
  const other = await load(readFileSync(join(build, "web/core/tamis.wasm")));
  const [one, two] = [create, other.create].map((make) => make({ capacity: 1000, fpr: 0.001, remove: true, merge: true, seed: 9 }));
  two.add("b");
  assert.throws(() => one.merge(two), /load\(\)/);
  one.merge(open(two.save()));
  assert.ok(one.has("b"));
  for (const nothing of [undefined, null, {}, two.save()]) assert.throws(() => one.merge(nothing), /takes a set/);
});

test("seeds_are_random_unless_they_are_given", () => {
  const header = () => Buffer.from(create({ capacity: 10, fpr: 0.01 }).save().slice(32, 48)).toString("hex");
  assert.notEqual(header(), header());
});

test("sets_that_were_freed_say_so_and_many_fit_one_after_the_other", () => {
  const set = create({ capacity: 10, fpr: 0.01 });
  set.free();
  set.free();
  assert.throws(() => set.has("x"), /freed/);
  for (let i = 0; i < 300; i++) create({ capacity: 1e7, fpr: 0.01, seed: 1, kind: "bloom" }).free(); // 12 MB each
});

test("the_example_of_the_readme_prints_what_it_says", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const code = /```js\n(.*?)```/s.exec(readme)[1].replace("@tamis/core", pathToFileURL(join(build, "web/core/index.js")));
  const said = [...code.matchAll(/console\.log\(.*\); +\/\/ (\w+)/g)].map((match) => match[1]);
  writeFileSync(join(folder, "example.mjs"), code);
  assert.deepEqual(execFileSync(process.execPath, [join(folder, "example.mjs")], { encoding: "utf8" }).trim().split("\n"), said);
  assert.ok(said.length >= 5);
});

test("the_package_can_be_installed_by_npm", () => {
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "name": "user", "private": true, "type": "module" }');
  const packed = execFileSync("npm", ["pack", "--silent", join(build, "web/core")], { cwd: folder, encoding: "utf8" }).trim();
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, packed)], { cwd: project, stdio: "ignore" });
  writeFileSync(join(project, "user.js"), 'import { version } from "@tamis/core"; console.log(version);');
  assert.equal(execFileSync(process.execPath, ["user.js"], { cwd: project, encoding: "utf8" }).trim(), version);
});

test("links_of_the_readme_lead_to_files_of_the_package", () => {
  const installed = join(folder, "project/node_modules/@tamis/core");
  const links = [...readFileSync(join(installed, "README.md"), "utf8").matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]);
  assert.ok(links.includes("core.d.ts"));
  for (const link of links.filter((each) => !/^https?:/.test(each))) assert.ok(existsSync(join(installed, link)), link);
});

// With the library of browsers, and without it, as in node. A line after @ts-expect-error must be an error.
for (const lib of ["es2022", "es2022,dom"]) {
  test(`typescript_knows_the_types_${lib}`, () => {
    const project = join(folder, "project");
    cpSync(new URL("types.ts", import.meta.url), join(project, "types.ts"));
    try {
      execFileSync("tsc", ["--strict", "--module", "node16", "--target", "es2022", "--lib", lib, "--outDir", "out", "types.ts"],
        { cwd: project, encoding: "utf8" });
    } catch (problem) {
      assert.fail(problem.stdout ?? problem.message);
    }
    assert.equal(execFileSync(process.execPath, ["out/types.js"], { cwd: project, encoding: "utf8" }), "types are as they say\n");
  });
}

console.log(`1..${tests.length}`);
let failed = 0;
for (const [i, { name, body }] of tests.entries()) {
  try {
    await body();
    console.log(`ok ${i + 1} - ${name}`);
  } catch (problem) {
    failed++;
    console.log(`not ok ${i + 1} - ${name}\n${String(problem.stack).replace(/^/gm, "# ")}`);
  }
}
rmSync(folder, { recursive: true });
console.log(`${tests.length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
