import { Type } from '@sinclair/typebox';
import { DAY_SECONDS, type RollupCoverage, type TimeRange } from '../../../clickhouse/tables/coverage.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { WINDOWS, type Window } from '../../../core/domain/window.ts';
import type { OperationDeps } from '../deps.ts';
import { type FinalBlock, finalCoverage } from '../index-state/finality.ts';
import { type Param, readChoice } from '../params.ts';
import { dateText, orNull, TimeShape, timeText } from '../shapes.ts';

/** The span of time that figures of wallets and pairs are about: it ends now, and its length is exact to the second. */

const DAYS: Readonly<Record<Exclude<Window, 'all'>, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 };

export function windowParam(byDefault: Window): Param<Window> {
  return {
    in: 'query',
    component: byDefault === 'all' ? 'WindowOrAll' : 'Window',
    description: `Only settlements of the last 24 hours, or 7, 30 or 90 times as long; \`all\`: since the index begins. Default: \`${byDefault}\`. The answer’s \`window\` says from when to when.`,
    toolText: `Default ${byDefault}.`,
    required: false,
    schema: Type.Union(
      WINDOWS.map((window) => Type.Literal(window)),
      { default: byDefault },
    ),
    read: (raw, name) => (raw === undefined ? byDefault : readChoice(raw, name, WINDOWS)),
  };
}

/** Of profiles, which have figures of a window only where they are asked for. */
export const figuresWindowParam: Param<Window | undefined> = {
  in: 'query',
  component: 'FiguresWindow',
  description:
    'Adds `in_window`: the figures of the last 24 hours, of 7, 30 or 90 times as long, or of `all` time.',
  toolText: 'Adds in_window.',
  required: false,
  schema: Type.Union(WINDOWS.map((window) => Type.Literal(window))),
  read: (raw, name) => (raw === undefined ? undefined : readChoice(raw, name, WINDOWS)),
};

/** The window that ends at `until`, excluded. */
export function spanOf(window: Window, until: number): TimeRange {
  return { from: window === 'all' ? 0 : Math.max(0, until - DAYS[window] * DAY_SECONDS), to: until };
}

/** A settlement within the present second is in the window. */
export function windowEnd(nowMs: number): number {
  return Math.floor(nowMs / 1_000) + 1;
}

export const WindowShape = Type.Object(
  {
    since: orNull(TimeShape, { description: 'Included; null: since the index begins.' }),
    until: { ...TimeShape, description: 'Excluded.' },
  },
  { title: 'Window' },
);

export function windowAnswer(window: Window, until: number) {
  return {
    since: window === 'all' ? null : timeText(spanOf(window, until).from),
    until: timeText(until),
  };
}

/** The UTC days that a span touches, of a long one the last. */
export function lastDays({ from, to }: TimeRange, daysMax: number) {
  const last = (to ?? 0) - 1;
  const floor = (Math.floor(last / DAY_SECONDS) - (daysMax - 1)) * DAY_SECONDS;
  return { since: dateText(Math.max(from, floor)), until: dateText(last) };
}

/** The time that the rollups answer for, where only final rows may count: the rollups of the chains that are asked for. */
export async function coverageFor(
  {
    reader,
    index: { rollups },
  }: { readonly reader: OperationDeps['reader']; readonly index: Pick<OperationDeps['index'], 'rollups'> },
  { chain, final }: { readonly chain: Chain | undefined; readonly final: readonly FinalBlock[] | undefined },
): Promise<RollupCoverage> {
  const coverage = await rollups.coverage();
  if (final === undefined) return coverage;
  const served = final.filter((block) => chain === undefined || block.chain === chain);
  return finalCoverage(reader, coverage, served);
}
