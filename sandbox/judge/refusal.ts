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
