/** Query Units: what calls on the credit lane are counted in. Whole numbers only. See docs/design/gate.md. */

/** The largest number of units one grant, hold or balance may name: exact as a JSON number and in Lua (2^53). */
export const UNITS_MAX = 1_000_000_000_000;

/** Where an organization's units are. `granted = balance + held + spent` holds after every change. */
export interface UnitBalance {
  readonly granted: number;
  /** Free to use. */
  readonly balance: number;
  /** Set aside for calls that are running. */
  readonly held: number;
  readonly spent: number;
}

export const NO_UNITS: UnitBalance = { granted: 0, balance: 0, held: 0, spent: 0 };

/** One QU per started five seconds, at least one. */
export const SQL_SECONDS_PER_QU = 5;

/** What a query that took `milliseconds` of engine time costs. */
export function quForMilliseconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / (SQL_SECONDS_PER_QU * 1_000)));
}
