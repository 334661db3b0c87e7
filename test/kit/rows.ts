import type { Writer } from '../../clickhouse/engine/engine.ts';
import { trustedText } from '../../clickhouse/engine/sql.ts';
import { SETTLEMENTS, type Settlement } from '../../clickhouse/tables/settlements.ts';
import { insertRows } from '../../clickhouse/tables/table.ts';
import { type Address, address, type Hash, hexOf, type Signature } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { SEEN } from '../../core/domain/evidence.ts';
import { BATCH_SETTLEMENT, NO_CHANNEL, NO_CONTRACT } from '../../core/domain/settlement.ts';
import type { StatusSnapshot } from '../../ingest/follow/chain-status.ts';

/** Synthetic rows for API tests, written the way ingest writes them. */

export const BASE: Chain = 'eip155:8453';
export const POLYGON: Chain = 'eip155:137';
export const SOLANA: Chain = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
/** On Solana: a buyer, a seller, who pays the fees, the dollar, a transaction and its slot. */
export const ON_SOLANA = {
  buyer: address('9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'),
  seller: address('2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4'),
  feePayer: address('CjNFTjvBhbJJd2B5ePPMHRLx1ELZpa8dwQgGL727eKww'),
  usdc: address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
  slot: 391_000_001,
  signature:
    '5j7s6NiJS3JAkvgkoc18WVAsiSaci2pxB2A6ueCJP4tprA2TFg9wSyTLeYouxPBJEMzJinENTkpA52YStRW5Dia7' as Signature, // base58 of 64 bytes
} as const;
/** 2026-11-20T12:00:00Z. */
export const NOON = 1_795_176_000;

export function wallet(number: number): Address {
  return address(`0x${number.toString(16).padStart(40, '0')}`);
}

export function hash(number: number): Hash {
  return `0x${number.toString(16).padStart(64, '0')}`;
}

/** A graded settlement; what a test does not care about has a plain default. */
export function settlement(fields: Partial<Settlement> = {}): Settlement {
  const blockNumber = fields.blockNumber ?? 1_000;
  const logIndex = fields.logIndex ?? 0;
  return {
    blockTime: NOON,
    chain: BASE,
    blockNumber,
    logIndex,
    txHash: hash(blockNumber * 10_000 + logIndex + 1),
    payer: wallet(0xa1),
    payee: wallet(0xb2),
    asset: wallet(0xc3),
    assetSymbol: 'USDC',
    amount: 10_000n,
    amountUsdMicros: 10_000n,
    usdKnown: true,
    relayer: wallet(0xd4),
    facilitator: '',
    method: 'gasless_authorization',
    seen: SEEN.authorization_used | SEEN.third_party_relay,
    builderFacilitator: '',
    builderApps: '',
    kind: fields.method === 'channel_move' ? 'deposit' : 'payment',
    scheme: 'exact',
    channel: NO_CHANNEL,
    contract: fields.channel === undefined ? NO_CONTRACT : BATCH_SETTLEMENT,
    feeAmount: 0n,
    memo: '',
    ...fields,
  };
}

/** The same of Solana: the buyer pays the seller. */
export function solanaSettlement(fields: Partial<Settlement> = {}): Settlement {
  const { buyer: payer, seller: payee, feePayer: relayer, usdc: asset, signature: txHash } = ON_SOLANA;
  const seen = SEEN.sponsored_exact | SEEN.third_party_relay;
  const own = { chain: SOLANA, blockNumber: ON_SOLANA.slot, payer, payee, relayer, asset, txHash, seen };
  return settlement({ ...own, ...fields });
}

let newestVer = 0n;

/** A version higher than every one given before. */
export function nextVer(): bigint {
  newestVer += 1n;
  return newestVer;
}

export async function insertSettlements(
  writer: Writer,
  rows: readonly Settlement[],
  { ver = nextVer(), del = 0 }: { readonly ver?: bigint; readonly del?: 0 | 1 } = {},
): Promise<void> {
  await insertRows(writer, { name: 'test-settlements', table: SETTLEMENTS, rows, fixed: { ver, del } });
}

/** What a reorg does to rows. */
export async function tombstone(writer: Writer, rows: readonly Settlement[]): Promise<void> {
  await insertSettlements(writer, rows, { del: 1 });
}

const STATUS_DEFAULTS = {
  state: `'following'`,
  indexed_block: '2000',
  indexed_time: `toDateTime(${NOON}, 'UTC')`,
  head_block: '2000',
  head_time: `toDateTime(${NOON}, 'UTC')`,
  head_seen_at: `toDateTime(${NOON}, 'UTC')`,
  finalized_block: '1500',
  backfill_blocks_done: '0',
  backfill_blocks_total: '0',
  rows_per_second: '1.5',
  blocks_per_second: '0.5',
  rows_written: '10',
  reorgs: '0',
  deepest_reorg: '0',
  retries: '0',
  contradictions: '0',
  dead_letters: '0',
  last_error: `''`,
  last_written_at: `toDateTime(${NOON}, 'UTC')`,
  updated_at: `toDateTime64(${NOON}, 3, 'UTC')`,
};

/** Reports a chain's status as ingest does; fields are SQL expressions. */
export async function reportChain(
  writer: Writer,
  chain: Chain,
  fields: Partial<Record<keyof typeof STATUS_DEFAULTS, string>> = {},
): Promise<void> {
  const all = { ...STATUS_DEFAULTS, ...fields, chain: `'${chain}'`, ver: String(nextVer()) };
  await writer.run({
    name: 'test-chain-status',
    maxSeconds: 10,
    sql: trustedText(
      `INSERT INTO chain_status (${Object.keys(all).join(', ')}) SELECT ${Object.values(all).join(', ')}`,
    ),
  });
}

export async function nameFacilitator(
  writer: Writer,
  id: string,
  name: string,
  relayer = wallet(0xd4),
  chain = BASE,
): Promise<void> {
  await writer.run({
    name: 'test-facilitator',
    maxSeconds: 10,
    sql: trustedText(
      `INSERT INTO facilitator_relayers SELECT '${chain}', unhex('${hexOf(relayer)}'), '${id}', '${name}', '2025-01-01', 'test', ${nextVer()}, 0`,
    ),
  });
}

export async function namePayee(writer: Writer, payee: Address, name: string): Promise<void> {
  await writer.run({
    name: 'test-payee',
    maxSeconds: 10,
    sql: trustedText(
      `INSERT INTO catalogued_payees SELECT '${BASE}', unhex('${payee.slice(2)}'), '${name}', 'https://shop.example/weather', 'test', ${nextVer()}, 0`,
    ),
  });
}

/** The status of a chain that nothing was ever written of. */
export const NO_COUNTERS = {
  rowsWritten: 0,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastWrittenAt: 0,
  indexedBlock: 0,
  indexedTime: 0,
  finalizedBlock: 0,
} as const satisfies Partial<StatusSnapshot>;
