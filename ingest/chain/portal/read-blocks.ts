import { setTimeout as delay } from 'node:timers/promises';
import type { Hash } from '../../../core/domain/account.ts';
import { backOffMs } from '../../../core/process/retry.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import { type PortalClient, PortalFork, type PortalLimits, type Waiting } from './client.ts';

/**
 * Reads blocks in order, over as many answers as it takes: an answer may end anywhere, and the next one then begins after the last block
 * read, with its hash as `parentBlockHash`. Every line is checked for its place and its parent before it is given away.
 */
export interface Ask<Block extends InPlace> {
  readonly path: PortalPath;
  readonly from: number;
  readonly to: number;
  /** The query without its range. */
  readonly query: object;
  /** Converts and checks one line. */
  readonly readLine: (line: unknown) => Block;
  /** The read ends at its first block, wherever in the range that is. */
  readonly isFirstEnough?: boolean;
  /** Every block was asked for; else those with matches, and the ends of each answer. */
  readonly everyBlock: boolean;
  /** The blocks stay in memory, so that a larger answer than permitted is a failure and not just an end. */
  readonly isKept: boolean;
}

/** `finalized-stream` never changes what it said; `stream` goes up to the tip. */
export type PortalPath = 'finalized-stream' | 'stream';

/** A block of any family, by its place in the chain. */
export interface InPlace {
  readonly header: {
    readonly number: number;
    readonly hash: Hash;
    readonly parentHash: Hash;
    /** Where numbers have gaps; else the parent is the number below. */
    readonly parentNumber?: number;
  };
}

export interface Sink<Block> {
  add(block: Block): void;
  /** The blocks above this number were undone while they were read. */
  rewind(number: number): void;
}

export interface ReadDeps {
  readonly client: PortalClient;
  readonly limits: PortalLimits;
  readonly signal: AbortSignal | undefined;
  /** A failure after which the same read goes on. */
  readonly onRetry: (failure: RpcFailure) => void;
}

/** Throws `RpcFailure` and `ProviderContradiction` when the read must be started afresh. */
export async function readBlocks<Block extends InPlace>(
  deps: ReadDeps,
  ask: Ask<Block>,
  sink: Sink<Block>,
  waiting: Waiting,
): Promise<void> {
  const { client, limits } = deps;
  const order = createOrder(ask);
  let failures = 0;
  const onLine = (line: unknown): void => {
    const block = ask.readLine(line);
    order.accept(block.header);
    failures = 0;
    sink.add(block);
  };
  const isEnough = (): boolean => ask.isFirstEnough === true && order.parentHash() !== null;
  while (order.next() <= ask.to && !isEnough()) {
    const from = order.next();
    // Final blocks are never undone.
    const parentBlockHash = ask.path === 'stream' ? order.parentHash() : null;
    const query = {
      ...ask.query,
      fromBlock: from,
      toBlock: ask.to,
      ...(parentBlockHash !== null && { parentBlockHash }),
    };
    try {
      const end = await client.stream(ask.path, query, { onLine, waiting });
      if (end === 'above-head') throw new RpcFailure('absent', `there is no block ${from} yet`);
      if (order.next() === from) throw new RpcFailure('unreadable', 'the answer has no block');
    } catch (error) {
      failures++;
      const isHopeless = failures >= limits.failuresMax;
      if (error instanceof PortalFork && !isHopeless) sink.rewind(order.rewind(error));
      else await goOn(deps, ask, error, { failures, isHopeless, isFurther: order.next() > from });
    }
  }
}

/** Waits before the read goes on after its last block; throws where it cannot. */
async function goOn(
  { limits, signal, onRetry }: ReadDeps,
  ask: Range,
  error: unknown,
  after: { readonly failures: number; readonly isHopeless: boolean; readonly isFurther: boolean },
): Promise<void> {
  if (error instanceof PortalFork) throw broken(ask.from);
  if (!(error instanceof RpcFailure)) throw error;
  if (after.isHopeless || !canGoOn(error, ask, after.isFurther, limits)) throw error;
  onRetry(error);
  if (error.kind !== 'too-large') await pause(error, after.failures, limits, signal);
}

function canGoOn(
  { kind, retryAfterMs }: RpcFailure,
  { isKept }: Range,
  isFurther: boolean,
  { retryAfterMaxMs }: PortalLimits,
): boolean {
  if (kind === 'too-large') return isFurther && !isKept;
  return kind !== 'refused' && kind !== 'absent' && (retryAfterMs ?? 0) <= retryAfterMaxMs;
}

async function pause(
  { retryAfterMs }: RpcFailure,
  failures: number,
  { backOffFirstMs: firstMs, backOffMaxMs: maxMs }: PortalLimits,
  signal: AbortSignal | undefined,
): Promise<void> {
  await delay(retryAfterMs ?? backOffMs(failures, { firstMs, maxMs }), undefined, signal ? { signal } : {});
}

type Range = Omit<Ask<InPlace>, 'path' | 'query' | 'readLine'>;

/** The blocks of a read, in their order. */
function createOrder({ from, to, everyBlock }: Range) {
  const read: { readonly number: number; readonly hash: Hash }[] = [];
  const next = (): number => (read.at(-1)?.number ?? from - 1) + 1;
  return {
    next,
    /** Of the block before the next one; null while none is read. */
    parentHash: (): Hash | null => read.at(-1)?.hash ?? null,
    accept({ number, hash, parentHash, parentNumber = number - 1 }: InPlace['header']): void {
      const before = read.at(-1);
      const isNext =
        before === undefined ? number === from || parentNumber < from : parentNumber === before.number;
      if (number < next() || number > to || (everyBlock && !isNext))
        throw new ProviderContradiction('wrong-block', `block ${number} came where block ${next()} belongs`);
      if (before?.number === parentNumber && before.hash !== parentHash) throw broken(number);
      read.push({ number, hash });
    },
    /** Forgets what was undone; returns the newest block that still stands. */
    rewind({ ancestors }: PortalFork): number {
      const standing = new Set(ancestors.map(({ number, hash }) => `${number} ${hash}`));
      const stands = read.findLastIndex(({ number, hash }) => standing.has(`${number} ${hash}`));
      read.length = stands + 1;
      return read.at(-1)?.number ?? from - 1;
    },
  };
}

function broken(number: number): ProviderContradiction {
  return new ProviderContradiction('broken-link', `block ${number} does not follow the block before it`);
}
