import type { Dialect } from '../dialects.ts';

/** Patterns of times, as `formatDateTime` of ClickHouse reads them. Sources: the manuals of the four dialects, and ClickHouse's. */

/** `to_char` of PostgreSQL, longest words first. */
const POSTGRES_WORDS: readonly (readonly [string, string])[] = [
  ['IYYY', '%G'],
  ['YYYY', '%Y'],
  ['HH24', '%H'],
  ['HH12', '%I'],
  ['MONTH', '%M'],
  ['DAY', '%W'],
  ['DDD', '%j'],
  ['MON', '%b'],
  ['DY', '%a'],
  ['YY', '%y'],
  ['MM', '%m'],
  ['DD', '%d'],
  ['HH', '%I'],
  ['MI', '%i'],
  ['SS', '%S'],
  ['IW', '%V'],
  ['ID', '%u'],
  ['AM', '%p'],
  ['PM', '%p'],
  ['FM', ''],
  ['Q', '%Q'],
];

/** `strftime`, which BigQuery uses, where it differs from ClickHouse. */
const STRFTIME: Readonly<Record<string, string>> = {
  M: '%i',
  B: '%M',
  A: '%W',
  R: '%H:%i',
  X: '%T',
  x: '%D',
};
/** MySQL and Trino, where they differ. */
const MYSQL: Readonly<Record<string, string>> = { s: '%S', v: '%V', x: '%G', k: '%H', l: '%I' };
/** What `formatDateTime` reads. */
const KNOWN = /^[aCcDdeFfGgHhIijkMmnOopQrRSsTtuVwWYyZzb%]$/;

/** Null for a pattern with a part that ClickHouse does not have. */
export function timeFormat(format: string, dialect: Dialect): string | null {
  if (dialect === 'postgresql' && !format.includes('%')) return postgresFormat(format);
  const own = dialect === 'bigquery' ? STRFTIME : MYSQL;
  let isKnown = true;
  const text = format.replace(/%([\s\S])/g, (_, letter: string) => {
    const ours = own[letter] ?? `%${letter}`;
    isKnown &&= Object.hasOwn(own, letter) || KNOWN.test(letter);
    return ours;
  });
  return isKnown ? text : null;
}

function postgresFormat(format: string): string | null {
  let text = '';
  for (let at = 0; at < format.length; ) {
    const quoted = /^"([^"]*)"/.exec(format.slice(at));
    const rest = format.slice(at).toUpperCase();
    const word = POSTGRES_WORDS.find(([name]) => rest.startsWith(name));
    if (quoted !== null) {
      text += quoted[1] ?? '';
      at += quoted[0].length;
    } else if (word !== undefined) {
      text += word[1];
      at += word[0].length;
    } else {
      const letter = format.charAt(at);
      if (/[A-Za-z0]/.test(letter) && letter !== 'T' && letter !== 'W') return null;
      text += letter === '%' ? '%%' : letter;
      at += 1;
    }
  }
  return text;
}
