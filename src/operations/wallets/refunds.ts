import { addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { REFUND_FIGURES, REFUND_SUMS } from '../../../clickhouse/engine/refund-figures.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { RollupCoverage, TimeRange } from '../../../clickhouse/tables/coverage.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import { askPayments, type PaymentQuestion } from './payments.ts';
import type { WalletScope } from './scope.ts';

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

interface RefundQuery extends WalletScope {
  readonly span: TimeRange;
  readonly coverage: RollupCoverage;
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
  const rows = await askPayments({ reader, coverage }, [scope], () => question, {
    name: 'wallet-kept-refunds',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT payers, settlements, toString(usd) FROM large_wallet_refunds WHERE gen = (SELECT max(gen) FROM verdict_passes)
      AND wallet = ${text(scope.wallet)} AND chain = ${text(scope.chain ?? '')}`,
  });
  const [payers, count, usd] = rows[0] ?? [];
  return {
    payers: integerField(payers),
    count: integerField(count),
    usdMicros: microsFromDecimal(textField(usd)),
  };
}
