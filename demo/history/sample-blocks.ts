import { createHash } from 'node:crypto';
import type { Address } from '../../core/domain/address.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../../ingest/chain/block-source.ts';
import type { SamplePayment } from './sample-payments.ts';
import { SAMPLE_BLOCK_SECONDS, type SampleChain } from './sample-world.ts';

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
