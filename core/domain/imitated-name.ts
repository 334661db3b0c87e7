/**
 * Detects self-chosen names that look like a known name. Both are reduced to a skeleton: characters that look alike become the same
 * letter, and case, spaces, signs and marks are dropped.
 */

/** A known name and its id. */
export interface KnownName {
  readonly id: string;
  readonly name: string;
}

/** The id of the imitated name, or null. */
export type FindImitated = (name: string) => string | null;

/** Stored names are shorter; this bounds the work on any other text. */
const NAME_MAX_CHARS = 200;

/** Characters that look like a Latin letter, by that letter; `i`, `l` and `1` look alike. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  a: '4@аαɑᎪꓮΑА',
  b: '8вьƅβᏴꓐВΒ',
  c: 'сϲᏟꓚС',
  d: 'ԁđꓓᎠ',
  e: '3еєεҽᎬꓰЕΕ',
  f: 'ƒꓝϝ',
  g: 'ɡցꓖᏀ',
  h: 'һнհħᎻꓧНΗ',
  j: 'јյᎫꓙ',
  k: 'кκᏦꓗКΚ',
  l: 'i1|!іıӏιlᏞꓡᏆꓲІΙłⅼ',
  m: 'мᎷꓟМΜ',
  n: 'пηոꓠΝ',
  o: '0оοσօøᎾꓳОΟ',
  p: 'рρᏢꓑРΡ',
  q: 'ԛզ',
  r: 'гᎡꓣ',
  s: '5$ѕſꓢᏚЅ',
  t: '7тτᎢꓔТΤ',
  u: 'υսμꓴ',
  v: 'ѵνᏙꓦ',
  w: 'ԝωшᎳꓪ',
  x: 'хχꓫХΧ',
  y: 'уγүꓬУΥ',
  z: 'ᏃꓜΖ',
};

const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, others]) => [...others].map((other) => [other, letter])),
);

/** Filler words that do not distinguish a name: `Coinbase Facilitator` reads as `Coinbase`. As skeletons. */
const FILLERS = ['facilitators', 'facilitator', 'official', 'relayer', 'x402'].map(skeletonOf);
/** A known name without its fillers must be at least this long to match alone: `OpenFacilitator` is not `Open`. */
const STEM_MIN_CHARS = 5;
export function createFindImitated(known: readonly KnownName[]): FindImitated {
  const ids = new Map<string, string>();
  for (const { id, name } of known)
    for (const spelled of [name, id]) {
      const whole = skeletonOf(spelled);
      for (const stem of withoutFillers(whole))
        if (stem !== '' && (stem === whole || stem.length >= STEM_MIN_CHARS) && !ids.has(stem))
          ids.set(stem, id);
    }
  return (name) => {
    for (const stem of withoutFillers(skeletonOf(name))) {
      const id = ids.get(stem);
      if (id !== undefined) return id;
    }
    return null;
  };
}

/** A skeleton, and the same without fillers at its ends. */
function withoutFillers(skeleton: string): string[] {
  const stems = [skeleton];
  for (const stem of stems) {
    for (const filler of FILLERS) {
      const found = [
        stem.startsWith(filler) ? stem.slice(filler.length) : stem,
        stem.endsWith(filler) ? stem.slice(0, -filler.length) : stem,
      ];
      for (const shorter of found) if (!stems.includes(shorter)) stems.push(shorter);
    }
  }
  return stems;
}

export function skeletonOf(name: string): string {
  const plain = name
    .slice(0, NAME_MAX_CHARS)
    // As display-text.ts shows foreign letters within a word.
    .replace(/\{U\+([0-9A-F]{4,6})\}/g, (all, hex: string) => letterOf(hex) ?? all)
    .normalize('NFKD');
  const letters = [...plain].map((char) => LOOKS_LIKE.get(char) ?? char).join('');
  const folded = [...letters.toLowerCase()].map((char) => LOOKS_LIKE.get(char) ?? char).join('');
  return folded
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

function letterOf(hex: string): string | undefined {
  const code = Number.parseInt(hex, 16);
  return code > 0x10_ffff ? undefined : String.fromCodePoint(code);
}
