import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Queries as visitors type them: in full and cut anywhere, with comments, strings with quotes, indented lines and unclosed brackets. */

const FILES = ['legit-more', 'sql-legit-examples', 'clickbench-shaped'];

const MORE = [
  "SELECT 'it''s' AS a, 1/2, \"payee\" FROM settlements -- the end's (near",
  'SELECT (1, [2, {n:UInt8}]\nFROM settlements s\n  JOIN wallets w ON w.wallet = s.payee\n    WHERE s.am',
  "WITH days AS (SELECT toDate(block_time) AS day FROM settlements)\nSELECT day,\n\tcount(\nFROM days WHERE d'",
  'select in, int, inte, desc, order by facil',
];

function examples(): string[] {
  const texts = FILES.flatMap((name) => {
    const file = fileURLToPath(new URL(`../fixtures/sql/${name}.jsonl`, import.meta.url));
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((line) => String((JSON.parse(line) as { sql: unknown }).sql));
  });
  // A key on the keyboard for every character.
  return texts.filter((text) => /^[\x20-\x7e\n\t]+$/.test(text) && text.length < TYPED_MAX_CHARS);
}

const TYPED_MAX_CHARS = 160;

/** A number below `below`; the same ones for the same seed. */
export type Random = (below: number) => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function typedQueries(count: number, random: Random): string[] {
  const all = examples();
  return Array.from({ length: count }, (_, index) => {
    const special = MORE[index];
    if (special !== undefined) return special;
    const text = all[random(all.length)] ?? '';
    return random(3) === 0 ? text.slice(0, 1 + random(text.length)) : text;
  });
}
