import { type TSchema, Type } from '@sinclair/typebox';
import { addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader, Row, Statement } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import {
  allOf,
  commaList,
  type Sql,
  sql,
  texts,
  trustedText,
  unionAll,
} from '../../../clickhouse/engine/sql.ts';
import {
  EVERYTHING_OPEN,
  isOpen,
  openAround,
  openRows,
  type RollupCoverage,
  rowsDuring,
  type TimeRange,
} from '../../../clickhouse/tables/coverage.ts';
import { microsFromDecimal, usdNumber } from '../../../core/domain/amount.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import { EVIDENCE_TIERS, type EvidenceTier, methodsOfTier } from '../../../core/domain/evidence.ts';
import type { Window } from '../../../core/domain/window.ts';
import { CountShape, DateShape, oneOf, UsdShape } from '../shapes.ts';
import { askWallet, fromClosedRows, fromWalletRows, type WalletScope } from './scope.ts';
import { lastDays, WindowShape, windowAnswer } from './window.ts';

/** What a wallet received and paid in a span of time, by day and by evidence tier: exact at any state of the rollups. */

const MAX_SECONDS = 10;
/** Two directions for longer than any chain has existed. */
const DAYS_MAX = 40_000;
/** The UTC days that a window of 90 days touches. */
const DAILY_SHOWN_MAX = 91;

interface Sum {
  readonly count: number;
  readonly usdMicros: bigint;
}

/** Settlements of one direction on one UTC day, payments to itself included. */
interface WindowDay {
  readonly inbound: boolean;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly tiers: Readonly<Record<EvidenceTier, Sum>>;
  readonly selfUsdMicros: bigint;
}

interface InWindow {
  readonly window: Window;
  readonly span: TimeRange;
  /** Oldest first. */
  readonly days: readonly WindowDay[];
}

interface WindowQuery extends WalletScope {
  readonly window: Window;
  readonly span: TimeRange;
  readonly coverage: RollupCoverage;
}

export async function readInWindow(
  reader: Reader,
  { window, coverage, ...query }: WindowQuery,
): Promise<InWindow> {
  const rows = await askWallet(reader, query, {
    rows: [daysStatement(query, EVERYTHING_OPEN)],
    sums: () => daysStatement(query, coverage),
  });
  return { window, span: query.span, days: rows.map(decodeDay) };
}

type DaysQuery = Omit<WindowQuery, 'window' | 'coverage'>;

function daysStatement(query: DaysQuery, coverage: RollupCoverage): Statement {
  const around = openAround(coverage, query.span);
  const parts = [liveDays(query, around)];
  if (!isOpen(around, query.span)) parts.push(...closedDays(query, around));
  return {
    name: 'profile-window',
    maxSeconds: MAX_SECONDS,
    maxRows: DAYS_MAX,
    sql: sql`SELECT inbound, toString(date), sum(proven_n), toString(sum(proven)), sum(probable_n), toString(sum(probable)),
        sum(unproven_n), toString(sum(unproven)), sum(not_x402_n), toString(sum(not_x402)),
        sum(n) - sum(proven_n) - sum(probable_n) - sum(unproven_n) - sum(not_x402_n),
        toString(sum(usd) - sum(proven) - sum(probable) - sum(unproven) - sum(not_x402)), toString(sum(self))
      FROM (${unionAll(parts)}) GROUP BY inbound, date ORDER BY date, inbound`,
  };
}

type GradedTier = Exclude<EvidenceTier, 'ungraded'>;
/** A settlement in none of these is not graded yet. In the order of the columns of `daysStatement`. */
const GRADED: readonly GradedTier[] = ['proven', 'probable', 'unproven', 'not_x402'];

function liveDays({ span, ...scope }: DaysQuery, coverage: RollupCoverage): Sql {
  const during = allOf([...rowsDuring(span), openRows(coverage)]);
  const tiers = GRADED.map((tier) => {
    const isOfTier = sql`has(${texts(methodsOfTier(tier))}, toString(method))`;
    return sql`countIf(${isOfTier}) AS ${trustedText(`${tier}_n`)}, sumIf(dollars, ${isOfTier}) AS ${trustedText(tier)}`;
  });
  return sql`SELECT role = 'payee' AS inbound, toDate(block_time) AS date, count() AS n, sum(dollars) AS usd, ${commaList(tiers)},
      sumIf(dollars, counterparty = ${addressBytes(scope.wallet)}) AS self
    FROM (SELECT role, block_time, counterparty, method, toDecimal128(amount_usd, 6) AS dollars ${fromWalletRows(scope, during)})
    GROUP BY inbound, date`;
}

