import type { Draw } from './draw.ts';
import type { Hostile } from './hostile.ts';

/** Text surgery: what no grammar would write. */

/** Good enough to cut a text where a lexer would; the engine's own lexer is under test. */
const TOKENS =
  /'(?:[^'\\]|\\.|'')*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|--[^\n]*|\/\*[\s\S]*?\*\/|[\p{L}_][\p{L}\p{N}_]*|\d[\w.]*|\s+|./gsu;

export function tokensOf(text: string): string[] {
  return text.match(TOKENS) ?? [];
}

const NASTY_TOKENS = [
  ';',
  '--',
  '-- \n',
  '#',
  '#!',
  '/*',
  '*/',
  '/* /* nested */ */',
  '\\G',
  '$$',
  '$a$',
  "'",
  '`',
  '"',
  '\\',
  '\0',
  '\n',
  '\t',
  '\u00a0',
  '\u2014',
  '\u2018',
  '\u201d',
  '\u2028',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  '.',
  '..',
  '*',
  '@',
  '@@version',
  '::',
  '->',
  '?',
  ':',
  '<=>',
  '||',
  '%',
  '^',
  'SELECT',
  'FROM',
  'WITH',
  'AS',
  'IN',
  'FORMAT',
  'SETTINGS',
  'INTO OUTFILE',
  'PARALLEL WITH',
  'STREAM',
  'FINAL',
  'SAMPLE 0.1',
  'PREWHERE',
  'EXPLAIN',
  'TABLE',
  'INSERT INTO',
  'APPLY',
  'EXCEPT',
  'COLUMNS',
  'UNION ALL',
  'VALUES',
  'DISTINCT ON',
  'TOP 1',
  'LATERAL',
  'USING',
  'OVER',
  'RECURSIVE',
  'MATERIALIZED',
  'INTERPOLATE',
  'WITH FILL',
  'RESPECT NULLS',
  'FILTER',
];

/** One to four cuts. `other` is a second text to take pieces from. */
export function mutate(draw: Draw, hostile: Hostile, text: string, other: string): string {
  const tokens = tokensOf(text);
  const donor = tokensOf(other);
  const place = (): number => draw.below(tokens.length + 1);
  const nasty = (): string =>
    draw.oneOf([
      [4, () => draw.pick(NASTY_TOKENS)],
      [1, hostile.functionName],
      [1, hostile.bareWord],
      [1, hostile.table],
      [1, hostile.clause],
      [1, hostile.declaredName],
    ]);
  const surgeries: readonly (() => void)[] = [
    () => tokens.splice(place(), 1 + draw.below(3)),
    () => tokens.splice(place(), 0, ...tokens.slice(place(), place())),
    () => tokens.splice(place(), 0, ...donor.slice(...range(draw, donor.length))),
    () => tokens.splice(place(), draw.below(2), ` ${nasty()} `),
    () =>
      tokens.splice(
        place(),
        0,
        draw.pick([
          ' /* c */ ',
          ' -- c\n',
          ' # c\n',
          ' #! c\n',
          '/* /* n */ */',
          '\n',
          '\t',
          '\r\n',
          '\u00a0',
        ]),
      ),
    () => swap(tokens, place(), place()),
    () => respell(draw, tokens, place()),
  ];
  for (let cuts = 1 + draw.below(4); cuts > 0; cuts--) draw.pick(surgeries)();
  return tokens.join('');
}

function range(draw: Draw, length: number): [number, number] {
  const from = draw.below(length + 1);
  return [from, from + 1 + draw.below(8)];
}

function swap(tokens: string[], one: number, other: number): void {
  const [first, second] = [tokens[one], tokens[other]];
  if (first === undefined || second === undefined) return;
  tokens[one] = second;
  tokens[other] = first;
}

/** The same word in another dress: case, quotes, escapes. */
function respell(draw: Draw, tokens: string[], at: number): void {
  const token = tokens[at];
  if (token === undefined || !/^[a-z_]\w*$/i.test(token)) return;
  const escaped = `\\x${token.charCodeAt(0).toString(16).padStart(2, '0')}${token.slice(1)}`;
  tokens[at] = draw.pick([
    token.toUpperCase(),
    token.toLowerCase(),
    `\`${token}\``,
    `"${token}"`,
    `\`${escaped}\``,
    `'${token}'`,
  ]);
}
