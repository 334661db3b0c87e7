import { microsFromDecimal } from '../../core/domain/amount.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { EVIDENCE_LADDER, EVIDENCE_METHODS, type EvidenceMethod } from '../../core/domain/evidence.ts';
import type { Position } from '../../core/domain/settlement.ts';
import type { RowBinary } from '../engine/row-binary.ts';
import {
  addressField,
  bigintField,
  integerField,
  textField,
  transactionField,
} from '../engine/row-reader.ts';
import { sql } from '../engine/sql.ts';
import {
  account,
  chain,
  enumeration,
  name,
  named,
  time,
  transactionId,
  uint32,
  uint64,
  uint256,
  usd64,
  usd128,
  VERSIONED_TAIL,
} from './columns.ts';
import { dayOf, type EventRow, reading, STATE, type Table } from './table.ts';

const METHOD_CODES = Object.fromEntries(
  EVIDENCE_METHODS.map((method) => [method, EVIDENCE_LADDER[method].code]),
) as Record<EvidenceMethod, number>; // every method, by the line above

/** One row for each payment that moved funds, as it was decoded from a chain and graded. */
export const SETTLEMENTS = {
  name: 'settlements',
  columns: {
    chain,
    block_number: uint64,
    block_time: time,
    tx_hash: transactionId,
    /** Of the Transfer log in its block. */
    log_index: uint32,
    payer: account,
    payee: account,
    asset: account,
    asset_symbol: name,
    /** Atomic units of the asset. */
    amount: uint256,
    /** Face value. */
    amount_usd: named('amountUsdMicros', usd64),
    /** The sender of the transaction, who paid the gas. */
    relayer: account,
    /** Id of the facilitator, or '' when none is known. */
    facilitator: name,
    method: enumeration<EvidenceMethod>(METHOD_CODES),
    /** Bits of `SEEN`. */
    seen: uint32,
    /** ERC-8021 facilitator code (`w`), or ''. A claim by the relayer, not a proof. */
    builder_facilitator: name,
    /** ERC-8021 app codes (`a`, or the codes of schema 0), joined by commas, or ''. */
    builder_apps: name,
    ...VERSIONED_TAIL,
  },
  placement: dayOf(
    'block_time',
    'all versions of a row and all rows of a slice on one shard, a month over all of them',
  ),
  versions: ['ver'],
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;

export type Settlement = EventRow<typeof SETTLEMENTS>;

/**
 * The encoder of `encodeEvents`, in the order of the columns. Written out by hand because it is the hot path of a backfill; a test
 * compares its bytes with those that follow from the columns.
 */
export function writeSettlement(out: RowBinary, row: Settlement): void {
  out
    .string(row.chain)
    .u64(row.blockNumber)
    .dateTime(row.blockTime)
    .transactionId(row.txHash)
    .u32(row.logIndex)
    .account(row.payer)
    .account(row.payee)
    .account(row.asset)
    .string(row.assetSymbol)
    .u256(row.amount)
    .decimal64(row.amountUsdMicros)
    .account(row.relayer)
    .string(row.facilitator)
    .u8(EVIDENCE_LADDER[row.method].code)
    .u32(row.seen)
    .string(row.builderFacilitator)
    .string(row.builderApps);
}

/** What the catalogues decide about a settlement; everything else is what the chain says. */
export type Grade = Pick<Settlement, 'facilitator' | 'method' | 'seen'>;

/** The row of a settlement with its grade. Every field by name: a spread costs the decoder a third of its speed. */
export function gradedSettlement(found: Omit<Settlement, keyof Grade>, grade: Grade): Settlement {
  return {
    blockTime: found.blockTime,
    chain: found.chain,
    blockNumber: found.blockNumber,
    logIndex: found.logIndex,
    txHash: found.txHash,
    payer: found.payer,
    payee: found.payee,
    asset: found.asset,
    assetSymbol: found.assetSymbol,
    amount: found.amount,
    amountUsdMicros: found.amountUsdMicros,
    relayer: found.relayer,
    facilitator: grade.facilitator,
    method: grade.method,
    seen: grade.seen,
    builderFacilitator: found.builderFacilitator,
    builderApps: found.builderApps,
  };
}

/** The columns behind `decodeSettlement`, in its order: the sort key first. */
export const LISTED_NAMES = [
  'block_time',
  'chain',
  'block_number',
  'log_index',
  'tx_hash',
  'payer',
  'payee',
  'asset',
  'asset_symbol',
  'amount',
  'amount_usd',
  'relayer',
  'facilitator',
  'method',
  'seen',
] as const;
const LISTED = reading(SETTLEMENTS, LISTED_NAMES);
export const LISTED_COLUMNS = LISTED.columns;

/** What lists show of a settlement. */
export type ListedSettlement = ReturnType<typeof LISTED.read>;

const METHODS: ReadonlySet<string> = new Set(EVIDENCE_METHODS);

/** Every field by name: spreading the position into so large a literal costs 30 µs a row instead of 0.4 (V8's slow path). */
export function decodeSettlement(row: readonly unknown[]): ListedSettlement {
  const { blockTime, chain, blockNumber, logIndex } = decodePosition(row);
  return {
    blockTime,
    chain,
    blockNumber,
    logIndex,
    txHash: transactionField(row[4]),
    payer: addressField(row[5]),
    payee: addressField(row[6]),
    asset: addressField(row[7]),
    assetSymbol: textField(row[8]),
    amount: bigintField(row[9]),
    amountUsdMicros: microsFromDecimal(textField(row[10])),
    relayer: addressField(row[11]),
    facilitator: textField(row[12]),
    method: methodField(row[13]),
    seen: integerField(row[14]),
  };
}

/** The first four columns of every settlement list: its sort key. */
export function decodePosition(row: readonly unknown[]): Position {
  return {
    blockTime: integerField(row[0]),
    chain: textField(row[1]) as Chain, // written by ingest from `Chain` values only
    blockNumber: integerField(row[2]),
    logIndex: integerField(row[3]),
  };
}

function methodField(field: unknown): EvidenceMethod {
  const method = textField(field);
  if (!METHODS.has(method)) throw new TypeError(`unknown evidence method ${method}`);
  return method as EvidenceMethod; // just checked
}

/** One row for each party of a settlement, by wallet. A view fills it from `settlements`. */
export const WALLET_ROWS = {
  name: 'wallet_rows',
  columns: {},
  placement: { key: 'cityHash64(wallet)', why: 'a page of a wallet asks one shard, whatever its time' },
  versions: ['ver'],
  // By itself as well: an insert that was cut by a crash can have reached the view and not the table (measured: 2 of 280 kills),
  // and a row of the view alone would have no tombstone to inherit.
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;

/** When each wallet was last seen in a settlement. A view fills it; what a reorg takes back still counts. */
export const WALLET_SEEN = {
  name: 'wallet_seen',
  columns: {},
  placement: { key: null, why: 'made from the settlements of each shard; the newest of all shards counts' },
  backup: 'marks',
} as const satisfies Table;

/** What each transaction cost the relayer that sent it, with the facts of its settlements, of final blocks (ingest/fees). */
export const TRANSACTION_FEES = {
  name: 'transaction_fees',
  columns: {
    block_time: time,
    chain,
    tx_hash: transactionId,
    block_number: uint64,
    relayer: account,
    facilitator: name,
    settlement_count: uint32,
    /** Without channel deposits. */
    settled_usd: named('settledUsdMicros', usd128),
    gas_used: uint64,
    /** Effective price of a unit of gas, wei. */
    gas_price: uint256,
    /** Fee of an OP-stack chain for the data on its base chain, wei; 0 elsewhere. */
    l1_fee: uint256,
    /** gas_used times gas_price, and l1_fee; wei. */
    fee: uint256,
    ...VERSIONED_TAIL,
  },
  placement: dayOf('block_time', 'on the shard of the settlements that they are read with'),
  versions: ['ver'],
  // Rows are of final blocks; one of them goes only where an operator has blocks indexed anew.
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;

/** Hours of a chain whose transactions have their fees, and the count of inserts from before they were read. */
export const FEE_HOURS = {
  name: 'fee_hours',
  columns: { chain, hour: time, writes: uint64, ver: VERSIONED_TAIL.ver },
  placement: STATE,
  versions: ['ver'],
  backup: 'done',
} as const satisfies Table;

/** When each transaction settled, by a prefix of its hash. A view fills it; a time that a reorg took back stays, and finds no row. */
export const TRANSACTION_TIMES = {
  name: 'transaction_times',
  columns: {},
  placement: { key: null, why: 'made from the settlements of each shard; a reader asks all of them' },
  backup: 'marks',
} as const satisfies Table;

/** Keys that lost a row to a tombstone: rollups count them again. */
export const RETRACTED_KEYS = {
  name: 'retracted_keys',
  columns: {},
  placement: dayOf('hour', 'read together with the settlements of its slice'),
  // Before the tombstones: afterwards it is not known which keys they were.
  retraction: {
    notes: ({ byTime }) => [
      sql`INSERT INTO retracted_keys SELECT DISTINCT toStartOfHour(block_time), chain, payer, payee, relayer
        FROM settlements FINAL WHERE ${byTime} AND del = 0`,
    ],
  },
  backup: 'marks',
} as const satisfies Table;

/** The newest change of each hour, and how many there were. A view fills it from `settlements`. */
export const HOUR_VER = {
  name: 'hour_ver',
  columns: {},
  placement: dayOf('hour', 'made from the settlements of its shard, asked when their slices are computed'),
  versions: ['ver'],
  // Once more by itself, from what the table holds: a crash between the tombstones and the view would leave the hours clean
  // for ever, because a repeat finds nothing live to retract.
  retraction: {
    notes: ({ byTime }) => [
      sql`INSERT INTO hour_ver (hour, ver) SELECT toStartOfHour(block_time) AS start, max(ver) FROM settlements WHERE ${byTime} GROUP BY start`,
    ],
  },
  backup: 'marks',
} as const satisfies Table;

/** Which versions each insert into `settlements` wrote, and what each tombstone took, by the engine's clock. A view fills it. */
export const SETTLEMENT_CHANGES = {
  name: 'settlement_changes',
  columns: {},
  placement: dayOf('hour', 'made from the settlements of its shard'),
  // Once more by itself: a crash between the tombstones and the view leaves events that are gone and were never called so, and
  // a repeat finds nothing live to retract.
  retraction: {
    notes: ({ byTime }) => [
      sql`INSERT INTO settlement_changes SELECT now64(6, 'UTC') AS at, chain, toStartOfHour(block_time) AS hour,
          block_number AS gone_block, tx_hash AS gone_tx, log_index AS gone_log, payer AS gone_payer, payee AS gone_payee,
          block_time AS first_time, block_time AS last_time, ver AS first_ver, ver AS last_ver, ver % 100000 AS first_room, ver % 100000 AS last_room
        FROM settlements FINAL WHERE ${byTime} AND del = 1
          AND (chain, block_number, tx_hash, log_index) NOT IN (SELECT chain, gone_block, gone_tx, gone_log FROM settlement_changes)`,
    ],
  },
  backup: 'marks',
} as const satisfies Table;
