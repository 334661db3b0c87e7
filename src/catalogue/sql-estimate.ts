import type { Static } from '@sinclair/typebox';
import type { Accepted } from '../../sandbox/inspect.ts';
import type { Estimate } from '../../sandbox/sql-sandbox.ts';
import { quForMilliseconds } from '../domain/query-unit.ts';
import type { Meta } from './list-meta.ts';
import { SQL_TIERS, type SqlTier } from './prices.ts';
import type { SqlEstimateShape } from './sql-shapes.ts';
import { type SqlWarning, type SqlWarningCode, sqlWarning } from './sql-warnings.ts';

/** What `explain_only` answers: what a query would read, and so what it may cost. Source: api.md 5. */

/**
 * Rows that one query reads in a second on the smallest machine this runs on, measured over the public views at 10 M rows:
 * a plain count of a column at best, an aggregate over long keys at worst.
 */
const ROWS_PER_SECOND = { best: 20_000_000, worst: 700_000 } as const;

export function explainAnswer(facts: {
  readonly accepted: Accepted;
  readonly estimate: Estimate;
  readonly tier: SqlTier;
  readonly meta: Meta;
  /** Of the text. */
  readonly warnings: readonly SqlWarning[];
}): Static<typeof SqlEstimateShape> {
  const { accepted, estimate, tier, meta } = facts;
  const worstMs = estimate.rows === null ? null : (estimate.rows / ROWS_PER_SECOND.worst) * 1_000;
  const advised = advisedTier(worstMs, tier);
  return {
    sql: accepted.text,
    tables: [...accepted.tables],
    estimate: {
      rows_to_read: estimate.rows,
      bytes_to_read: estimate.bytes,
      qu_min: unitsOf(estimate.rows, ROWS_PER_SECOND.best, tier),
      qu_max: estimate.rows === null ? tier.maxQu : unitsOf(estimate.rows, ROWS_PER_SECOND.worst, tier),
    },
    tier: tier.tier,
    advised_tier: advised.tier,
    meta,
    warnings: warningsOf(facts, advised),
  };
}

function unitsOf(rows: number | null, rowsPerSecond: number, { maxQu }: SqlTier): number {
  return Math.min(maxQu, quForMilliseconds(((rows ?? 0) / rowsPerSecond) * 1_000));
}

/** The smallest tier that even a slow query finishes in; without an estimate, the one that was asked for. */
function advisedTier(worstMs: number | null, asked: SqlTier): SqlTier {
  if (worstMs === null) return asked;
  return SQL_TIERS.find(({ timeoutSeconds }) => worstMs <= timeoutSeconds * 1_000) ?? SQL_TIERS[2];
}

function warningsOf(
  { warnings, estimate, tier, meta }: Parameters<typeof explainAnswer>[0],
  advised: SqlTier,
): SqlWarning[] {
  const codes: SqlWarningCode[] = [
    ...(estimate.rows === null ? (['estimate_unavailable'] as const) : []),
    ...(estimate.withoutTime.length > 0 ? (['no_time_filter'] as const) : []),
    ...(estimate.withoutKey.length > 0 ? (['no_key_filter'] as const) : []),
    ...(advised.timeoutSeconds > tier.timeoutSeconds ? (['tier_too_small'] as const) : []),
    ...(meta.warnings ?? []),
  ];
  return [...warnings, ...codes.map((code) => sqlWarning({ code }))];
}
