import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/**
 * Part of `npm run layers`: refuses circles between folders that lie side by side, which dependency-cruiser sees only as long as they are
 * circles of files. A folder counts with all that is below it. The files of the folder around them compose it: they may import each
 * part, and each part may import the words that they share.
 */
const TOPS = ['core', 'clickhouse', 'ingest', 'sandbox', 'src', 'client', 'console', 'demo'];
const IMPORT = /(?:\bfrom|\bimport\(?)\s*'(\.[^']+)'/g;

/** By the folder around both: from a child of it to another, with one import that makes the arrow. */
function arrowsOf(files) {
  const arrows = new Map();
  for (const file of files) {
    for (const [, specifier] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const from = dirname(file).split('/');
      const to = normalize(join(dirname(file), specifier))
        .split('/')
        .slice(0, -1);
      const depth = from.findIndex((part, at) => part !== to[at]);
      if (depth < 1 || depth >= to.length) continue;
      const around = from.slice(0, depth).join('/');
      const targets = arrows.get(around) ?? new Map();
      arrows.set(around, targets);
      const known = targets.get(from[depth]) ?? new Map();
      targets.set(from[depth], known);
      if (!known.has(to[depth]))
        known.set(to[depth], `${file} imports ${normalize(join(dirname(file), specifier))}`);
    }
  }
  return arrows;
}

/** A way from the folder back to itself, as its imports; null where there is none. */
function circleFrom(start, targets) {
  const queue = [[start, []]];
  const seen = new Set();
  for (const [folder, way] of queue) {
    for (const [next, sentence] of targets.get(folder) ?? []) {
      if (next === start) return [...way, sentence];
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push([next, [...way, sentence]]);
    }
  }
  return null;
}

const files = TOPS.flatMap((top) =>
  readdirSync(top, { recursive: true, encoding: 'utf8' }).map((name) => `${top}/${name}`),
).filter((name) => /\.(?:tsx?|mjs)$/.test(name) && !name.includes('node_modules'));

let circles = 0;
for (const [around, targets] of arrowsOf(files)) {
  for (const folder of [...targets.keys()].sort()) {
    const circle = circleFrom(folder, targets);
    if (circle === null) continue;
    circles += 1;
    console.error(`${around}/${folder} is in a circle of folders:\n  ${circle.join('\n  ')}`);
  }
}
if (circles > 0) process.exitCode = 1;
