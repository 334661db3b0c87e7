import type { TextEdit } from '../../core/text-edits.ts';
import type { Token } from './parser.ts';

/** A piece of a text, in bytes, and what stands there instead. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

/** The caller's text in the engine's tokens, and corrections of it. Other modules find what to correct in tokens, which count bytes. */
export interface CallerText {
  /** Without comments. */
  readonly tokens: readonly Token[];
  /** The same, with words in capitals, as the engine prints keywords. */
  readonly keywords: readonly Token[];
  /** The pieces as edits of the text that was sent; none where they are too many to list. */
  edits(pieces: readonly Piece[]): { readonly edits?: TextEdit[] };
  /** Without these tokens and the blanks before them. */
  removal(first: Token, last: Token): Piece;
}

/** Of one correction. Warnings are a header too, and headers are short. */
const EDITS_MAX = 20;

export function callerText(text: string, written: readonly Token[]): CallerText {
  const tokens = written.filter(({ kind }) => kind !== 'Comment');
  let keywords: readonly Token[] | undefined;
  let unitAt: ((at: number) => number) | undefined;
  return {
    tokens,
    get keywords() {
      keywords ??= tokens.map((token) =>
        token.kind === 'BareWord' ? { ...token, text: token.text.toUpperCase() } : token,
      );
      return keywords;
    },
    edits: (pieces) => {
      if (pieces.length === 0 || pieces.length > EDITS_MAX) return {};
      unitAt ??= unitsIn(text);
      const unit = unitAt;
      return { edits: pieces.map(({ from, to, by }) => ({ from: unit(from), to: unit(to), text: by })) };
    },
    removal: (first, last) => {
      const before = written.findLast(({ at }) => at < first.at);
      // A comment up to the end of its line would swallow what follows.
      const from = before === undefined || before.kind === 'Comment' ? first.at : endOf(before);
      return { from, to: endOf(last), by: '' };
    },
  };
}

/** The UTF-16 offset of a byte. */
function unitsIn(text: string): (at: number) => number {
  const bytes = Buffer.from(text);
  if (bytes.length === text.length) return (at) => at;
  return (at) => bytes.toString('utf8', 0, at).length;
}

export function endOf({ at, text }: Token): number {
  return at + Buffer.byteLength(text);
}

export function replacement(token: Token | undefined, by: string): Piece {
  if (token === undefined) throw new Error('an edit behind the end of a text');
  return { from: token.at, to: endOf(token), by };
}

export function insertion(at: number, by: string): Piece {
  return { from: at, to: at, by };
}

export function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'BareWord' && token.text === word;
}

/** The number of brackets around each token. */
export function depthsOf(tokens: readonly Token[]): readonly number[] {
  let depth = 0;
  return tokens.map(({ kind }) => {
    if (kind.startsWith('Closing')) depth -= 1;
    const own = depth;
    if (kind.startsWith('Opening')) depth += 1;
    return own;
  });
}

/** The place of the token that closes the bracket at `at`; the number of tokens where none does. */
export function closingOf(tokens: readonly Token[], at: number): number {
  let depth = 0;
  for (let next = at; next < tokens.length; next += 1) {
    if (tokens[next]?.kind.startsWith('Opening') === true) depth += 1;
    else if (tokens[next]?.kind.startsWith('Closing') === true) depth -= 1;
    if (depth === 0) return next;
  }
  return tokens.length;
}
