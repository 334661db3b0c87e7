import type { Position } from './refusal.ts';

/** What of an accepted text is not what its writer thinks. */
export interface QueryWarning {
  readonly code: 'format_ignored' | 'totals_left_out' | 'constant_matches_nothing';
  /** What holds for this query; absent where the code says it all. */
  readonly message?: string;
  /** The constant. */
  readonly near?: string;
  /** Where it stands in the caller's own text; absent for the value of a parameter. */
  readonly position?: Position;
  /** The literal to write instead, with its quotes. */
  readonly replacement?: string;
}

/** A constant that is well formed, and of which only what is indexed tells whether it occurs. */
export interface NamedConstant {
  readonly of: 'chain' | 'facilitator';
  readonly text: string;
  readonly position?: Position;
}
