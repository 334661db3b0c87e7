import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../core/domain/account.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { DUST_BELOW_USD_MICROS, judge, type Verdict } from '../../../core/domain/data-quality.ts';

/** Rankings of wallets recounted the slow way: every live settlement, loops and bigints, no SQL. */

export interface NaiveQuery {
  readonly side: 'payer' | 'payee';
  readonly by: 'organic_usd' | 'proven_usd' | 'settlements' | 'counterparties' | 'growth';
  /** Null: all of time. */
  readonly windowSeconds: number | null;
  readonly nowSeconds: number;
  readonly chains: readonly Chain[];
  readonly minCounterparties: number;
  readonly includeFlagged: boolean;
}

export interface NaiveRow {
  readonly rank: number;
  readonly previous_rank: number | null;
  readonly wallet: Address;
  readonly value: number;
  readonly previous_value: number | null;
  readonly figures: Readonly<Record<string, number>>;
  readonly data_quality: Verdict;
}

interface Counted {
  readonly wallet: Address;
  readonly values: readonly bigint[];
  readonly parties: readonly number[];
  readonly figures: Readonly<Record<string, number>>;
  readonly verdict: Verdict;
}

const sumOf = (rows: readonly Settlement[]): bigint =>
  rows.reduce((sum, row) => sum + row.amountUsdMicros, 0n);

const isJudged = ({ amountUsdMicros }: Settlement): boolean => amountUsdMicros >= DUST_BELOW_USD_MICROS;

type Windows = Pick<NaiveQuery, 'windowSeconds' | 'nowSeconds' | 'chains'>;

/** What counts in a window and the two before it, and which of it is organic. */
function countedIn(
  all: readonly Settlement[],
  rings: readonly (readonly Address[])[],
  { windowSeconds, nowSeconds, chains }: Windows,
) {
  const windows = windowSeconds === null ? 1 : 3;
  const ageOf = ({ blockTime }: Settlement): number => {
    if (windowSeconds === null) return 0;
    for (let back = 0; ; back++) if (blockTime >= nowSeconds - (back + 1) * windowSeconds) return back;
  };
  const rows = all.filter(
    (row) => chains.includes(row.chain) && row.kind === 'payment' && ageOf(row) < windows,
  );
  const paid = new Set(rows.map(({ payer, payee }) => `${payer} ${payee}`));
  const isOrganic = ({ payer, payee }: Settlement): boolean =>
    payer !== payee &&
    !paid.has(`${payee} ${payer}`) &&
    !rings.some((members) => members.includes(payer) && members.includes(payee));
  return { windows, rows, ageOf, isOrganic };
}

/** Facilitators by what they relayed; the same without wallets and verdicts. */
export function naiveFacilitators(
  all: readonly Settlement[],
  rings: readonly (readonly Address[])[],
  query: Windows & Pick<NaiveQuery, 'by' | 'minCounterparties'>,
) {
  const { by, minCounterparties } = query;
  const { windows, rows, ageOf, isOrganic } = countedIn(all, rings, query);
  const relayed = rows.filter(({ facilitator }) => facilitator !== '');
  const counted = [...new Set(relayed.map(({ facilitator }) => facilitator))].map((facilitator) => {
    const mine = relayed.filter((row) => row.facilitator === facilitator);
    const organicOf = (back: number) => mine.filter((row) => ageOf(row) === back && isOrganic(row));
    const provenOf = (back: number) =>
      sumOf(organicOf(back).filter(({ method }) => method === 'facilitator_relay'));
    const servedIn = (back: number): number =>
      new Set(organicOf(back).flatMap(({ payer, payee }) => [payer, payee])).size;
    const rankedBy = (back: number): bigint => {
      if (by === 'organic_usd') return sumOf(organicOf(back));
      if (by === 'proven_usd') return provenOf(back);
      if (by === 'settlements') return BigInt(organicOf(back).length) * 1_000_000n;
      if (by === 'counterparties') return BigInt(servedIn(back)) * 1_000_000n;
      return sumOf(organicOf(back)) - sumOf(organicOf(back + 1));
    };
    const now = mine.filter((row) => ageOf(row) === 0);
    return {
      facilitator,
      values: [rankedBy(0), windows === 1 ? 0n : rankedBy(1)] as const,
      served: [servedIn(0), servedIn(1)] as const,
      figures: {
        organic_usd: usdNumber(sumOf(organicOf(0))),
        proven_usd: usdNumber(provenOf(0)),
        organic_settlement_count: organicOf(0).length,
        distinct_counterparties: servedIn(0),
        settled_usd: usdNumber(sumOf(now)),
        settlement_count: now.length,
      },
    };
  });
  const placed = (back: 0 | 1) =>
    counted
      .filter(({ values, served }) => values[back] > 0n && served[back] >= minCounterparties)
      .toSorted((a, b) => {
        if (a.values[back] !== b.values[back]) return a.values[back] > b.values[back] ? -1 : 1;
        return a.facilitator < b.facilitator ? -1 : 1;
      });
  const before = windows === 1 ? [] : placed(1).map(({ facilitator }) => facilitator);
  return placed(0).map(({ facilitator, values, figures }, index) => ({
    rank: index + 1,
    previous_rank: before.includes(facilitator) ? before.indexOf(facilitator) + 1 : null,
    facilitator,
    value: usdNumber(values[0]),
    previous_value: windows === 1 ? null : usdNumber(values[1]),
    figures,
  }));
}

