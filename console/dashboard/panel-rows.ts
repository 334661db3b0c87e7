import type { SqlColumn } from '../wire.ts';

/** The answer of a panel: rows are arrays of values. */
export interface PanelRows {
  readonly columns: readonly SqlColumn[];
  readonly rows: readonly (readonly unknown[])[];
  readonly computed_at: string;
  readonly truncated: boolean;
}
