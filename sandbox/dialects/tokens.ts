/**
 * Words, texts and brackets of a query in any of the four dialects. Not a parser: it only keeps texts and comments apart from words, so
 * that spelling.ts can replace words without touching what is quoted.
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
  ['space', /(?:\s+|--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)+/y],
  ['number', /0x[0-9a-f]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy],
  ['word', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['name', /`[^`]*`/y],
  ['mark', /::|<=>|<>|!=|>=|<=|\|\||&&|->|!~\*|!~|~\*|[\s\S]/y],
];

const PLAIN = { text: /'(?:[^']|'')*'/y, double: /"(?:[^"]|"")*"/y } as const;
const ESCAPED = { text: /'(?:[^'\\]|\\[\s\S]|'')*'/y, double: /"(?:[^"\\]|\\[\s\S]|"")*"/y } as const;

export function tokensOf(text: string, quoting: Quoting): DialectToken[] {
  const quotes = quoting.backslashes ? ESCAPED : PLAIN;
  const patterns: readonly (readonly [TokenKind, RegExp])[] = [
    ['text', quotes.text],
    [quoting.doubleQuotedTexts ? 'text' : 'name', quotes.double],
    ...PATTERNS,
  ];
  const tokens: DialectToken[] = [];
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at, patterns);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(
  text: string,
  at: number,
  patterns: readonly (readonly [TokenKind, RegExp])[],
): DialectToken {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined && found !== '') return { kind, text: found };
  }
  return { kind: 'mark', text: text.charAt(at) };
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
