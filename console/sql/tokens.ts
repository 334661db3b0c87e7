/** The parts of a SQL text. Pure, so that tests can run it outside a browser. */

type TokenKind =
  | 'space'
  | 'comment'
  | 'string'
  /** In double quotes or backticks. */
  | 'quoted'
  | 'placeholder'
  | 'number'
  | 'word'
  | 'sign';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Offset of its first character. */
  readonly from: number;
}

/** In this order: a string may hold what looks like a comment, and a placeholder what looks like a word. */
const PATTERNS: readonly (readonly [TokenKind, RegExp])[] = [
  ['space', /\s+/y],
  ['comment', /--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
  ['string', /'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)/y],
  ['quoted', /"(?:[^"\\]|\\[\s\S])*(?:"|$)|`(?:[^`\\]|\\[\s\S])*(?:`|$)/y],
  ['placeholder', /\{\s*[A-Za-z_]\w*\s*:[^{}]*\}/y],
  ['number', /0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y],
  ['word', /[\p{L}_][\p{L}\p{N}_]*/uy],
  ['sign', /<=>|->|::|\|\||<=|>=|<>|!=|==|[\s\S]/y],
];

/** Every character of the text is in exactly one token. */
export function tokensOf(sql: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < sql.length) {
    const token = tokenAt(sql, at);
    tokens.push(token);
    at += token.text.length;
  }
  return tokens;
}

function tokenAt(sql: string, from: number): Token {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = from;
    const text = pattern.exec(sql)?.[0];
    if (text !== undefined && text !== '') return { kind, text, from };
  }
  throw new Error('no pattern fits, and the last one fits every character');
}

/** The tokens that mean something, each with the number of brackets around it. */
export function meaningfulTokens(sql: string): readonly (Token & { readonly depth: number })[] {
  let depth = 0;
  return tokensOf(sql).flatMap((token) => {
    if (token.kind === 'space' || token.kind === 'comment') return [];
    if (token.text === ')' || token.text === ']') depth -= 1;
    const placed = { ...token, depth };
    if (token.text === '(' || token.text === '[') depth += 1;
    return [placed];
  });
}

/** Whether two texts differ in white space alone: outside strings, quoted names and comments. */
export function sameTokens(a: string, b: string): boolean {
  const [left, right] = [comparable(a), comparable(b)];
  return left.length === right.length && left.every((text, index) => text === right[index]);
}

/** White space around a comment or inside a placeholder says nothing; a formatter may indent the lines of a block comment. */
function comparable(sql: string): string[] {
  const tokens = tokensOf(sql);
  return tokens.flatMap(({ kind, text }, index) => {
    if (kind === 'space') return [];
    // `a.1` is an element of a tuple, `a .1` a name and a number.
    if (text === '.') return [`${tokens[index - 1]?.kind === 'space' ? ' ' : ''}.`];
    return kind === 'comment' || kind === 'placeholder' ? [text.replace(/\s+/g, ' ').trim()] : [text];
  });
}

/** Line and column of an offset, counted from 1 in characters as the API does. */
export function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

/** The offset of a place of the API; the end of the line where the text has changed since. */
export function offsetOfPlace(
  text: string,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const characters = [...(lines[line - 1] ?? '')].slice(0, column - 1).join('');
  return Math.min(before + characters.length, text.length);
}

/** Where a word stands first, outside strings and comments; null where it does not. */
export function placeOfWord(
  sql: string,
  word: string,
): { readonly line: number; readonly column: number } | null {
  const bare = word.split('.').at(-1) ?? word;
  const tokens = meaningfulTokens(sql).filter(({ kind }) => kind === 'word' || kind === 'quoted');
  const found = tokens.find(({ text }) => text.replace(/^["`]|["`]$/g, '') === bare);
  return found === undefined ? null : placeOf(sql, found.from);
}
