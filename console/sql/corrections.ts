import type { SqlEstimate, SqlWarning } from '../wire.ts';
import type { SqlQuestion } from './query-text.ts';

/** Changes of a query that do what a warning asks for. The service makes them; here they get a name and are applied. */

export interface Correction {
  /** What the button says. */
  readonly label: string;
  /** The part of the question that changes. */
  readonly change: Partial<Pick<SqlQuestion, 'sql' | 'tier'>>;
}

/** What the button of a warning says that is no literal to write. */
const LABELS: Readonly<Partial<Record<SqlWarning['code'], string>>> = {
  alias_hides_column: 'Read the column',
  format_ignored: 'Remove FORMAT',
  settings_left_out: 'Remove SETTINGS',
  prewhere_as_where: 'Write WHERE',
  totals_left_out: 'Use WITH ROLLUP',
  no_time_filter: 'Only the last 30 days',
  ids_are_faster: 'Use the ids',
  no_limit: 'Add a LIMIT',
};

/** Null where the visitor has to decide. */
export function correctionOf(
  { code, edits, replacement }: SqlWarning,
  { sql }: Pick<SqlQuestion, 'sql'>,
  { advised_tier: advised }: Pick<SqlEstimate, 'advised_tier'>,
): Correction | null {
  if (code === 'tier_too_small') return { label: `Use the tier ${advised}`, change: { tier: advised } };
  if (edits === undefined) return null;
  const written = replacement === undefined ? 'Correct it' : `Write ${replacement}`;
  return { label: LABELS[code] ?? written, change: { sql: withEdits(sql, edits) } };
}

/** The text with edits, whose offsets count as those of its own. Of two at one place an insertion comes before a replacement. */
export function withEdits(sql: string, edits: NonNullable<SqlWarning['edits']>): string {
  return edits
    .toSorted((one, other) => other.from - one.from || other.to - one.to)
    .reduce((text, { from, to, text: by }) => `${text.slice(0, from)}${by}${text.slice(to)}`, sql);
}