function closedDays({ span, ...scope }: DaysQuery, coverage: RollupCoverage): Sql[] {
  const { received, paid } = fromClosedRows(scope, coverage, span);
  const figures = sql`day AS date, settlement_count AS n, settled_usd AS usd, proven_count AS proven_n, proven_usd AS proven,
    probable_count AS probable_n, probable_usd AS probable, unproven_count AS unproven_n, unproven_usd AS unproven,
    not_x402_count AS not_x402_n, not_x402_usd AS not_x402, self_usd AS self`;
  return [sql`SELECT 1 AS inbound, ${figures} ${received}`, sql`SELECT 0 AS inbound, ${figures} ${paid}`];
}

function decodeDay(row: Row): WindowDay {
  const sumAt = (at: number): Sum => ({
    count: integerField(row[at]),
    usdMicros: microsFromDecimal(textField(row[at + 1])),
  });
  return {
    inbound: integerField(row[0]) !== 0,
    date: textField(row[1]),
    tiers: {
      proven: sumAt(2),
      probable: sumAt(4),
      unproven: sumAt(6),
      not_x402: sumAt(8),
      ungraded: sumAt(10),
    },
    selfUsdMicros: microsFromDecimal(textField(row[12])),
  };
}

const TierShape = Type.Object(
  {
    tier: oneOf(EVIDENCE_TIERS, { title: 'EvidenceTier' }),
    settlement_count: CountShape,
    usd: UsdShape,
  },
  { title: 'TierFigures' },
);

/** `daily`: as `DailyFlows` of the whole profile. */
export function inWindowShape<Daily extends TSchema>(daily: Daily) {
  return Type.Object(
    {
      window: WindowShape,
      settlement_count: { ...CountShape, description: 'In the role of this profile.' },
      usd: { ...UsdShape, description: 'Dollars in the role of this profile.' },
      self_payment_usd: UsdShape,
      tiers: Type.Array(TierShape, {
        maxItems: EVIDENCE_TIERS.length,
        description:
          'In the role of this profile, the strongest evidence first; tiers without settlements are left out. They add up to `usd`.',
      }),
      daily: Type.Array(daily, {
        maxItems: DAILY_SHOWN_MAX,
        description: `Days of \`daily_window\` with settlements, oldest first.`,
      }),
      daily_window: Type.Object(
        { since: DateShape, until: DateShape },
        {
          title: 'FiguresDayWindow',
          description: `The UTC days that the window touches, of a long one the last ${DAILY_SHOWN_MAX}.`,
        },
      ),
    },
    {
      title: 'FiguresInWindow',
      description:
        'Only with the parameter `window`: exact figures of that span of time. The first day of it is cut where the window begins.',
    },
  );
}

/** The figures of the window, judged in one role. */
export function inWindowAnswer({ window, span, days }: InWindow, role: JudgedRole) {
  const inRole = days.filter(({ inbound }) => inbound === (role === 'payee'));
  const tiers = EVIDENCE_TIERS.map((tier) => ({ tier, ...sumOf(inRole.map((day) => day.tiers[tier])) }));
  const all = sumOf(tiers);
  const shown = lastDays(span, DAILY_SHOWN_MAX);
  return {
    window: windowAnswer(window, span.to ?? 0),
    settlement_count: all.count,
    usd: usdNumber(all.usdMicros),
    self_payment_usd: usdNumber(inRole.reduce((sum, { selfUsdMicros }) => sum + selfUsdMicros, 0n)),
    tiers: tiers
      .filter(({ count }) => count > 0)
      .map(({ tier, count, usdMicros }) => ({ tier, settlement_count: count, usd: usdNumber(usdMicros) })),
    daily: dailyAnswer(days.filter(({ date }) => date >= shown.since)),
    daily_window: shown,
  };
}

function sumOf(sums: readonly Sum[]): Sum {
  return sums.reduce(
    (sum, { count, usdMicros }) => ({ count: sum.count + count, usdMicros: sum.usdMicros + usdMicros }),
    { count: 0, usdMicros: 0n },
  );
}

function dailyAnswer(days: readonly WindowDay[]) {
  const dates = [...new Set(days.map(({ date }) => date))];
  return dates.map((date) => {
    const directed = (isInbound: boolean): Sum =>
      sumOf(
        days
          .filter((day) => day.date === date && day.inbound === isInbound)
          .flatMap(({ tiers }) => Object.values(tiers)),
      );
    const [received, paid] = [directed(true), directed(false)];
    return {
      date,
      inbound_usd: usdNumber(received.usdMicros),
      inbound_count: received.count,
      outbound_usd: usdNumber(paid.usdMicros),
      outbound_count: paid.count,
    };
  });
}
