/**
 * Reads texts of SQL in one pass, with one index that only moves forward: blanks, comments, quoted texts and names, words. For what has to be
 * known before the engine has parsed a text, and for positions in it. A pattern in its place takes exponential time on some texts.
 */

/** What a dialect reads as a comment besides `-- …` and a block between slashes and asterisks. */
export interface Comments {
  /** Whether a comment in a comment needs an end of its own. */
  readonly nest: boolean;
  /** Whether `//` begins one. */
  readonly slashes: boolean;
  /** Whether `#` always begins one, or only before a space or `!`. */
  readonly everyHash: boolean;
}

/** Tried on 26.7.2.1 with `tokenizeQuery`. */
const OF_ENGINE: Comments = { nest: true, slashes: true, everyHash: false };

/** The blanks of the engine beyond ASCII (tried on 26.7.2.1): spaces of every width, also of none, and line separators. */
const WIDE_BLANKS =
  '\u0085\u00a0\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff';

/** The index of what follows the blanks and comments from `from` on. A comment that is not closed is none: it stops there. */
export function skipBlanks(text: string, from: number, comments: Comments = OF_ENGINE): number {
  let at = from;
  while (at < text.length) {
    const end = isBlank(text, at) ? at + 1 : commentEnd(text, at, comments);
    if (end === null) return at;
    at = end;
  }
  return at;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= 32
    ? code === 32 || (code >= 9 && code <= 13)
    : code > 126 && WIDE_BLANKS.includes(text.charAt(at));
}

/** Null where no comment begins, and where none ends. */
function commentEnd(text: string, at: number, { nest, slashes, everyHash }: Comments): number | null {
  const mark = text.slice(at, at + 2);
  if (mark === '/*') return nest ? nestedEnd(text, at + 2) : after('*/', text, at + 2);
  const isLine =
    mark === '--' ||
    (slashes && mark === '//') ||
    mark === '# ' ||
    mark === '#!' ||
    (everyHash && mark.startsWith('#'));
  return isLine ? (after('\n', text, at) ?? text.length) : null;
}

function nestedEnd(text: string, from: number): number | null {
  let depth = 1;
  for (let at = from; at + 1 < text.length; at += 1) {
    const mark = text.slice(at, at + 2);
    if (mark !== '/*' && mark !== '*/') continue;
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return at + 2;
    at += 1;
  }
  return null;
}

function after(end: string, text: string, from: number): number | null {
  const at = text.indexOf(end, from);
  return at === -1 ? null : at + end.length;
}

/** The index behind the quote that closes the one at `from`; null where none does. A doubled quote is part of the text. */
export function quotedEnd(text: string, from: number, hasEscapes: boolean): number | null {
  const quote = text.charAt(from);
  for (let at = from + 1; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (letter === '\\' && hasEscapes) at += 1;
    else if (letter === quote && text.charAt(at + 1) === quote) at += 1;
    else if (letter === quote) return at + 1;
  }
  return null;
}

const WORD = /\w+/y;

function wordAt(text: string, at: number): string {
  WORD.lastIndex = at;
  return WORD.exec(text)?.[0] ?? '';
}

/** The first word; with `brackets` also one behind opening brackets. '' where the text begins otherwise. */
export function firstWord(text: string, brackets: 'behind brackets' | null = null): string {
  let at = skipBlanks(text, 0);
  while (brackets !== null && text.charAt(at) === '(') at = skipBlanks(text, at + 1);
  return wordAt(text, at);
}

export interface Name {
  /** As it is written: with its quotes, or with the dots between its words. */
  readonly text: string;
  readonly from: number;
}

/** Words and quoted names outside of texts and comments. One that is not closed reaches to the end of the text. */
export function* namesIn(text: string): Generator<Name> {
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const sign = text.charAt(at);
    const isQuote = sign === "'" || sign === '"' || sign === '`';
    const end = isQuote ? quotedEnd(text, at, true) : dottedEnd(text, at);
    if (end === null || text.startsWith('/*', at)) return;
    if (end > at && sign !== "'") yield { text: text.slice(at, end), from: at };
    at = Math.max(end, at + 1);
  }
}

/** `a`, `a.b`: the index behind the last of the words with dots between them. */
function dottedEnd(text: string, from: number): number {
  let at = from + wordAt(text, from).length;
  while (at > from && text.charAt(at) === '.') {
    const word = wordAt(text, at + 1);
    if (word === '') break;
    at += 1 + word.length;
  }
  return at;
}
