import type { Token } from './parser.ts';

/**
 * Why a text is not run. `code` names the rule for tests and logs, `detail` describes what is wrong and where, `hint` says what to
 * write instead. A refusal never names anything that the caller did not write (docs/design/sandbox.md).
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

/** A position in the caller's text. Both count from 1; columns count characters. */
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
  /** The replacement for `near` that `hint` proposes, if it is a single word. */
  readonly meant?: string;
}

/** Thrown by the checks and caught by `inspect`, which returns the refusal as a verdict. */
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

/** Adds the refusal's position in the caller's text, if it can be found. */
export function placed(refusal: Refusal, text: string, written: readonly Token[]): Refusal {
  if (refusal.position !== undefined) return refusal;
  const at = refusal.near === undefined ? undefined : offsetOf(refusal.near, written);
  return at === undefined ? refusal : { ...refusal, position: positionOf(text, at) };
}

/** Operators that the engine's tree shows under a function's name. */
const SPELLED: ReadonlyMap<string, string> = new Map([
  ['globalVariable', '@@'],
  ['_CAST', '::'],
]);

function offsetOf(near: string, written: readonly Token[]): number | undefined {
  const parts = /^["`]/.test(near) ? [near] : (SPELLED.get(near) ?? near).split(/[\s.]/);
  const [wanted = '', next] = parts.map(bare);
  // Matches both words of a dotted name; otherwise the first mention of its table would match.
  const whole = written.find(
    (token, at) =>
      bare(token.text) === wanted &&
      written[at + 1]?.kind === 'Dot' &&
      bare(written[at + 2]?.text ?? '') === next,
  );
  if (whole !== undefined) return whole.at;
  const isNear = (token: Token): boolean => bare(token.text) === wanted;
  // Inside a string, such as the type in CAST(x, 'Type').
  const holds = (token: Token): boolean =>
    token.kind === 'StringLiteral' && bare(token.text).includes(wanted);
  return (written.find(isNear) ?? written.find(holds))?.at;
}

/** Offset of the first literal with this text; escapes are not decoded. */
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

/** Whole strings, comments and quoted names; words with their dots. Approximates the engine's lexer, which is enough to find a position. */
const PARTS =
  /'(?:[^'\\]|\\.|'')*'|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g;

/** The first position of a word outside of strings and comments. */
export function wordPosition(text: string, word: string): Position | undefined {
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    if (part !== word && part !== `"${word}"` && part !== `\`${word}\``) continue;
    const lines = text.slice(0, index).split('\n');
    return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
  }
  return undefined;
}
