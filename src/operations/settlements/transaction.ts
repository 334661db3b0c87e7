import { type Static, Type } from '@sinclair/typebox';
import { transactionIdBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, uint32 } from '../../../clickhouse/engine/sql.ts';
import { TRANSACTION_FEES } from '../../../clickhouse/tables/fees.ts';
import { settlementRows } from '../../../clickhouse/tables/history.ts';
import {
  decodeSettlement,
  LISTED_COLUMNS,
  type ListedSettlement,
} from '../../../clickhouse/tables/settlements.ts';
import { reading, type TableRow } from '../../../clickhouse/tables/table.ts';
import type { TransactionId } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import { fail } from '../../../core/errors.ts';
import { finalityIn, NO_NAMES, stateFor } from '../as-of.ts';
import { ask } from '../ask.ts';
import { asOfParam, chainParam, txHashParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { onChain } from '../index-state/finality.ts';
import { META_FIELDS_EXAMPLE, MetaShape, metaAnswer } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { CountShape, orNull } from '../shapes.ts';
import {
  NAMED_SETTLEMENT_EXAMPLE,
  NAMES_LEFT_OUT,
  NamedSettlementShape,
  namedSettlementAnswer,
  partiesOf,
  TX_HASH_SHAPE,
} from './shape.ts';

/** One transaction with all its settlements and what it cost, by its hash. */

interface TransactionQuery {
  readonly txHash: TransactionId;
  readonly asOf: Snapshot | undefined;
  readonly chain: Chain | undefined;
}

interface Transaction {
  /** By chain and log index, the first `SETTLEMENTS_SHOWN_MAX`. */
  readonly rows: readonly ListedSettlement[];
  readonly total: number;
  readonly memo: string | null;
}

const WeiShape = (description: string) => Type.String({ pattern: '^[0-9]+$', description });

const FeeShape = Type.Object(
  {
    gas_used: CountShape,
    gas_price_wei: WeiShape('Effective price of a unit of gas: 10^-18 of the native currency of the chain.'),
    l1_fee_wei: WeiShape('What an OP-stack chain charges for the data on its base chain; 0 elsewhere.'),
    fee_wei: WeiShape('gas_used times gas_price_wei, plus l1_fee_wei.'),
  },
  { title: 'TransactionFee' },
);

const RESOURCE = 'settlements';
const MAX_SECONDS = 10;
/** A batch settles a few hundred; a block of 400 million gas has room for some 8,000. */
const SETTLEMENTS_SHOWN_MAX = 1_000;

/** Throws `transaction_not_found` where no live settlement is of this transaction. */
async function readTransaction(reader: Reader, query: TransactionQuery): Promise<Transaction> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'transaction',
    maxSeconds: MAX_SECONDS,
    maxRows: SETTLEMENTS_SHOWN_MAX,
    settings: { do_not_merge_across_partitions_select_final: 1 },
    sql: transactionSql(query),
  });
  const [first] = rows;
  if (first === undefined) throw notFound(query);
  const [memo, total] = first.slice(-2);
  return {
    rows: rows.map(decodeSettlement),
    total: integerField(total),
    memo: memo === '' ? null : textField(memo),
  };
}

/**
 * The times come from a table of a few bytes a transaction, and a second of `settlements` is a granule of each part that reaches
 * there. Versions are merged before the hash is compared: after a reorg another transaction may stand in the place of this one.
 */
function transactionSql({ txHash, chain, asOf }: TransactionQuery): Sql {
  const slice = sliceOf({ txHash, chain });
  return sql`SELECT ${LISTED_COLUMNS}, memo, count() OVER () FROM ${settlementRows(asOf, slice)}
    WHERE del = 0 AND tx_hash = ${transactionIdBytes(txHash)}
    ORDER BY block_time, chain, block_number, log_index LIMIT ${uint32(SETTLEMENTS_SHOWN_MAX)}`;
}

/** Conditions on the sort key: the seconds that the transaction may be of. */
function sliceOf({ txHash, chain }: Omit<TransactionQuery, 'asOf'>): Sql[] {
  return [
    sql`block_time IN (SELECT block_time FROM transaction_times
      WHERE prefix = reinterpretAsUInt32(substring(${transactionIdBytes(txHash)}, 1, 4)))`,
    ...onChain(chain),
  ];
}

interface Fee extends Pick<TableRow<typeof TRANSACTION_FEES>, 'gasUsed' | 'gasPrice' | 'l1Fee' | 'fee'> {}

const FEE = reading(TRANSACTION_FEES, ['gas_used', 'gas_price', 'l1_fee', 'fee', 'chain', 'block_time']);
/** A hash is of one transaction on each chain. */
const FEES_MAX = 1_000;

