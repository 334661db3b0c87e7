import type { TextEdit } from '../../core/text-edits.ts';
import { type Name, namesIn } from './lexer.ts';
import type { Token } from './parser.ts';

/**
 * Why a text is not run. `code` names the rule for tests and logs, `detail` describes the fault and its place, `hint` says what to
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
  /** `meant` in each place of `near`. */
  readonly edits?: TextEdit[];
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
  return at === undefined ? refusal : { ...refusal, position: positionsIn(text)(at) };
}

/** Operators that the engine's tree shows under a function's name. */
const SPELLED: ReadonlyMap<string, string> = new Map([
  ['globalVariable', '@@'],
  ['_CAST', '::'],
]);

/** No type or table has a longer name. Searching texts for long words is slow. */
const SEARCHED_MAX_CHARS = 200;

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
    wanted.length <= SEARCHED_MAX_CHARS &&
    token.kind === 'StringLiteral' &&
    bare(token.text).includes(wanted);
  return (written.find(isNear) ?? written.find(holds))?.at;
}

function bare(word: string): string {
  return word.replace(/[`"']/g, '').toLowerCase();
}

/**
 * The positions of byte offsets in a text, from one table of where its lines begin. Lines and columns count from 1; columns count
 * characters.
 */
export function positionsIn(text: string): (at: number) => Position {
  const bytes = Buffer.from(text);
  const beginnings = [0];
  for (let end = bytes.indexOf(LINE_BREAK); end !== -1; end = bytes.indexOf(LINE_BREAK, end + 1))
    beginnings.push(end + 1);
  return (at) => {
    let [line, behind] = [0, beginnings.length];
    while (behind - line > 1) {
      const middle = (line + behind) >> 1;
      if ((beginnings[middle] ?? 0) <= at) line = middle;
      else behind = middle;
    }
    const before = bytes.subarray(beginnings[line], at).toString('utf8');
    return { line: line + 1, column: [...before].length + 1 };
  };
}

const LINE_BREAK = 0x0a;

/** The literals of a text by what they say; escapes are not decoded. */
export function literalsIn(written: readonly Token[]): (literal: string) => readonly Token[] {
  const found = new Map<string, Token[]>();
  for (const token of written) {
    if (token.kind !== 'StringLiteral') continue;
    const literal = token.text.slice(1, -1);
    const same = found.get(literal);
    if (same === undefined) found.set(literal, [token]);
    else same.push(token);
  }
  return (literal) => found.get(literal) ?? [];
}

/** The first position of a word outside of strings and comments. */
export function wordPosition(text: string, word: string): Position | undefined {
  for (const { from } of mentionsOf(text, word))
    return positionsIn(text)(Buffer.byteLength(text.slice(0, from)));
  return undefined;
}

/** The word that was meant in each place of the wrong one, outside of strings and comments. */
export function editsOfWord(
  text: string,
  word: string | undefined,
  meant: string | undefined,
): { readonly edits?: TextEdit[] } {
  if (word === undefined || meant === undefined) return {};
  const edits = [...mentionsOf(text, word)].map(({ text: name, from }) => ({
    from,
    to: from + name.length,
    text: meant,
  }));
  return edits.length === 0 || edits.length > MENTIONS_MAX ? {} : { edits };
}

/** Places of a wrong word that are listed. */
const MENTIONS_MAX = 100;

function* mentionsOf(text: string, word: string): Generator<Name> {
  for (const name of namesIn(text))
    if (name.text === word || name.text === `"${word}"` || name.text === `\`${word}\``) yield name;
}
