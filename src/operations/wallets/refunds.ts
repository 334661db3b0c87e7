import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { REFUND_FIGURES, REFUND_SUMS } from '../../../clickhouse/engine/refund-figures.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { addressBytes, type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { RollupCoverage, TimeRange } from '../../../clickhouse/tables/coverage.ts';
import type { Address } from '../../../core/domain/address.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import type { FinalBlock } from '../index-state/finality.ts';
import { askPairs, askSmallWallet, type PaymentQuestion } from './payments.ts';
import { PROFILE_RESOURCE } from './profile-totals.ts';

/** What a wallet paid back to wallets that had paid it. */

const MAX_SECONDS = 5;

export interface Refunds {
  /** Payers that got money back. */
  readonly payers: number;
  /** Settlements by which they did. */
  readonly count: number;
  /** Of each payer at most what it had paid. */
  readonly usdMicros: bigint;
}

interface RefundQuery {
  readonly wallet: Address;
  readonly chain: Chain | undefined;
  readonly final: readonly FinalBlock[] | undefined;
  readonly span: TimeRange;
  readonly coverage: RollupCoverage;
  /** Rows that a wallet may take to be read whole. Tests lower it. */
  readonly wholeRowsReadMax?: number;
}

/**
 * In the span of time of the rows themselves where the wallet is small. Of larger ones as the newest pass of verdicts found it, up to an hour
 * ago: to group all payers of a busy shop takes a quarter of a second.
 */
export async function readRefunds(reader: Reader, { coverage, ...scope }: RefundQuery): Promise<Refunds> {
  const question: PaymentQuestion = {
    name: 'wallet-refunds',
    maxRows: 1,
    sql: (payments: Sql) => sql`SELECT ${REFUND_SUMS} FROM (
      SELECT ${REFUND_FIGURES} FROM ${payments} WHERE other != ${addressBytes(scope.wallet)} GROUP BY other)`,
  };
  const rows =
    (await askSmallWallet(reader, scope, question)) ??
    (await readKept(reader, scope)) ??
    (await askPairs({ reader, coverage }, scope, question));
  const [payers, count, usd] = rows[0] ?? [];
  return {
    payers: integerField(payers),
    count: integerField(count),
    usdMicros: microsFromDecimal(textField(usd)),
  };
}

/** Null where the wallet was not large then, or only final rows count. */
async function readKept(reader: Reader, { wallet, chain, final }: Omit<RefundQuery, 'coverage'>) {
  if (final !== undefined) return null;
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    name: 'wallet-kept-refunds',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT payers, settlements, toString(usd) FROM large_wallet_refunds WHERE gen = (SELECT max(gen) FROM verdict_passes)
      AND wallet = ${text(wallet)} AND chain = ${text(chain ?? '')}`,
  });
  return rows.length === 0 ? null : rows;
}