/** `rings`: members of each ring of the newest pass. */
export function naiveRanking(
  all: readonly Settlement[],
  rings: readonly (readonly Address[])[],
  query: NaiveQuery,
): NaiveRow[] {
  const { side, by, minCounterparties, includeFlagged } = query;
  const { windows, rows, ageOf, isOrganic } = countedIn(all, rings, query);
  const judgedPaid = new Set(rows.filter(isJudged).map(({ payer, payee }) => `${payer} ${payee}`));

  const counted = [...new Set(rows.map((row) => row[side]))]
    .map((wallet) => countWallet(wallet))
    .filter(({ verdict }) => includeFlagged || verdict !== 'suspect');

  function countWallet(wallet: Address): Counted {
    const mine = rows.filter((row) => row[side] === wallet);
    const otherOf = (row: Settlement): Address => (side === 'payee' ? row.payer : row.payee);
    const organicOf = (back: number) => mine.filter((row) => ageOf(row) === back && isOrganic(row));
    const partiesOf = (back: number) => new Set(organicOf(back).map(otherOf)).size;
    const figureOf = (back: number): bigint => {
      const organic = organicOf(back);
      if (by === 'organic_usd') return sumOf(organic);
      if (by === 'proven_usd') return sumOf(organic.filter(({ method }) => method === 'facilitator_relay'));
      if (by === 'settlements') return BigInt(organic.length) * 1_000_000n;
      if (by === 'counterparties') return BigInt(partiesOf(back)) * 1_000_000n;
      return sumOf(organic) - sumOf(organicOf(back + 1));
    };
    const now = mine.filter((row) => ageOf(row) === 0);
    const judged = now.filter(isJudged);
    const others = judged.filter((row) => otherOf(row) !== wallet);
    const sums = [...new Set(others.map(otherOf))].map((other) =>
      sumOf(others.filter((row) => otherOf(row) === other)),
    );
    const { verdict } = judge({
      role: side,
      observed: now.length > 0,
      settlements: judged.length,
      usdMicros: sumOf(judged),
      selfUsdMicros: sumOf(judged.filter((row) => otherOf(row) === wallet)),
      largestUsdMicros: sums.toSorted((a, b) => (a > b ? -1 : 1))[0] ?? 0n,
      squaredUsdMicros: sums.reduce((sum, one) => sum + one * one, 0n),
      reciprocalUsdMicros: sumOf(others.filter(({ payer, payee }) => judgedPaid.has(`${payee} ${payer}`))),
      rings: rings.filter((members) => members.includes(wallet)).length,
    });
    const organic = organicOf(0);
    return {
      wallet,
      values: [figureOf(0), windows === 1 ? 0n : figureOf(1)],
      parties: [partiesOf(0), partiesOf(1)],
      figures: {
        organic_usd: usdNumber(sumOf(organic)),
        proven_usd: usdNumber(sumOf(organic.filter(({ method }) => method === 'facilitator_relay'))),
        organic_settlement_count: organic.length,
        distinct_counterparties: partiesOf(0),
        settled_usd: usdNumber(sumOf(now)),
        settlement_count: now.length,
      },
      verdict,
    };
  }

  const placed = (back: 0 | 1): Counted[] =>
    counted
      .filter(({ values, parties }) => (values[back] ?? 0n) > 0n && (parties[back] ?? 0) >= minCounterparties)
      .toSorted((a, b) => {
        const [one, other] = [a.values[back] ?? 0n, b.values[back] ?? 0n];
        if (one !== other) return one > other ? -1 : 1;
        return a.wallet < b.wallet ? -1 : 1;
      });
  const before = windows === 1 ? [] : placed(1).map(({ wallet }) => wallet);
  return placed(0).map(({ wallet, values, figures, verdict }, index) => ({
    rank: index + 1,
    previous_rank: before.includes(wallet) ? before.indexOf(wallet) + 1 : null,
    wallet,
    value: usdNumber(values[0] ?? 0n),
    previous_value: windows === 1 ? null : usdNumber(values[1] ?? 0n),
    figures,
    data_quality: verdict,
  }));
}
