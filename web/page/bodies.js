// bodies.js - the contents of the buckets of a set, read from the bytes of its file as docs/format.md describes.
//
// A reader returns a list of blocks. A block is { name, rows }, a row { thin, cells, columns }, a cell a number: 0 is free, and
// the others say how it is filled (tones of draw.js). So the picture shows the real bytes.

const HEADER_BYTES = 4096;

// `count` numbers of `bits` bits, lowest bit first, from bit `from` on.
function fields(body, from, count, bits) {
  return Array.from({ length: count }, (_, i) => field(body, from + i * bits, bits));
}

function field(body, from, bits) {
  let value = 0;
  for (let i = 0; i < bits; i++) value += ((body[(from + i) >> 3] >> ((from + i) & 7)) & 1) * 2 ** i;
  return value;
}

function row(cells, columns, thin = false) {
  return { cells, columns, thin };
}

function readBloom(body, g) {
  const blocks = [];
  for (let at = 0; at < g.bits; at += 512) {
    blocks.push({ name: `bits ${at} to ${Math.min(at + 512, g.bits) - 1}`, rows: [row(fields(body, at, Math.min(512, g.bits - at), 1), 32)] });
  }
  return blocks;
}

// Counters in lines of 64 bytes, or one after the other. The tone of a counter is the largest number of keys that it can contain.
function readVicbf(body, g) {
  const smallest = Math.log2(g.increments & -g.increments);
  const keysIn = (value) => (value === 0 ? 0 : Math.max(1, Math.floor(value / smallest)));
  const inLine = g.blocked ? Math.floor(512 / g.counter_bits) : 64;
  const lineBits = g.blocked ? 512 : 64 * g.counter_bits;
  const blocks = [];
  for (let i = 0; i * inLine < g.counters; i++) {
    const n = Math.min(inLine, g.counters - i * inLine);
    blocks.push({ name: `line ${i}`, rows: [row(fields(body, i * lineBits, n, g.counter_bits).map(keysIn), 17)] });
  }
  return blocks;
}

// A cell's tone is its copies, 0 if it is free: a remainder is never 0.
function readDlcbf(body, g) {
  const blocks = [];
  const cellBits = g.remainder_bits + g.counter_bits;
  for (let i = 0; i < g.tables * g.buckets; i++) {
    const cells = fields(body, i * g.bucket_bytes * 8, g.cells, cellBits);
    const copies = cells.map((cell) => (cell === 0 ? 0 : 1 + Math.floor(cell / 2 ** g.remainder_bits)));
    blocks.push({ name: `subtable ${Math.floor(i / g.buckets)}, bucket ${i % g.buckets}`, rows: [row(copies, 7)] });
  }
  return blocks;
}

// A line: the chains that have entries, and 50 slots. Runs have tones 1 and 2 in turn.
function readLine(body, g) {
  const blocks = [];
  for (let i = 0; i < g.buckets; i++) {
    const starts = [1, ...fields(body, i * 512 + 62, 50, 1)];
    const used = starts.lastIndexOf(1);
    let run = 0;
    const slots = starts.slice(0, 50).map((isStart, slot) => (slot >= used ? 0 : 1 + ((run += isStart) & 1)));
    blocks.push({ name: `line ${i}`, rows: [row(fields(body, i * 512, 62, 1), 31, true), row(slots, 25)] });
  }
  return [...blocks, ...readShelves(body, g)];
}

function readShelves(body, g) {
  const blocks = [];
  for (let i = 0; i * 16 < g.buckets; i++) {
    const at = (g.buckets + i) * 512;
    const used = fields(body, at, 44, 1).reduce((sum, bit) => sum + bit, 0);
    const keys = Array.from({ length: 28 }, (_, slot) => (slot < used ? 3 : 0));
    blocks.push({ name: `shelf ${i}, for what does not fit in its lines`, rows: [row(keys, 14)] });
  }
  return blocks;
}

function bitsOf(value) {
  return value === 0 ? 0 : Math.floor(Math.log2(value)) + 1;
}

