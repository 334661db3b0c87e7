import {
  accountText,
  NO_ACCOUNT,
  transactionBytes,
  transactionText,
} from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { type Sql, sql, texts } from '../../../clickhouse/engine/sql.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { ProofOfPayment, ProvenPayment } from '../../../core/domain/payment.ts';
import { ask } from '../ask.ts';

/** What the settlements say of payments that feedback files name. */
export interface ProvenPayments {
  /** The first settlement of that transaction between these parties. */
  payment(proof: ProofOfPayment): ProvenPayment | undefined;
  isTransactionKnown(proof: ProofOfPayment): boolean;
}

const RESOURCE = 'settlements';
const MAX_SECONDS = 10;

/**
 * Joined when a page is read, because a proof may be fetched before its payment is indexed, and a reorg may take either back.
 * The transactions are found by their index among unmerged versions; then the versions of these rows alone are merged.
 */
export async function readProvenPayments(
  reader: Reader,
  proofs: readonly ProofOfPayment[],
): Promise<ProvenPayments> {
  const payments = new Map<string, ProvenPayment>();
  const transactions = new Set<string>();
  if (proofs.length > 0) {
    const { rows } = await ask(reader, RESOURCE, {
      name: 'proofs-of-payment',
      maxSeconds: MAX_SECONDS,
      // Of each proof: its own settlements as one row, all others of the transaction as another.
      maxRows: 2 * proofs.length,
      settings: { do_not_merge_across_partitions_select_final: 1 },
      sql: paymentsSql(proofs),
    });
    for (const row of rows) {
      const [chain, txHash] = [textField(row[0]), textField(row[1])];
      transactions.add(`${chain} ${txHash}`);
      if (integerField(row[2]) === 0) continue;
      payments.set(keyOf(chain, txHash, textField(row[3]), textField(row[4])), {
        logIndex: integerField(row[5]),
        amount: bigintField(row[6]),
        amountUsdMicros: microsFromDecimal(textField(row[7])),
      });
    }
  }
  return {
    payment: ({ chain, txHash, from, to }) => payments.get(keyOf(chain, txHash, from, to)),
    isTransactionKnown: ({ chain, txHash }) => transactions.has(`${chain} ${txHash}`),
  };
}

const TX_HASH = transactionText('tx_hash');

function paymentsSql(proofs: readonly ProofOfPayment[]): Sql {
  const hashes = sql`(SELECT ${transactionBytes(sql`arrayJoin(${texts(proofs.map(({ txHash }) => txHash))})`)})`;
  const isNamed = sql`${IS_COUNTED} AND (chain, ${TX_HASH}, ${accountText('payer')}, ${accountText('payee')}) IN ${namedPayments(proofs)}`;
  return sql`SELECT chain, ${TX_HASH}, named, ${accountText('a')}, ${accountText('b')}, min(log_index), toString(argMin(amount, log_index)),
      toString(argMin(amount_usd, log_index))
    FROM (
      SELECT chain, tx_hash, log_index, amount, amount_usd, (${isNamed}) AS named, if(named, payer, ${NO_ACCOUNT}) AS a,
        if(named, payee, ${NO_ACCOUNT}) AS b
      FROM (SELECT * FROM settlements FINAL WHERE (block_time, chain, block_number, log_index) IN (
        SELECT block_time, chain, block_number, log_index FROM settlements WHERE tx_hash IN ${hashes}))
      WHERE del = 0 AND (chain, ${TX_HASH}) IN ${namedTransactions(proofs)})
    GROUP BY chain, tx_hash, named, a, b`;
}

function namedTransactions(proofs: readonly ProofOfPayment[]): Sql {
  const chains = texts(proofs.map(({ chain }) => chain));
  const hashes = texts(proofs.map(({ txHash }) => txHash));
  return sql`(SELECT proof.1, proof.2 FROM (SELECT arrayJoin(arrayZip(${chains}, ${hashes})) AS proof))`;
}

function namedPayments(proofs: readonly ProofOfPayment[]): Sql {
  const chains = texts(proofs.map(({ chain }) => chain));
  const hashes = texts(proofs.map(({ txHash }) => txHash));
  const payers = texts(proofs.map(({ from }) => from));
  const payees = texts(proofs.map(({ to }) => to));
  return sql`(SELECT proof.1, proof.2, proof.3, proof.4
    FROM (SELECT arrayJoin(arrayZip(${chains}, ${hashes}, ${payers}, ${payees})) AS proof))`;
}

function keyOf(chain: string, txHash: string, from: string, to: string): string {
  return `${chain} ${txHash} ${from} ${to}`;
}