/** What transactions of this hash cost their relayers, as far as their receipts were read; asked in one round with the settlements. */
async function readFees(reader: Reader, query: Omit<TransactionQuery, 'asOf'>) {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'transaction-fee',
    maxSeconds: MAX_SECONDS,
    maxRows: FEES_MAX,
    sql: sql`SELECT ${FEE.columns} FROM transaction_fees FINAL WHERE ${allOf(sliceOf(query))}
      AND tx_hash = ${transactionIdBytes(query.txHash)} AND del = 0`,
  });
  return rows.map(FEE.read);
}

function feeAnswer({ gasUsed, gasPrice, l1Fee, fee }: Fee): Static<typeof FeeShape> {
  return {
    gas_used: gasUsed,
    gas_price_wei: String(gasPrice),
    l1_fee_wei: String(l1Fee),
    fee_wei: String(fee),
  };
}

/** Receipts are read after a block is final, and names are claims of today. */
const LEFT_OUT = ['fee', ...NAMES_LEFT_OUT.map((field) => `settlements.${field}`)];

function notFound({ txHash, chain }: TransactionQuery): Error {
  const where = chain === undefined ? '' : ` on ${chain}, the only chain that was asked for`;
  return fail('transaction_not_found', {
    detail: `No settlement of ${txHash} is indexed${where}: not a settlement, not yet indexed, taken back by a reorg, or on a chain that is not covered.`,
  });
}

export const getTransaction = defineOperation({
  id: 'getTransaction',
  wire: {
    path: '/transactions/{tx_hash}',
    params: { tx_hash: txHashParam, chain: chainParam, as_of: asOfParam },
    output: Type.Object({
      tx_hash: TX_HASH_SHAPE,
      settlement_count: { ...CountShape, minimum: 1 },
      fee: orNull(FeeShape, {
        description:
          'What the relayer paid for the transaction, from its receipt; null until it is final and the receipt was read, and on chains where none is.',
      }),
      memo: orNull(
        Type.String({
          description:
            'The note that the transaction carries, on Solana; at most 566 bytes, and a longer one ends in how many it has. Null without one.',
        }),
      ),
      settlements: Type.Array(NamedSettlementShape, { minItems: 1, maxItems: SETTLEMENTS_SHOWN_MAX }),
      meta: MetaShape,
    }),
    fails: ['invalid_parameter', 'transaction_not_found', 'snapshot_gone', 'upstream_unavailable'],
  },
  words: {
    summary: 'One transaction with all its settlements',
    description: `Every settlement of the transaction in the order of its logs, with evidence, finality and names, and what the transaction cost its relayer. All indexed chains are searched unless \`chain\` names one. \`settlement_count\` counts them all; the first ${SETTLEMENTS_SHOWN_MAX.toLocaleString('en')} are shown. A hash without a settlement is \`transaction_not_found\`, which costs nothing: it may not be an x402 payment, may not be indexed yet, or may have been undone by a reorg.`,
    tool: 'One transaction by its hash: all settlements in it with evidence and finality.',
    example: {
      tx_hash: NAMED_SETTLEMENT_EXAMPLE.tx_hash,
      settlement_count: 1,
      fee: {
        gas_used: 85_718,
        gas_price_wei: '4500000',
        l1_fee_wei: '251093411',
        fee_wei: '385982093411',
      },
      memo: null,
      settlements: [NAMED_SETTLEMENT_EXAMPLE],
      meta: META_FIELDS_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed },
  preflight: async ({ tx_hash: txHash, chain, as_of: asOf }, { reader, index }) => {
    if (asOf !== undefined) await index.snapshots.answerable(asOf, chain);
    return readTransaction(reader, { txHash, chain, asOf });
  },
  read: async ({ tx_hash: txHash, chain, as_of: asked }, deps) => {
    const {
      reader,
      clock,
      deployment,
      index: { names, freshness },
    } = deps;
    const { chains } = deployment;
    const nowMs = clock.nowMs();
    const { asOf, meta } = await stateFor(deps, asked, { chain, leftOut: LEFT_OUT });
    const [statuses, { rows, total, memo }, fees] = await Promise.all([
      freshness.statuses(),
      readTransaction(reader, { txHash, chain, asOf }),
      asOf === undefined ? readFees(reader, { txHash, chain }) : [],
    ]);
    const finalityOf = finalityIn(asOf, statuses);
    const [first] = rows;
    const directory = asOf === undefined ? await names.of(partiesOf(rows)) : NO_NAMES;
    const fee = fees.find((one) => one.chain === first?.chain && one.blockTime === first?.blockTime);
    return {
      tx_hash: txHash,
      settlement_count: total,
      fee: fee === undefined ? null : feeAnswer(fee),
      memo,
      settlements: rows.map((row) => namedSettlementAnswer(row, finalityOf(row), deployment, directory)),
      meta: metaAnswer({ chain, chains, statuses, nowMs, ...meta }),
    };
  },
});
