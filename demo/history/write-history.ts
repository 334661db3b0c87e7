import { createHash } from 'node:crypto';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import type { Config } from '../../core/config/config.ts';
import type { Address, Hash } from '../../core/domain/account.ts';
import type { Log } from '../../core/log.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../../ingest/chain/block-source.ts';
import { rowsOfBatch } from '../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../ingest/decode/context.ts';
import { openGrading } from '../../ingest/import/grading.ts';
import { storeBatch } from '../../ingest/import/group.ts';
import { createBatchWriter } from '../../ingest/write/batch-writer.ts';
import { createVersions, highestVersion, type Versions } from '../../ingest/write/versions.ts';
import { attachOrStartEngine } from '../../src/attach-engine.ts';
import { listSince } from './list-offers.ts';
import type { SamplePayment } from './sample-payments.ts';
import { SAMPLE_BLOCK_SECONDS, SAMPLE_DAYS, type SampleChain } from './sample-world.ts';

/**
 * Payments as the logs, transactions and blocks that a node would give for them, which the indexer then decodes and grades like
 * any others. Hashes, nonces and signatures are made up: nothing is signed here.
 */

const TRANSFER: Hash = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const AUTHORIZATION_USED: Hash = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
/** transferWithAuthorization and receiveWithAuthorization with v, r, s; transfer. */
const SELECTORS = { relayed: '0xe3ee160e', received: '0xef55bec6', bare: '0xa9059cbb' } as const;
const VALID_SECONDS = 3_600;
const SIGNATURE_V = 27n;

/** `payments` ascend by time. `end`: time of the chain’s last sample block. */
export function blocksOf(chain: SampleChain, payments: readonly SamplePayment[], end: number): BlockBatch {
  const blocks: BlockRef[] = [];
  const logs: RawLog[] = [];
  const transactions = new Map<Hash, TransactionFacts>();
  let nextIndex = 0;
  for (const payment of payments) {
    const number = chain.lastBlock - Math.floor((end - payment.time) / SAMPLE_BLOCK_SECONDS);
    if (blocks.at(-1)?.number !== number) {
      blocks.push(blockAt(chain, number, end));
      nextIndex = 0;
    }
    const block = blocks.at(-1);
    if (block === undefined) throw new Error('a block was just added');
    const hash = hashOf(`${chain.slug} ${number} ${nextIndex}`);
    const nonce = hashOf(`nonce of ${hash}`);
    const to = chain.token;
    transactions.set(hash, { hash, from: payment.relayer, to, input: calldataOf(payment, nonce) });
    for (const event of eventsOf(payment, nonce))
      logs.push({
        ...event,
        address: to,
        blockNumber: number,
        blockHash: block.hash,
        transactionHash: hash,
        logIndex: nextIndex++,
      });
  }
  return { from: blocks[0]?.number ?? 0, to: blocks.at(-1)?.number ?? 0, blocks, logs, transactions };
}

function blockAt({ slug, lastBlock }: SampleChain, number: number, end: number): BlockRef {
  const name = (at: number): Hash => hashOf(`${slug} block ${at}`);
  const time = end - (lastBlock - number) * SAMPLE_BLOCK_SECONDS;
  return { number, hash: name(number), parentHash: name(number - 1), time };
}

/** In the order in which Circle’s token emits them. */
function eventsOf(
  { payer, payee, amount, way }: SamplePayment,
  nonce: Hash,
): Pick<RawLog, 'topics' | 'data'>[] {
  const transfer = { topics: [TRANSFER, word(payer), word(payee)], data: uint(amount) };
  if (way === 'bare') return [transfer];
  return [{ topics: [AUTHORIZATION_USED, word(payer), nonce], data: '0x' }, transfer];
}

function calldataOf({ payer, payee, amount, way, time, suffix }: SamplePayment, nonce: Hash): string {
  const words =
    way === 'bare'
      ? [word(payee), uint(amount)]
      : [
          word(payer),
          word(payee),
          uint(amount),
          uint(0n),
          uint(BigInt(time + VALID_SECONDS)),
          nonce,
          uint(SIGNATURE_V),
          nonce,
          nonce,
        ];
  return `${SELECTORS[way]}${words.map((each) => each.slice(2)).join('')}${suffix}`;
}

function word(address: Address): Hash {
  return `0x${address.slice(2).padStart(64, '0')}`;
}

function uint(value: bigint): Hash {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

function hashOf(label: string): Hash {
  return `0x${createHash('sha256').update(`sample history: ${label}`).digest('hex')}`;
}

export interface ChainHistory {
  readonly chain: SampleChain;
  readonly payments: readonly SamplePayment[];
}

const DAY_SECONDS = 86_400;
/** A good insert, and a few megabytes of logs in memory. */
const PAYMENTS_PER_BATCH = 10_000;

/**
 * Writes the histories into the index of a running service as an import does: the same decoder, the published catalogue, the
 * same writer. Rollups then close their days by themselves. Listings are backdated to the first of these days. `wrote`
 * gets the number of rows written so far.
 */
export async function writeHistory(
  deps: {
    readonly config: Config;
    readonly log: Log;
    readonly signal: AbortSignal;
    wrote(rows: number): void;
  },
  histories: readonly ChainHistory[],
  end: number,
): Promise<number> {
  const { config, log, signal } = deps;
  const engine = await attachOrStartEngine(config, log);
  const writer = createWriter(engine.access, log);
  try {
    const versions = createVersions(await highestVersion(writer));
    const rows = await writePayments({ ...deps, writer, versions }, histories, end);
    await listSince({ config, writer, versions, log, signal }, end - SAMPLE_DAYS * DAY_SECONDS);
    return rows;
  } finally {
    await writer.close();
    await engine.stop();
  }
}

/** Decodes, grades and writes the payments; returns the number of rows. */
export async function writePayments(
  deps: {
    readonly config: Config;
    readonly writer: Writer;
    readonly versions: Versions;
    readonly log: Log;
    readonly signal: AbortSignal;
    wrote(rows: number): void;
  },
  histories: readonly ChainHistory[],
  end: number,
): Promise<number> {
  const { config, writer, versions, log, signal, wrote } = deps;
  const grading = await openGrading({ config, writer, versions, log, signal, dryRun: false });
  let rows = 0;
  for (const { chain, payments } of histories) {
    const configured = config.chains.find(({ facts }) => facts.slug === chain.slug);
    if (configured === undefined) throw new Error(`${chain.slug} is not configured`);
    const context = decodeContextOf(configured, grading.catalogue());
    const batches = createBatchWriter({ chain: configured.chain, writer, versions, log, signal });
    for (const part of parts(payments)) {
      const batch = blocksOf(chain, part, end);
      const counts = await storeBatch({ grading, batches }, (catalogue) =>
        rowsOfBatch(batch, context, catalogue),
      );
      rows += counts.settlements;
      wrote(rows);
    }
  }
  return rows;
}

/** A block is never cut in two: its logs are numbered from 0. */
function* parts(payments: readonly SamplePayment[]): Generator<readonly SamplePayment[]> {
  for (let from = 0; from < payments.length; ) {
    let to = Math.min(from + PAYMENTS_PER_BATCH, payments.length);
    while (to < payments.length && isSameBlock(payments[to - 1], payments[to])) to++;
    yield payments.slice(from, to);
    from = to;
  }
}

/** Seconds that may share a block. */
const CLOSE_SECONDS = 2;

function isSameBlock(a: SamplePayment | undefined, b: SamplePayment | undefined): boolean {
  return a !== undefined && b !== undefined && b.time - a.time < CLOSE_SECONDS;
}
