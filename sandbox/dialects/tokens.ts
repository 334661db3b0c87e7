import { type Comments, quotedEnd, skipBlanks } from '../judge/lexer.ts';

/**
 * Words, texts and brackets of a query in any of the four dialects. Not a parser: it only keeps texts and comments apart from words, so
 * that spelling.ts can replace words without touching quoted text.
 */

export type TokenKind = 'word' | 'number' | 'text' | 'name' | 'mark' | 'space';

export interface DialectToken {
  readonly kind: TokenKind;
  readonly text: string;
}

/** In which dialects a double quote starts a text and not a name. */
export interface Quoting {
  readonly doubleQuotedTexts: boolean;
  /** Whether a backslash escapes the next character of a text. */
  readonly backslashes: boolean;
}

const PATTERNS: readonly (readonly [TokenKind, RegExp])[] = [
  ['number', /0x[0-9a-f]+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/iy],
  ['word', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['mark', /::|<=>|<>|!=|>=|<=|\|\||&&|->|!~\*|!~|~\*|[\s\S]/y],
];

/** The same in the four dialects, but for `#`, which only MySQL and BigQuery have. */
const COMMENTS: Comments = { nest: false, slashes: false, everyHash: true };

export function tokensOf(text: string, quoting: Quoting): DialectToken[] {
  const tokens: DialectToken[] = [];
  for (let at = 0; at < text.length; ) {
    const space = skipBlanks(text, at, COMMENTS);
    const token: DialectToken =
      space > at ? { kind: 'space', text: text.slice(at, space) } : tokenAt(text, at, quoting);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(text: string, at: number, quoting: Quoting): DialectToken {
  const quotes = kindOfQuotes(text.charAt(at), quoting);
  const hasEscapes = quoting.backslashes && text.charAt(at) !== '`';
  const closed = quotes === null ? null : quotedEnd(text, at, hasEscapes);
  if (quotes !== null && closed !== null) return { kind: quotes, text: text.slice(at, closed) };
  // No grammar reads a text in which something is not closed.
  if (quotes !== null || text.startsWith('/*', at)) return { kind: 'mark', text: text.slice(at) };
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined && found !== '') return { kind, text: found };
  }
  return { kind: 'mark', text: text.charAt(at) };
}

function kindOfQuotes(sign: string, { doubleQuotedTexts }: Quoting): 'text' | 'name' | null {
  if (sign === "'") return 'text';
  if (sign === '`') return 'name';
  if (sign !== '"') return null;
  return doubleQuotedTexts ? 'text' : 'name';
}

/** The texts of the tokens without space, for a text whose dialect is not known: both kinds of quotes are kept. */
export function solidTokens(text: string): string[] {
  const tokens = tokensOf(text, { doubleQuotedTexts: false, backslashes: false });
  return tokens.flatMap(({ kind, text: written }) => (kind === 'space' ? [] : [written]));
}

/** What a quoted text says. */
export function valueOfText(quoted: string, { backslashes }: Quoting): string {
  const quote = quoted.charAt(0);
  const inner = quoted.slice(1, -1).replaceAll(quote + quote, quote);
  return backslashes
    ? inner.replace(/\\([\s\S])/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped)
    : inner;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0' };

/** The text as standard SQL writes it. */
export function quoteText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** Index after the bracket that closes the one at `open`; null if none does. */
export function afterBracket(tokens: readonly DialectToken[], open: number): number | null {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    const text = tokens[at]?.text;
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return null;
}

/** Index of the next token that is not space, from `at`. */
export function solid(tokens: readonly DialectToken[], at: number): number {
  let index = at;
  while (tokens[index]?.kind === 'space') index += 1;
  return index;
}

/** Whether these words stand from `at`, and the index after them. */
export function wordsAt(
  tokens: readonly DialectToken[],
  at: number,
  words: readonly string[],
): number | null {
  let index = at;
  for (const word of words) {
    index = solid(tokens, index);
    if (tokens[index]?.text.toUpperCase() !== word) return null;
    index += 1;
  }
  return index;
}
