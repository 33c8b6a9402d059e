// draw.js - buckets on a canvas: blocks side by side, as many as fit, cells as squares.

function colours(element) {
  const style = getComputedStyle(element);
  const get = (name) => style.getPropertyValue(name).trim();
  return { free: get("--cell"), tones: [1, 2, 3, 4, 5, 6].map((i) => get(`--tone${i}`)), changed: get("--changed"), edge: get("--rule") };
}

function blockSize(block, cell) {
  const width = Math.max(...block.rows.map((row) => row.columns * (row.thin ? thinWidth(block, row, cell) : cell)));
  const height = block.rows.reduce((sum, row) => sum + Math.ceil(row.cells.length / row.columns) * (row.thin ? cell / 2 : cell), 0);
  return { width, height };
}

// A thin row is as wide as the others of its block.
function thinWidth(block, row, cell) {
  const wide = block.rows.filter((each) => !each.thin).map((each) => each.columns * cell);
  return wide.length ? wide[0] / row.columns : cell;
}

function layout(blocks, width, cell) {
  const gap = Math.max(5, cell);
  let x = 0, y = 0, tallest = 0;
  const places = blocks.map((block) => {
    const size = blockSize(block, cell);
    if (x > 0 && x + size.width > width) {
      x = 0;
      y += tallest + gap;
      tallest = 0;
    }
    const place = { x, y, ...size };
    x += size.width + gap;
    tallest = Math.max(tallest, size.height);
    return place;
  });
  return { places, height: y + tallest };
}

// The largest cells with which the whole picture is lower than `most` pixels.
function fit(blocks, width, most) {
  for (let cell = 14; cell > 4; cell--) {
    const found = layout(blocks, width, cell);
    const widest = Math.max(...found.places.map((place) => place.width));
    if (found.height <= most && widest <= width) return { cell, ...found };
  }
  return { cell: 4, ...layout(blocks, width, 4) };
}

function drawBlock(context, block, before, place, cell, ink) {
  let top = place.y;
  block.rows.forEach((row, r) => {
    const width = row.thin ? thinWidth(block, row, cell) : cell;
    const height = row.thin ? cell / 2 : cell;
    row.cells.forEach((value, i) => {
      const isChanged = before !== undefined && before.rows[r]?.cells[i] !== value;
      const tone = ink.tones[Math.min(value, ink.tones.length) - 1];
      context.fillStyle = value === 0 ? (isChanged ? ink.edge : ink.free) : isChanged && !row.thin ? ink.changed : tone;
      const x = place.x + (i % row.columns) * width;
      const y = top + Math.floor(i / row.columns) * height;
      context.fillRect(x, y, Math.max(1, width - 1), Math.max(1, height - 1));
    });
    top += Math.ceil(row.cells.length / row.columns) * height;
  });
}

// Draw the blocks; cells that differ from `before` are marked.
export function drawBlocks(canvas, blocks, before) {
  const width = canvas.clientWidth;
  if (width === 0) return;
  const scale = window.devicePixelRatio || 1;
  const { cell, places, height } = fit(blocks, width, width < 500 ? 600 : Math.max(420, width * 0.45));
  canvas.style.height = `${Math.ceil(height)}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(Math.ceil(height) * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const ink = colours(canvas);
  const isSame = before?.length === blocks.length;
  blocks.forEach((block, i) => drawBlock(context, block, isSame ? before[i] : undefined, places[i], cell, ink));
}