// Where the three arrays of records begin, and how long their records are, in bits.
function rankLayout(g) {
  const cellBits = g.remainder_bits + g.counter_bits + g.value_bits;
  const pointers = [bitsOf(g.extensions2), bitsOf(g.extensions3), 0];
  const heads = [g.chains + pointers[0], pointers[1], 0];
  const cells = [g.cells, g.cells2, g.cells3];
  const counts = [g.buckets, g.extensions2, g.extensions3];
  let start = 0;
  return cells.map((n, level) => {
    const bits = heads[level] + n * (1 + cellBits);
    const record = !g.aligned ? bits : bits <= 512 ? 2 ** Math.ceil(Math.log2(bits)) : Math.ceil(bits / 512) * 512;
    const begin = g.aligned ? Math.ceil(start / 512) * 512 : start;
    start = begin + record * counts[level];
    return { begin, record, cells: n, index: heads[level], pointer: pointers[level], pointerAt: level === 0 ? g.chains : 0 };
  });
}

// The higher index of a bucket over its records, and which records it has.
function rankIndex(body, layout, bucket) {
  const records = [];
  let record = bucket + 1;
  for (let level = 0; level < 3 && record !== 0; level++) {
    const part = layout[level];
    const at = part.begin + (record - 1) * part.record;
    records.push({ level, record: record - 1, index: fields(body, at + part.index, part.cells, 1) });
    record = part.pointer ? field(body, at + part.pointerAt, part.pointer) : 0;
  }
  return records;
}

// The level of each cell in use: level 1 has one for each chain, level n + 1 one for each 1 in the index of level n.
function rankLevels(chains, index) {
  const levels = [];
  let from = 0;
  let inLevel = chains.reduce((sum, bit) => sum + bit, 0);
  for (let level = 1; inLevel > 0; level++) {
    for (let i = 0; i < inLevel; i++) levels.push(level);
    const next = index.slice(from, from + inLevel).reduce((sum, bit) => sum + bit, 0);
    from += inLevel;
    inLevel = next;
  }
  return levels;
}

function readRank(body, g) {
  const layout = rankLayout(g);
  const blocks = [];
  for (let bucket = 0; bucket < g.buckets; bucket++) {
    const chains = fields(body, layout[0].begin + bucket * layout[0].record, g.chains, 1);
    const records = rankIndex(body, layout, bucket);
    const levels = rankLevels(chains, records.flatMap((record) => record.index));
    for (const { level, record, index } of records) {
      const cells = index.map((_, i) => levels[i] ?? 0);
      levels.splice(0, index.length);
      blocks.push({ name: level === 0 ? `bucket ${bucket}` : `extension ${record} of level ${level + 1}, of bucket ${bucket}`,
        rows: [...(level === 0 ? [row(chains, 32, true)] : []), row(cells, 21)] });
    }
  }
  return blocks;
}

const READERS = { bloom: readBloom, vicbf: readVicbf, dlcbf: readDlcbf, line: readLine, rank: readRank };

// What the colours mean.
export const LEGENDS = {
  line: "A block is a cache line: two thin rows say which of its 62 chains have keys, and 50 slots hold a byte of each key. The keys of one chain have the same colour; two colours take turns. "
    + "The last blocks are shelves, for keys that do not fit into their line.",
  rank: "A block is a bucket: two thin rows say which chains have keys, and cells hold the remainders of the keys, level by level, in a colour for each level. "
    + "A full bucket continues in an extension.",
  dlcbf: "A block is a bucket; the subtables follow each other. A key takes a cell in the emptiest of its buckets. A cell in the second colour stands for two copies.",
  vicbf: "A block is a cache line of counters. The colour shows how many keys a counter may contain.",
  bloom: "A block is a cache line of bits. A key sets some bits of one line. No bit is ever cleared, so keys cannot be removed.",
};

// The blocks of a set, from the bytes of its file.
export function readBlocks(kind, geometry, file) {
  return READERS[kind](file.subarray(HEADER_BYTES), geometry);
}

// Cells in use and all cells, of the rows that hold keys.
export function countCells(blocks) {
  const cells = blocks.flatMap((block) => block.rows.filter((each) => !each.thin).flatMap((each) => each.cells));
  return { used: cells.filter((cell) => cell !== 0).length, all: cells.length };
}
