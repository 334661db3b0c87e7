import { microsFromDecimal } from '../../core/domain/amount.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { EVIDENCE_LADDER, EVIDENCE_METHODS, type EvidenceMethod } from '../../core/domain/evidence.ts';
import type { PaymentScheme, Position, SettlementKind } from '../../core/domain/settlement.ts';
import { expressions } from '../engine/account.ts';
import type { RowBinary } from '../engine/row-binary.ts';
import {
  addressField,
  bigintField,
  hashField,
  integerField,
  textField,
  transactionField,
} from '../engine/row-reader.ts';
import {
  account,
  accountOrNone,
  bytes,
  chain,
  enumeration,
  flag,
  NARROW,
  name,
  named,
  nameOf,
  RANDOM,
  RISING,
  stored,
  text,
  time,
  transactionId,
  uint32,
  uint64,
  uint256,
  usd64,
  VERSIONED_TAIL,
  ZSTD,
  ZSTD_3,
} from './columns.ts';
import { dayOf, type EventRow, reading, type Table } from './table.ts';

const METHOD_CODES = Object.fromEntries(
  EVIDENCE_METHODS.map((method) => [method, EVIDENCE_LADDER[method].code]),
) as Record<EvidenceMethod, number>; // every method, by the line above

const TIERS_BY_CODE = EVIDENCE_METHODS.map((method) => EVIDENCE_LADDER[method])
  .sort((a, b) => a.code - b.code)
  .map(({ tier }) => tier);

/** One row for each payment that moved funds, as it was decoded from a chain and graded. */
export const SETTLEMENTS = {
  name: 'settlements',
  columns: {
    chain,
    block_number: stored(uint64, RISING),
    block_time: stored(time, RISING),
    tx_hash: stored(transactionId, RANDOM),
    /** Of the Transfer log in its block. */
    log_index: stored(uint32, NARROW),
    payer: stored(account, ZSTD),
    payee: stored(account, ZSTD),
    asset: stored(account, ZSTD),
    asset_symbol: name,
    /** Atomic units of the asset. */
    amount: stored(uint256, ZSTD),
    /** Face value of dollars, or by a configured rate; 0 where none is known. */
    amount_usd: stored(named('amountUsdMicros', usd64), NARROW),
    /** Whether the amount had a dollar value when the row was written. */
    usd_known: stored(flag, 'DEFAULT 1'),
    /** The sender of the transaction, who paid the gas. */
    relayer: stored(account, ZSTD),
    /** Id of the facilitator, or '' when none is known. */
    facilitator: name,
    method: stored(enumeration<EvidenceMethod>(METHOD_CODES), ZSTD),
    /** Bits of `SEEN`. */
    seen: stored(uint32, ZSTD),
    /** ERC-8021 facilitator code (`w`), or ''. A claim by the relayer, not a proof. */
    builder_facilitator: name,
    /** ERC-8021 app codes (`a`, or the codes of schema 0), joined by commas, or ''. */
    builder_apps: name,
    kind: stored(nameOf<SettlementKind>(), "DEFAULT 'payment'"),
    scheme: stored(nameOf<PaymentScheme>(), "DEFAULT 'unknown'"),
    /** Id of the channel or escrowed payment that it belongs to, or none. */
    channel: stored(bytes, ZSTD),
    /** The channel contract whose event it is, or none. Not in the lists: lists and pages of wallets do not show it. */
    contract: stored(accountOrNone, ZSTD),
    /** The part of the amount that went to a fee receiver, in atomic units; 0 where the scheme has none. */
    fee_amount: stored(uint256, ZSTD),
    /** Solana: the note that its transaction carries, or ''. Not in the lists: it is random as a rule, and kept for each party there. */
    memo: stored(text, ZSTD_3),
    ver: stored(VERSIONED_TAIL.ver, RISING),
    del: stored(VERSIONED_TAIL.del, ZSTD),
  },
  filled: {
    // What analysts group by most: computed from method, payer and payee it costs a scan twice its time.
    evidence_tier: `LowCardinality(String) MATERIALIZED [${TIERS_BY_CODE.map((tier) => `'${tier}'`).join(', ')}][toUInt8(method) + 1]`,
    is_self_payment: 'Bool MATERIALIZED payer = payee',
  },
  // `del` is no parameter of the engine: rollups must still see the keys that vanished. A month that is over is merged into one part:
  // FINAL then has nothing to do there, and an index leaves out what it can, because no other part holds a newer version.
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    partition: 'toYYYYMM(block_time)',
    order: '(block_time, chain, block_number, log_index)',
    // Analysts name accounts as texts, in the public views: an index serves only the very expression of the view. Under FINAL a granule
    // that is found by mistake costs three, so one in a thousand is.
    indexes: {
      ix_tx: 'tx_hash TYPE bloom_filter(0.001) GRANULARITY 1',
      ix_payer_text: `${expressions.accountText('payer')} TYPE bloom_filter(0.001) GRANULARITY 1`,
      ix_payee_text: `${expressions.accountText('payee')} TYPE bloom_filter(0.001) GRANULARITY 1`,
      ix_tx_text: `${expressions.transactionText('tx_hash')} TYPE bloom_filter(0.001) GRANULARITY 1`,
    },
    settings: { min_age_to_force_merge_seconds: 3600, min_age_to_force_merge_on_partition_only: 1 },
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
    .u8(row.usdKnown ? 1 : 0)
    .account(row.relayer)
    .string(row.facilitator)
    .u8(EVIDENCE_LADDER[row.method].code)
    .u32(row.seen)
    .string(row.builderFacilitator)
    .string(row.builderApps)
    .string(row.kind)
    .string(row.scheme)
    .hexString(row.channel)
    .hexString(row.contract)
    .u256(row.feeAmount)
    .string(row.memo);
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
    usdKnown: found.usdKnown,
    relayer: found.relayer,
    facilitator: grade.facilitator,
    method: grade.method,
    seen: grade.seen,
    builderFacilitator: found.builderFacilitator,
    builderApps: found.builderApps,
    kind: found.kind,
    scheme: found.scheme,
    channel: found.channel,
    contract: found.contract,
    feeAmount: found.feeAmount,
    memo: found.memo,
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
  'kind',
  'scheme',
  'channel',
  'fee_amount',
  'usd_known',
] as const;
const LISTED = reading(SETTLEMENTS, LISTED_NAMES);
export const LISTED_COLUMNS = LISTED.columns;

/** The expression of one of them. */
export const listedColumn = (name: (typeof LISTED_NAMES)[number]): string =>
  SETTLEMENTS.columns[name].select(name);

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
    kind: textField(row[15]) as SettlementKind, // this program alone writes it
    scheme: textField(row[16]) as PaymentScheme, // likewise
    channel: hashField(row[17]),
    feeAmount: bigintField(row[18]),
    usdKnown: integerField(row[19]) === 1,
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
