// numbers.js - numbers as the command line tool writes and reads them (common/numbers.c).

// Like printf's %.1f and so on: of two numbers that are equally near, take the even one. toFixed() takes the larger.
export function fixedText(value, decimals) {
  const scaledUp = value * 10 ** decimals;
  const isTie = scaledUp % 1 === 0.5 && Math.floor(scaledUp) % 2 === 0;
  return (isTie ? Math.floor(scaledUp) / 10 ** decimals : value).toFixed(decimals);
}

// Three significant digits, without zeros at the end: 1.23, 12.3, 123.
function threeDigits(value) {
  const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const text = fixedText(value, decimals);
  return decimals ? text.replace(/\.?0+$/, "") : text;
}

function scaled(value, step, names) {
  let at = 0;
  while (value >= 0.9995 * step && at + 1 < names.length) {
    value /= step;
    at++;
  }
  return threeDigits(value) + names[at];
}

export function sizeText(bytes) {
  return scaled(bytes, 1024, [" B", " KiB", " MiB", " GiB", " TiB"]);
}

export function countText(value) {
  return scaled(Math.round(value * 1e3) / 1e3, 1000, ["", "k", "M", "G", "T"]);
}

export function exactText(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

// As printf's %.3g: no zeros at the end, and an exponent below 1e-4.
function general(value) {
  if (value === 0) return "0";
  const exponent = Number(value.toExponential(2).split("e")[1]);
  if (exponent < -4 || exponent >= 3) {
    return value.toExponential(2).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
  }
  const text = fixedText(value, Math.max(0, 2 - exponent));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function rateText(rate) {
  if (rate > 0 && rate < 1e-5) return rate.toExponential(1).replace(/e-(\d)$/, "e-0$1");
  return `${general(100 * rate)}%`;
}

export function chanceText(rate) {
  return rate === 0 ? "never" : rateText(rate);
}

// "10k", "1.5M" or "1000"; NaN for anything else.
export function readCount(text) {
  const match = /^([0-9.]+)\s*([kMGT]?)$/i.exec(text.replaceAll(",", "").trim());
  if (!match) return NaN;
  const factor = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 }[match[2].toLowerCase()];
  return Math.round(Number(match[1]) * factor * 1e3) / 1e3;
}

// "1%", "0.001", "1e-6" or "1/1000".
export function readRate(text) {
  const match = /^([0-9.]+(?:e-?[0-9]+)?)(?:\/([0-9.]+))?\s*(%?)$/i.exec(text.trim());
  if (!match) return NaN;
  return Number(match[1]) / (match[3] ? 100 : 1) / Number(match[2] ?? 1);
}
