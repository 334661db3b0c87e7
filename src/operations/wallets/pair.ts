import { type Static, Type } from '@sinclair/typebox';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import type { RollupCoverage, TimeRange } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/account.ts';
import { microsFromDecimal, usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import type { Window } from '../../../core/domain/window.ts';
import { finalOf, NO_NAMES, preflightAsOf, stateFor } from '../as-of.ts';
import { asOfParam, chainParam, finalityParam, walletParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { type FinalBlock, finalOnly } from '../index-state/finality.ts';
import { META_FIELDS_EXAMPLE, MetaShape, metaAnswer } from '../meta.ts';
import type { Param } from '../params.ts';
import { PRICES } from '../prices.ts';
import {
  AddressShape,
  CountShape,
  DateShape,
  NameSourceShape,
  orNull,
  TimeShape,
  timeTextOrNull,
  UsdShape,
} from '../shapes.ts';
import { decodeElsewhere, type Elsewhere, ElsewhereShape, elsewhereAnswer } from './elsewhere.ts';
import { askPayments } from './payments.ts';
import {
  coverageFor,
  lastDays,
  spanOf,
  WindowShape,
  windowAnswer,
  windowEnd,
  windowParam,
} from './window.ts';

/** What one wallet paid another: sums, days, first and last settlement, and what came back. */

interface PairQuery {
  readonly payer: Address;
  readonly payee: Address;
  readonly span: TimeRange;
  readonly chain: Chain | undefined;
  readonly final: readonly FinalBlock[] | undefined;
  readonly asOf: Snapshot | undefined;
  readonly coverage: RollupCoverage;
}

/** Payments of one direction on one UTC day. Times are Unix seconds. */
interface PairDay {
  /** From the payee to the payer. */
  readonly isBack: boolean;
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly count: number;
  readonly usdMicros: bigint;
  readonly provenCount: number;
  readonly provenUsdMicros: bigint;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** Two directions for longer than any chain has existed. */
const DAYS_MAX = 20_000;
const DAILY_SHOWN_MAX = 90;
/** More chains than a deployment lists. */
const CHAINS_MAX = 1_000;

/** Either of the two may be the small one. */
function askPair(
  reader: Reader,
  { payer, payee, coverage, ...query }: PairQuery,
  question: Parameters<typeof askPayments>[2],
) {
  const scopes = [
    { ...query, wallet: payer, other: payee },
    { ...query, wallet: payee, other: payer },
  ] as const;
  return askPayments({ reader, coverage }, scopes, question);
}

/** Oldest day first. */
async function readPair(reader: Reader, query: PairQuery): Promise<PairDay[]> {
  const { payer, payee } = query;
  const rows = await askPair(reader, query, (wallet) => ({
    name: 'pair',
    maxRows: DAYS_MAX,
    sql: (payments) => {
      // A payment to oneself is in both directions, and is none that came back.
      const isPaid = wallet === payer ? sql`inbound = 0` : sql`inbound = 1`;
      return sql`SELECT NOT (${isPaid}) AS back, toString(day) AS date, sum(n), toString(sum(usd)), sum(proven_n), toString(sum(proven)),
          toUnixTimestamp(min(first_time)), toUnixTimestamp(max(last_time))
        FROM ${payments} WHERE ${payer === payee ? isPaid : sql`1`} GROUP BY back, day ORDER BY day`;
    },
  }));
  return rows.map((row) => ({
    isBack: integerField(row[0]) !== 0,
    date: textField(row[1]),
    count: integerField(row[2]),
    usdMicros: microsFromDecimal(textField(row[3])),
    provenCount: integerField(row[4]),
    provenUsdMicros: microsFromDecimal(textField(row[5])),
    firstSeen: integerField(row[6]),
    lastSeen: integerField(row[7]),
  }));
}

/** What the payer paid the payee on the chains that were not asked for; null where all were. `coverage` is that of all chains. */
async function readPairElsewhere(
  reader: Reader,
  { chain, ...query }: PairQuery,
): Promise<readonly Elsewhere[] | null> {
  if (chain === undefined) return null;
  const rows = await askPair(reader, { ...query, chain: undefined }, (wallet) => ({
    name: 'pair-elsewhere',
    maxRows: CHAINS_MAX,
    sql: (
      payments,
    ) => sql`SELECT chain, sum(n) AS settlements, toString(sum(usd)), toUnixTimestamp(max(last_time))
      FROM ${payments} WHERE inbound = ${wallet === query.payer ? sql`0` : sql`1`} AND chain != ${text(chain)}
      GROUP BY chain ORDER BY settlements DESC, chain`,
  }));
  return rows.map(decodeElsewhere);
}

const FIGURES = {
  settlement_count: CountShape,
  settled_usd: UsdShape,
  proven_count: { ...CountShape, description: 'Settlements with evidence tier proven.' },
  proven_usd: UsdShape,
};

const PairFlowsShape = Type.Object(
  {
    ...FIGURES,
    days_active: { ...CountShape, description: 'UTC days with settlements.' },
    first_seen: orNull(TimeShape),
    last_seen: orNull(TimeShape),
  },
  { title: 'PairFlows' },
);

const PairDayShape = Type.Object({ date: DateShape, ...FIGURES }, { title: 'PairDay' });

/** Of days in one direction. */
function flowsAnswer(days: readonly PairDay[]): Static<typeof PairFlowsShape> {
  const times = days.map(({ firstSeen }) => firstSeen);
  return {
    ...figuresAnswer(
      days.reduce(
        (sum, day) => ({
          count: sum.count + day.count,
          usdMicros: sum.usdMicros + day.usdMicros,
          provenCount: sum.provenCount + day.provenCount,
          provenUsdMicros: sum.provenUsdMicros + day.provenUsdMicros,
        }),
        NOTHING,
      ),
    ),
    days_active: days.length,
    first_seen: timeTextOrNull(times.length === 0 ? null : Math.min(...times)),
    last_seen: timeTextOrNull(times.length === 0 ? null : Math.max(...days.map(({ lastSeen }) => lastSeen))),
  };
}

type Figures = Pick<PairDay, 'count' | 'usdMicros' | 'provenCount' | 'provenUsdMicros'>;
const NOTHING: Figures = { count: 0, usdMicros: 0n, provenCount: 0, provenUsdMicros: 0n };

function figuresAnswer({ count, usdMicros, provenCount, provenUsdMicros }: Figures) {
  return {
    settlement_count: count,
    settled_usd: usdNumber(usdMicros),
    proven_count: provenCount,
    proven_usd: usdNumber(provenUsdMicros),
  };
}

const payerParam: Param<Address> = {
  ...walletParam,
  description: 'Address of the wallet that pays, in any case; mixed case must match EIP-55.',
  toolText: 'Wallet that pays.',
  otherNames: { from: {}, from_wallet: {}, buyer: {} },
  example: '0xa2b5bdcce2494c139e0b8f5b60b44f3c651985e0',
};
const payeeParam: Param<Address> = {
  ...walletParam,
  description: 'Address of the wallet that is paid, likewise.',
  toolText: 'Wallet that is paid.',
  otherNames: { to: {}, to_wallet: {}, pay_to: {}, seller: {}, merchant: {} },
  example: '0x4b690d38773522a360b59c42cfd2128d0049b675',
};

const LEFT_OUT = ['payer_name', 'payer_name_source', 'payee_name', 'payee_name_source'];
const WINDOW_DEFAULT: Window = 'all';
const EXAMPLE_FIGURES = { settlement_count: 120, settled_usd: 1.2, proven_count: 120, proven_usd: 1.2 };

export const getPair = defineOperation({
  id: 'getPair',
  wire: {
    path: '/pairs/{payer}/{payee}',
    params: {
      payer: payerParam,
      payee: payeeParam,
      window: windowParam(WINDOW_DEFAULT),
      chain: chainParam,
      finality: finalityParam,
      as_of: asOfParam,
    },
    output: Type.Object({
      payer: AddressShape,
      payer_name: orNull(Type.String()),
      payer_name_source: NameSourceShape,
      payee: AddressShape,
      payee_name: orNull(Type.String()),
      payee_name_source: NameSourceShape,
      is_self_payment: Type.Boolean({ description: 'Payer equals payee; nothing counts as paid back then.' }),
      window: WindowShape,
      paid: PairFlowsShape,
      paid_back: PairFlowsShape,
      elsewhere: Type.Optional({
        ...ElsewhereShape,
        description:
          'Only with `chain`: what `paid` would have on the indexed chains that it left out, the most settlements first.',
      }),
      daily: Type.Array(PairDayShape, {
        maxItems: DAILY_SHOWN_MAX,
        description: 'Of `paid`: days of `daily_window` with settlements, oldest first.',
      }),
      daily_window: Type.Object({ since: DateShape, until: DateShape }, { title: 'PairDayWindow' }),
      meta: MetaShape,
    }),
    fails: ['invalid_parameter', 'snapshot_gone', 'upstream_unavailable'],
  },
  words: {
    summary: 'What one wallet paid another',
    description: `Exact count and sums of the payments from one wallet to the other, the number of days with settlements, the first and the last settlement, figures by day (only days with settlements, at most the last ${DAILY_SHOWN_MAX} days of the window), and the same for what the payee paid back. A pair without settlements gets an answer with zeros. Channel deposits do not count. Over every indexed chain; with \`chain\` of that one alone, and \`elsewhere\` says what it paid on the others.`,
    tool: 'What one wallet paid another: count, sums, proven part, days, what came back.',
    example: {
      payer: '0x4020615294c913f045dc10f0a5cdebd86c280001',
      payer_name: null,
      payer_name_source: null,
      payee: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
      payee_name: 'Weather by the call',
      payee_name_source: 'agent_card',
      is_self_payment: false,
      window: { since: null, until: '2026-11-20T09:15:05Z' },
      paid: {
        ...EXAMPLE_FIGURES,
        days_active: 1,
        first_seen: '2026-11-20T00:02:11Z',
        last_seen: '2026-11-20T09:15:01Z',
      },
      paid_back: {
        settlement_count: 0,
        settled_usd: 0,
        proven_count: 0,
        proven_usd: 0,
        days_active: 0,
        first_seen: null,
        last_seen: null,
      },
      daily: [{ date: '2026-11-20', ...EXAMPLE_FIGURES }],
      daily_window: { since: '2026-08-23', until: '2026-11-20' },
      meta: META_FIELDS_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed },
  preflight: (input, deps) => preflightAsOf(input, deps),
  read: async ({ payer, payee, window, chain, finality, as_of: asked }, deps) => {
    const {
      reader,
      clock,
      deployment: { chains },
      index: { names, freshness },
    } = deps;
    const nowMs = clock.nowMs();
    const statuses = await freshness.statuses();
    const { asOf, meta, nowMs: endMs } = await stateFor(deps, asked, { chain, leftOut: LEFT_OUT });
    const final = asOf === undefined ? finalOnly(finality, statuses) : finalOf(asOf);
    const coverage = await coverageFor(deps, { chain, final });
    const until = windowEnd(endMs);
    const span = spanOf(window, until);
    const query = { payer, payee, span, chain, final, asOf };
    const [days, elsewhere, directory] = await Promise.all([
      readPair(reader, { ...query, coverage }),
      coverageFor(deps, { chain: undefined, final }).then((ofAll) =>
        readPairElsewhere(reader, { ...query, coverage: ofAll }),
      ),
      asOf === undefined ? names.of([payer, payee]) : NO_NAMES,
    ]);
    const served = chain === undefined ? chains : [chain];
    const [payerName, payeeName] = [directory.walletName(payer, served), directory.walletName(payee, served)];
    const paid = days.filter(({ isBack }) => !isBack);
    const daily = lastDays(span, DAILY_SHOWN_MAX);
    return {
      payer,
      payer_name: payerName?.name ?? null,
      payer_name_source: payerName?.source ?? null,
      payee,
      payee_name: payeeName?.name ?? null,
      payee_name_source: payeeName?.source ?? null,
      is_self_payment: payer === payee,
      window: windowAnswer(window, until),
      paid: flowsAnswer(paid),
      paid_back: flowsAnswer(days.filter(({ isBack }) => isBack)),
      ...elsewhereAnswer(elsewhere),
      daily: paid
        .filter(({ date }) => date >= daily.since)
        .map(({ date, ...figures }) => ({ date, ...figuresAnswer(figures) })),
      daily_window: daily,
      meta: metaAnswer({ chain, chains, statuses, nowMs, finality, ...meta }),
    };
  },
});
