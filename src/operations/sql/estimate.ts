import type { Static } from '@sinclair/typebox';
import { MEMORY_SHARES } from '../../../clickhouse/guest/memory.ts';
import { OWN_DATABASE, withOwnNames } from '../../../core/domain/own-table.ts';
import { quForMilliseconds } from '../../../core/domain/plan.ts';
import type { TextEdit } from '../../../core/text-edits.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import type { Estimate } from '../../../sandbox/sandbox.ts';
import type { Meta } from '../meta.ts';
import { SQL_TIERS, type SqlBudget, type SqlTier } from '../prices.ts';
import {
  type SqlEstimateShape,
  type SqlWarning,
  type SqlWarningCode,
  shownWarnings,
  sqlWarning,
} from './shapes.ts';

/** What `explain_only` answers: what a query would read, and so what it may cost. */

/**
 * Rows that one query reads in a second on the smallest machine this runs on, measured over the public views at 10 M rows:
 * a plain count of a column at best, an aggregate over long keys at worst.
 */
const ROWS_PER_SECOND = { best: 20_000_000, worst: 700_000 } as const;

/** Below it a query takes tens of milliseconds by address, too. */
const IDS_FROM_ROWS = 1_000_000;

const NOT_ASKED: Estimate = {
  rows: null,
  bytes: null,
  rowsJoined: 0,
  rowsJoinedMax: 0,
  rowsCrossed: 0,
  heldShares: 0,
  withoutKey: [],
  withoutTime: [],
};

export function explainAnswer(facts: {
  readonly accepted: Accepted;
  /** Null where the caller needs a key for it. */
  readonly estimate: Estimate | null;
  readonly tier: SqlTier;
  readonly budget: SqlBudget;
  /** Rows that the answer may have. */
  readonly rowsMax: number;
  readonly meta: Meta;
  /** Of the text. */
  readonly warnings: readonly SqlWarning[];
}): Static<typeof SqlEstimateShape> {
  const { accepted, tier, budget, meta } = facts;
  const estimate = facts.estimate ?? NOT_ASKED;
  const { rows, rowsJoined, rowsJoinedMax } = estimate;
  const worstMs = rows === null ? null : ((rows + rowsJoined) / ROWS_PER_SECOND.worst) * 1_000;
  const advised = advisedTier(worstMs, tier);
  return {
    sql: withOwnNames(accepted.text),
    tables: [...accepted.tables, ...(accepted.own ?? []).map(({ name }) => `${OWN_DATABASE}.${name}`)],
    estimate: {
      rows_to_read: rows,
      bytes_to_read: estimate.bytes,
      rows_joined_max: rows === null ? null : Math.ceil(Math.min(rowsJoinedMax, Number.MAX_SAFE_INTEGER)),
      qu_min: unitsOf(leastRows(accepted, estimate), ROWS_PER_SECOND.best, budget),
      qu_max: rows === null ? budget.maxQu : unitsOf(rows + rowsJoinedMax, ROWS_PER_SECOND.worst, budget),
    },
    tier: tier.tier,
    advised_tier: advised.tier,
    meta,
    warnings: warningsOf(facts, advised, worstMs),
  };
}

/** Rows that a join without a condition makes take less time than rows that are read. */
const ROWS_CROSSED_PER_READ = 10;

/** A condition or a limit may leave none of the rows that a product has. */
function leastRows({ text }: Accepted, { rows, rowsCrossed }: Estimate): number | null {
  if (rows === null || /\b(WHERE|ON|LIMIT)\b/.test(text)) return rows;
  return rows + rowsCrossed / ROWS_CROSSED_PER_READ;
}

function unitsOf(rows: number | null, rowsPerSecond: number, { maxQu }: SqlBudget): number {
  return Math.min(maxQu, quForMilliseconds(((rows ?? 0) / rowsPerSecond) * 1_000));
}

/** The smallest tier that even a slow query finishes in; without an estimate, the one that was asked for. */
function advisedTier(worstMs: number | null, asked: SqlTier): SqlTier {
  if (worstMs === null) return asked;
  return SQL_TIERS.find(({ timeoutSeconds }) => worstMs <= timeoutSeconds * 1_000) ?? SQL_TIERS[2];
}

function warningsOf(
  { accepted, warnings, estimate: asked, tier, budget, rowsMax, meta }: Parameters<typeof explainAnswer>[0],
  advised: SqlTier,
  worstMs: number | null,
): SqlWarning[] {
  const estimate = asked ?? NOT_ASKED;
  const { rewrites } = accepted;
  const unknown = asked === null ? ('estimate_needs_key' as const) : ('estimate_unavailable' as const);
  const isTierTooSmall = advised.timeoutSeconds > tier.timeoutSeconds;
  const isBudgetTooSmall = worstMs !== null && worstMs > budget.seconds * 1_000;
  const found: (SqlWarning | false)[] = [
    estimate.rows === null && sqlWarning({ code: unknown }),
    estimate.withoutTime.length > 0 && corrected('no_time_filter', rewrites.lastDays),
    estimate.withoutKey.length > 0 && corrected('no_key_filter', null),
    accepted.walletKeys.length > 0 &&
      (estimate.rows ?? 0) >= IDS_FROM_ROWS &&
      corrected('ids_are_faster', rewrites.ids),
    rewrites.limit !== null && (estimate.rows ?? 0) > rowsMax && corrected('no_limit', rewrites.limit),
    estimate.heldShares > MEMORY_SHARES[tier.tier] && sqlWarning({ code: 'may_exceed_memory' }),
    isTierTooSmall && sqlWarning({ code: 'tier_too_small' }),
    isBudgetTooSmall && !isTierTooSmall && sqlWarning({ code: 'budget_too_small' }),
  ];
  return [
    ...shownWarnings(warnings),
    ...found.filter((warning) => warning !== false),
    ...(meta.warnings ?? []).map((code) => sqlWarning({ code })),
  ];
}

function corrected(code: SqlWarningCode, edits: TextEdit[] | null): SqlWarning {
  return sqlWarning({ code, ...(edits === null ? {} : { edits }) });
}
