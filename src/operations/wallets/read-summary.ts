import { addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import { ALL_TIME, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/account.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { PaidFacts } from '../../../core/domain/pay-reasons.ts';
import { ask } from '../ask.ts';
import { type FinalBlock, onChain } from '../index-state/finality.ts';
import { EVERY_SETTLEMENT } from '../settlements/filters.ts';
import { isSelfPayment } from '../settlements/shape.ts';
import { askPayments, type PaymentQuestion, type PaymentScope } from './payments.ts';
import { readWalletPage } from './settlements.ts';

/** The part of a summary that a profile lacks: the offers, and the usual payments. */

const MAX_SECONDS = 5;

export interface WalletOffers {
  /** Resources and methods with an offer that is paid to the wallet. */
  readonly count: number;
  /** Of these, published by the domain of the resource itself. */
  readonly published: number;
  /** Of the others, with listings that name other payees: anyone can list a resource, and its own domain decides. */
  readonly contested: number;
  /** Of its own offers; null where none has a known price. */
  readonly minUsdMicros: bigint | null;
  readonly maxUsdMicros: bigint | null;
  /** Host of most of them; '' without any. */
  readonly site: string;
}

export const NO_OFFERS: WalletOffers = {
  count: 0,
  published: 0,
  contested: 0,
  minUsdMicros: null,
  maxUsdMicros: null,
  site: '',
};

export async function readWalletOffers(
  reader: Reader,
  { wallet, chain }: { readonly wallet: Address; readonly chain: Chain | undefined },
): Promise<WalletOffers> {
  const own = allOf([sql`pay_to = ${text(wallet)} AND chain != ''`, ...onChain(chain)]);
  const isPublished = sql`is_published = 1 AND pay_to = ${text(wallet)}`;
  const offered = sql`SELECT resource, method, price_usd FROM endpoint_offers FINAL WHERE ${own} AND del = 0`;
  const { rows } = await ask(reader, 'endpoints', {
    name: 'wallet-offers',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT uniqExact(resource, method), toString(min(price_usd)), toString(max(price_usd)),
        arrayElement(topK(1)(domain(resource)), 1), (${listedSql(offered, isPublished)}),
        (${listedSql(offered, sql`contested = 1 AND NOT (${isPublished})`)})
      FROM (${offered})`,
  });
  const [count, min, max, site, published, contested] = rows[0] ?? [];
  return {
    count: integerField(count),
    minUsdMicros: microsOrNull(min),
    maxUsdMicros: microsOrNull(max),
    site: textField(site),
    published: integerField(published),
    contested: integerField(contested),
  };
}

/** How many of the offered resources the directory lists with this condition. */
function listedSql(offered: Sql, condition: Sql): Sql {
  return sql`SELECT countIf(${condition}) FROM endpoint_list FINAL
    WHERE del = 0 AND (resource, method) IN (SELECT resource, method FROM (${offered}))`;
}

function microsOrNull(field: unknown): bigint | null {
  return field === null ? null : microsFromDecimal(textField(field));
}

/**
 * What others paid a wallet, without dust. Of a wallet that is too large to be read by rows, the first and the last time are those of a pair's
 * first and last day with a payment that counts.
 */
export async function readPaid(
  reader: Reader,
  {
    coverage,
    ...scope
  }: Omit<PaymentScope, 'span' | 'role' | 'other'> & { readonly coverage: RollupCoverage },
): Promise<PaidFacts> {
  const question: PaymentQuestion = {
    name: 'wallet-paid',
    maxRows: 1,
    sql: (
      payments,
    ) => sql`SELECT uniqExact(other), sum(judged_n), toString(sum(judged_usd)), toString(sum(judged_proven)),
        toUnixTimestamp(min(first_time)), toUnixTimestamp(max(last_time))
      FROM ${payments} WHERE inbound = 1 AND other != ${addressBytes(scope.wallet)} AND judged_n > 0`,
  };
  const all = { ...scope, role: 'payee', span: ALL_TIME } as const;
  const rows = await askPayments({ reader, coverage }, [all], () => question);
  const [payers, count, usd, proven, first, last] = rows[0] ?? [];
  const settlements = integerField(count);
  const [firstSeen, lastSeen] = settlements === 0 ? [null, null] : [integerField(first), integerField(last)];
  return {
    payers: integerField(payers),
    settlements,
    usdMicros: microsFromDecimal(textField(usd)),
    provenUsdMicros: microsFromDecimal(textField(proven)),
    firstSeen,
    lastSeen,
  };
}

/** Of the newest payments that a wallet received from others. */
export interface UsualPrice {
  readonly payments: number;
  readonly minUsdMicros: bigint;
  /** The lower of the two in the middle of an even number. */
  readonly medianUsdMicros: bigint;
  readonly maxUsdMicros: bigint;
}

/** As many newest settlements are looked at: a page of the wallet, which is read in the order of the table. */
export const PRICED_SETTLEMENTS_MAX = 50;

export async function readUsualPrice(
  reader: Reader,
  query: {
    readonly wallet: Address;
    readonly chain: Chain | undefined;
    readonly final: readonly FinalBlock[] | undefined;
  },
): Promise<UsualPrice | null> {
  const { rows } = await readWalletPage(
    { reader },
    {
      ...EVERY_SETTLEMENT,
      ...query,
      limit: PRICED_SETTLEMENTS_MAX,
      before: undefined,
      role: 'payee',
      counterparty: undefined,
    },
  );
  const amounts = rows
    .filter((row) => row.kind === 'payment' && !isSelfPayment(row))
    .map(({ amountUsdMicros }) => amountUsdMicros)
    .sort((a, b) => Number(a - b));
  const [min, median, max] = [amounts[0], amounts[(amounts.length - 1) >> 1], amounts.at(-1)];
  return min === undefined || median === undefined || max === undefined
    ? null
    : { payments: amounts.length, minUsdMicros: min, medianUsdMicros: median, maxUsdMicros: max };
}
