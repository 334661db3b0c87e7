import { type Address, address, type Hash } from '../../core/domain/account.ts';
import type { TokenFacts } from '../../core/domain/chains.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../../ingest/chain/block-source.ts';
import { TOPIC } from '../../ingest/decode/log-kind.ts';

/** Builds batches as a source would hand them over: transactions are named by a number, logs numbered as they are emitted. */

export const USDC = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913');
export const EURC = address('0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42');
export const PROXY = address('0x402085c248eea27d92e8b30b2c58ed07f9e20001');
export const ROUTER = address('0x73fc659cd5494e69852be8d9d23fe05aab14b29b');

export const tokenFacts = (at: Address, symbol: string, decimals = 6): TokenFacts => ({
  address: at,
  symbol,
  decimals,
  currency: symbol === 'EURC' ? 'EUR' : 'USD',
  paidBy: 'eip3009',
  domain: { name: symbol, version: '2' },
});

export const TOKENS = [tokenFacts(USDC, 'USDC'), tokenFacts(EURC, 'EURC')];

export const word = (value: bigint | number): Hash => `0x${BigInt(value).toString(16).padStart(64, '0')}`;
export const wallet = (number: number): Address => address(`0x${number.toString(16).padStart(40, '0')}`);
export const addressWord = (of: Address): Hash => `0x${of.slice(2).padStart(64, '0')}`;

/** What a log says, without its place in the chain. */
export type Event = Pick<RawLog, 'address' | 'topics' | 'data'>;

export const transfer = (from: Address, to: Address, amount: bigint | number, token = USDC): Event => ({
  address: token,
  topics: [TOPIC.transfer, addressWord(from), addressWord(to)],
  data: word(amount),
});

export const used = (authorizer: Address, nonce: bigint | number = 1, token = USDC): Event => ({
  address: token,
  topics: [TOPIC.authorizationUsed, addressWord(authorizer), word(nonce)],
  data: '0x',
});

export const settled = (topic: Hash = TOPIC.permit2Settled, proxy = PROXY): Event => ({
  address: proxy,
  topics: [topic],
  data: '0x',
});

export interface Transaction {
  readonly from?: Address;
  readonly to?: Address | null;
  readonly input?: string;
  readonly events: readonly Event[];
}

/** A call of the token with the arguments of the given payment; `selector` defaults to transferWithAuthorization. */
export const callData = (
  from: Address,
  to: Address,
  amount: bigint | number,
  selector = '0xe3ee160e',
): string =>
  `${selector}${[addressWord(from), addressWord(to), word(amount), word(0), word(1), word(7)].map((w) => w.slice(2)).join('')}`;

export const RELAYER = wallet(0xfee);
const SOMEWHERE = wallet(0xca11);

export const blockRef = (number: number, time = 1_780_000_000 + 2 * number): BlockRef => ({
  number,
  hash: word(0xb10c0000 + number),
  parentHash: word(0xb10c0000 + number - 1),
  time,
});

/** One block per inner array of transactions, starting at block `from`. */
export function batchOf(blocks: readonly (readonly Transaction[])[], from = 100): BlockBatch {
  const logs: RawLog[] = [];
  const transactions = new Map<Hash, TransactionFacts>();
  const refs = blocks.map((_, index) => blockRef(from + index));
  for (const [index, ref] of refs.entries()) {
    let logIndex = 0;
    for (const [position, tx] of (blocks[index] ?? []).entries()) {
      const hash = word(ref.number * 1_000_000 + position);
      transactions.set(hash, {
        hash,
        from: tx.from ?? RELAYER,
        to: tx.to === undefined ? SOMEWHERE : tx.to,
        input: tx.input ?? '0x',
      });
      for (const event of tx.events)
        logs.push({
          ...event,
          blockNumber: ref.number,
          blockHash: ref.hash,
          transactionHash: hash,
          logIndex: logIndex++,
        });
    }
  }
  return { from, to: from + Math.max(0, blocks.length - 1), blocks: refs, logs, transactions };
}
