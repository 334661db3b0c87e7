import type { Token } from './parser.ts';

/**
 * Why a text is not run. `code` names the rule for tests and logs, `detail` says in words what and where, `hint` what to write
 * instead. A refusal never names anything that the caller did not write. (docs/design/sandbox.md)
 */
export const REFUSALS = {
  empty: 'The query is empty.',
  too_long: 'The query is longer than 64 KiB.',
  nul_byte: 'The query holds a NUL byte.',
  syntax: 'The query is not valid ClickHouse SQL.',
  not_select: 'Only SELECT and WITH … SELECT are run.',
  forbidden_clause: 'The clause is not available here.',
  settings: 'SETTINGS are not available here.',
  identifier: 'The quoted name holds characters that no public name has.',
  parameter: 'A query parameter is missing, unused or of a type that is not available.',
  unknown_table: 'There is no such public table.',
  unknown_column: 'There is no such column.',
  table_function: 'The table function is not available here.',
  function: 'The function is not available here.',
  virtual_column: 'The column is internal to the engine.',
  type: 'The type is not available here.',
  too_complex: 'The query is too large or too deeply nested.',
  unexplained: 'The query uses a construct that is not reviewed yet.',
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** Where in the caller's own text, both from 1; columns count characters. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Refusal {
  readonly code: RefusalCode;
  readonly detail: string;
  /** The word of the caller's text that the refusal is about. */
  readonly near?: string;
  readonly position?: Position;
  readonly hint?: string;
  /** What `hint` says to write instead of `near`, where that is one word. */
  readonly meant?: string;
}

/** Thrown by the checks, caught by `inspect`: a refusal is an answer, not an accident. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.detail);
    this.name = 'Refused';
    this.refusal = refusal;
  }
}

export function refuse(
  code: RefusalCode,
  facts: Omit<Refusal, 'code' | 'detail'> & { detail?: string } = {},
): never {
  const { detail, ...rest } = facts;
  throw new Refused({ code, detail: detail ?? REFUSALS[code], ...rest });
}

/** Adds where in the caller's own text the refusal points to, when that can be told. */
export function placed(refusal: Refusal, text: string, written: readonly Token[]): Refusal {
  if (refusal.position !== undefined) return refusal;
  const at = refusal.near === undefined ? undefined : offsetOf(refusal.near, written);
  return at === undefined ? refusal : { ...refusal, position: positionOf(text, at) };
}

/** Signs that the engine's tree calls by the name of a function. */
const SPELLED: ReadonlyMap<string, string> = new Map([
  ['globalVariable', '@@'],
  ['_CAST', '::'],
]);

function offsetOf(near: string, written: readonly Token[]): number | undefined {
  const parts = /^["`]/.test(near) ? [near] : (SPELLED.get(near) ?? near).split(/[\s.]/);
  const [wanted = '', next] = parts.map(bare);
  // Of a name with a dot both words, or the first that is like its table would be taken for it.
  const whole = written.find(
    (token, at) =>
      bare(token.text) === wanted &&
      written[at + 1]?.kind === 'Dot' &&
      bare(written[at + 2]?.text ?? '') === next,
  );
  if (whole !== undefined) return whole.at;
  const isNear = (token: Token): boolean => bare(token.text) === wanted;
  // Inside a text, such as the type in CAST(x, 'Type').
  const holds = (token: Token): boolean =>
    token.kind === 'StringLiteral' && bare(token.text).includes(wanted);
  return (written.find(isNear) ?? written.find(holds))?.at;
}

/** Where a literal of this text stands first; an escape in it is not looked into. */
export function literalOffset(literal: string, written: readonly Token[]): number | undefined {
  return written.find(({ kind, text }) => kind === 'StringLiteral' && text.slice(1, -1) === literal)?.at;
}

function bare(word: string): string {
  return word.replace(/[`"']/g, '').toLowerCase();
}

/** Line and column of a byte offset, both from 1; columns count characters. */
export function positionOf(text: string, at: number): Position {
  const before = Buffer.from(text).subarray(0, at).toString('utf8');
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

/** Texts, comments and quoted names whole; words with their dots. Cut roughly as the engine's lexer does, which is enough to show a place. */
const PARTS =
  /'(?:[^'\\]|\\.|'')*'|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g;

/** Where a word stands first in a text, outside of texts and comments. */
export function wordPosition(text: string, word: string): Position | undefined {
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    if (part !== word && part !== `"${word}"` && part !== `\`${word}\``) continue;
    const lines = text.slice(0, index).split('\n');
    return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
  }
  return undefined;
}
