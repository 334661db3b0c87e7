import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Address, address, type Hash } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import type { BlockBatch, RawLog } from '../../../ingest/chain/block-source.ts';
import { rowsOfBatch } from '../../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import { type Event, TOKENS, transfer, USDC, used, word } from '../../kit/chain-logs.ts';

interface Vector {
  readonly id: string;
  readonly tx: Hash;
  readonly block?: number;
  readonly blockHash?: Hash;
  readonly blockTimestamp?: number;
  readonly from: string;
  readonly to: string;
  readonly transferLogIndex?: number;
  readonly transferLog?: { address: string; logIndex: number; topics: Hash[]; data: Hash };
  readonly input: string;
  readonly expect: {
    readonly payer?: string;
    readonly payee?: string;
    readonly to?: string;
    readonly value: string;
    readonly builder?: { readonly w: string };
    readonly schema0?: readonly string[];
  };
}

const VECTORS: Vector[] = JSON.parse(
  readFileSync(new URL('../../fixtures/settlement-vectors.json', import.meta.url), 'utf8'),
);
const BASE = chainOf(8453);
/** Base has a block every 2 s since its genesis. */
const timeOf = (block: number) => 1_686_789_347 + 2 * block;

const argument = (input: string, index: number): string => input.slice(10 + 64 * index, 74 + 64 * index);
const addressArgument = (input: string, index: number): Address =>
  address(`0x${argument(input, index).slice(24)}`);
const uintArgument = (input: string, index: number): bigint => BigInt(`0x${argument(input, index)}`);

/** The logs that Circle's token emits for this calldata. */
function eventsOf({ input, from }: Vector): readonly Event[] {
  if (input.startsWith('0xa9059cbb'))
    return [transfer(address(from), addressArgument(input, 0), uintArgument(input, 1))];
  const [payer, payee] = [addressArgument(input, 0), addressArgument(input, 1)];
  return [used(payer, uintArgument(input, 5)), transfer(payer, payee, uintArgument(input, 2))];
}

function batchOfVector(vector: Vector): BlockBatch {
  const number = vector.block ?? 45_000_000;
  const hash = vector.blockHash ?? word(number);
  const block = {
    number,
    hash,
    parentHash: word(1),
    time: vector.blockTimestamp ?? timeOf(number),
  };
  const events = eventsOf(vector);
  const lastIndex = vector.transferLog?.logIndex ?? vector.transferLogIndex ?? 9;
  const logs = events.map(
    (event, index): RawLog => ({
      ...event,
      blockNumber: number,
      blockHash: hash,
      transactionHash: vector.tx,
      logIndex: lastIndex - (events.length - 1) + index,
    }),
  );
  const { tx, input } = vector;
  const facts = { hash: tx, from: address(vector.from.toLowerCase()), to: address(vector.to), input };
  return { from: number, to: number, blocks: [block], logs, transactions: new Map([[tx, facts]]) };
}

function settle(vector: Vector) {
  const payees = vector.expect.to
    ? [{ chain: BASE, address: address(vector.expect.to), name: '', resource: '' }]
    : [];
  const catalogue = buildCatalogue({ facilitators: [], payees });
  return rowsOfBatch(
    batchOfVector(vector),
    decodeContextOf({ chain: BASE, tokens: TOKENS, registries: {} }, catalogue),
    catalogue,
  );
}

const signed = VECTORS.filter((vector) => vector.expect.payer !== undefined);

describe('real settlements on Base', () => {
  test('there are five vectors, four of them settlements', () => {
    expect([VECTORS.length, signed.length]).toEqual([5, 4]);
  });

  test.each(signed)('$id decodes and grades as a settlement relayed by Coinbase', (vector) => {
    const { settlements, deadLetters } = settle(vector);
    expect(deadLetters).toEqual([]);
    expect(settlements).toHaveLength(1);
    expect(settlements[0]).toMatchObject({
      chain: BASE,
      txHash: vector.tx,
      payer: vector.expect.payer?.toLowerCase(),
      payee: vector.expect.payee?.toLowerCase(),
      amount: BigInt(vector.expect.value),
      amountUsdMicros: BigInt(vector.expect.value),
      asset: USDC,
      assetSymbol: 'USDC',
      relayer: vector.from.toLowerCase(),
      facilitator: 'coinbase',
      method: 'facilitator_relay',
      builderFacilitator: vector.expect.builder?.w ?? '',
      builderApps: '',
    });
  });

  test('the log built from calldata is the captured one, and places the row', () => {
    const vector = VECTORS.find(({ transferLog }) => transferLog !== undefined);
    if (vector?.transferLog === undefined) throw new Error('the fixture lost its full log');
    const built = batchOfVector(vector).logs.at(-1);
    expect(built).toMatchObject({
      address: vector.transferLog.address.toLowerCase(),
      topics: vector.transferLog.topics,
      data: vector.transferLog.data,
      logIndex: 25,
    });
    expect(settle(vector).settlements[0]).toMatchObject({
      blockNumber: 50_542_918,
      blockTime: 1_787_875_183,
      logIndex: 25,
    });
  });

  test('the bare transfer with a schema-0 code is no x402 payment', () => {
    const vector = VECTORS.find(({ expect: { schema0 } }) => schema0 !== undefined);
    if (vector === undefined) throw new Error('the fixture lost its bare transfer');
    const { settlements, deadLetters } = settle(vector);
    expect(deadLetters).toEqual([]);
    expect(settlements).toHaveLength(1);
    expect(settlements[0]).toMatchObject({
      payer: vector.from,
      payee: vector.expect.to,
      amount: 73n,
      method: 'bare_transfer',
      facilitator: '',
      builderFacilitator: '',
      builderApps: 'bc_o3dj3qk8',
    });
  });
});
