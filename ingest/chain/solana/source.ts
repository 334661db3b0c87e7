import type { ChainConfig } from '../../../core/config/chains.ts';
import { chainOfReference } from '../../../core/domain/chains.ts';
import { type ChainTip, type RangeReader, ReadAbandoned } from '../block-source.ts';
import { createEndpoint, observedEndpoint } from '../rpc/endpoint.ts';
import { ProviderContradiction } from '../rpc/failure.ts';
import { RPC_LIMITS } from '../rpc/limits.ts';
import { createPool, type Identity, type RpcPool } from '../rpc/pool.ts';
import { type RpcSourceDeps, untilConsistent } from '../source.ts';
import type { SolanaBatch, SolanaBlock, SolanaFilter } from './block.ts';
import { followBalances } from './check-balances.ts';
import { failureOfSolanaError } from './failure.ts';
import { createFeePayerReader } from './fee-payers.ts';
import {
  blockQuestion,
  FINALIZED,
  firstFrom,
  headerQuestion,
  LOOK_AHEAD_SLOTS,
  refAt,
  slotsQuestion,
  standingAt,
  timeOf,
  trusting,
} from './questions.ts';
import { type BlockAnswer, blockOf, type HeaderAnswer, readBeginnings, readBlock } from './read-block.ts';
import { checkFirst, checkSlots, skippedSlot } from './slots.ts';

/** Reads final blocks: over JSON-RPC, or from a Portal (portal.ts). */
export type SolanaReader = RangeReader<SolanaFilter, SolanaBatch>;

/**
 * Solana over JSON-RPC URLs, tried in turn: whole blocks, finalized ones alone, so that none is ever undone. A slot without a block has the
 * hash of the block before it (slots.ts), so that each slot has one. Everything that comes back has passed the checks of slots.ts and
 * check-balances.ts and verify-signature.ts; the last two are left out where `completeness` is `settlement-blocks`.
 *
 *   const { blocks } = await source.read(from, to, filter);
 *
 * Cost of `read`: one getBlocks, one getBlock for each block, and the head of one more where the last slot was skipped. With several URLs,
 * another one is asked for the signatures of each block, some 4 % of its bytes.
 * With fee payers in the filter only their transactions are read (fee-payers.ts).
 */
export interface SolanaSource extends ChainTip, SolanaReader {}

export type SolanaConfig = Pick<ChainConfig, 'chain' | 'rpcUrls' | 'requestsPerSecond' | 'completeness'>;

export function createSolanaSource(config: SolanaConfig, deps: RpcSourceDeps): SolanaSource {
  const limits = { ...RPC_LIMITS, ...deps.limits };
  const { signal, rateLimitOf } = deps;
  const log = deps.log.child({ chain: config.chain });
  const { requestsPerSecond, rpcUrls } = config;
  const failureOf = failureOfSolanaError;
  const pool = createPool({
    endpoints: rpcUrls.map((url) =>
      observedEndpoint(
        createEndpoint(url, { requestsPerSecond, limits, signal, rateLimitOf, failureOf }),
        deps.onExchange,
      ),
    ),
    chain: config.chain,
    identity: SOLANA_IDENTITY,
    limits,
    log,
    signal,
    onRetry: deps.onRetry,
  });
  const isTrusted = config.completeness === 'settlement-blocks';
  const repeating = { log, signal, limits };
  const readOfFeePayers = createFeePayerReader(pool);
  const readOnce = (from: number, to: number, filter: SolanaFilter): Promise<SolanaBatch> =>
    filter.feePayers === undefined
      ? readRange(pool, { from, to, filter, isTrusted })
      : readOfFeePayers({ from, to, filter, feePayers: filter.feePayers });
  return {
    tip: () =>
      untilConsistent(repeating, async () => {
        const head = await refAt(pool, await pool.ask(FINALIZED));
        return { head, finalized: head };
      }),
    blockAt: (number) =>
      untilConsistent(repeating, async () =>
        number > (await pool.ask(FINALIZED)) ? null : standingAt(pool, number),
      ),
    read: (from, to, filter, options) =>
      untilConsistent(repeating, () => readOnce(from, to, filter), {
        attemptsMax: options?.freshStartsMax ?? Number.POSITIVE_INFINITY,
        abandoned: () => new ReadAbandoned(from, to),
      }),
    // Blocks are announced when they are confirmed, some thirteen seconds before they are final.
    onNewHead: () => () => undefined,
    counters: () => pool.counters(),
  };
}

/** The CAIP-2 reference of a chain is the beginning of its genesis hash (CAIP-30). */
const REFERENCE_CHARS = 32;

export const SOLANA_IDENTITY: Identity = {
  method: 'getGenesisHash',
  params: [],
  read: (result) => (typeof result === 'string' ? chainOfReference(result.slice(0, REFERENCE_CHARS)) : null),
};

interface Range {
  readonly from: number;
  readonly to: number;
  readonly filter: SolanaFilter;
  readonly isTrusted: boolean;
}

async function readRange(pool: RpcPool, range: Range): Promise<SolanaBatch> {
  const { from, to, filter, isTrusted } = range;
  const listed = await pool.ask(slotsQuestion(from, to + LOOK_AHEAD_SLOTS));
  const slots = listed.filter((number) => number <= to);
  const answers = await pool.askAll(
    slots.map((number) =>
      blockQuestion(number, 'full', (result) => readBlock(result, number, filter, isTrusted)),
    ),
    1,
  );
  // What follows the range proves that its last slots were skipped.
  const isWhole = slots.at(-1) === to;
  const after = listed.find((number) => number > to);
  const next = isWhole ? [] : [await pool.ask(headerQuestion(after ?? (await firstFrom(pool, to + 1))))];
  trusting(pool, [listed, ...answers, ...next], () => {
    checkWindow(from, answers, next);
    if (!isTrusted) followBalances(answers, filter.mints);
  });
  if (!isTrusted) {
    // The first one alone: a URL that cannot answer is paused by it.
    for (const some of [answers.slice(0, 1), answers.slice(1)])
      await Promise.all(some.map((answer) => compareWithOther(pool, answer)));
  }
  return { from, to, blocks: await withTimes(pool, answers, { to, next: next[0] }) };
}

function checkWindow(from: number, answers: readonly HeaderAnswer[], next: readonly HeaderAnswer[]): void {
  const all = [...answers, ...next];
  const [first] = all;
  if (first !== undefined) checkFirst(from, first);
  checkSlots(all);
}

/**
 * Compares the transactions of a block with those that another URL has: nothing in a block shows that one was left out if its accounts move no
 * more in the blocks that are read together. A payment cannot be invented, so the URL that has more is right.
 */
async function compareWithOther(pool: RpcPool, answer: BlockAnswer): Promise<void> {
  const { number, hash, beginnings } = answer;
  const other = await pool.askOther(
    blockQuestion(number, 'signatures', (result) => readBeginnings(result, number)),
    answer,
  );
  if (other === null) return;
  if (other.hash !== hash) {
    // The blocks that were read follow from each other; of this one nothing is known.
    pool.distrust(new ProviderContradiction('wrong-fork', `two URLs name two blocks at slot ${number}`), [
      other,
    ]);
    return;
  }
  const known = new Set(beginnings);
  trusting(pool, [answer], () => {
    if (other.beginnings.some((beginning) => !known.has(beginning)))
      throw new ProviderContradiction(
        'missing-transaction',
        `slot ${number} has more transactions at another URL`,
      );
  });
}

/** The blocks with their times, and the last slot of the range where it was skipped. */
async function withTimes(
  pool: RpcPool,
  answers: readonly BlockAnswer[],
  { to, next }: { readonly to: number; readonly next: HeaderAnswer | undefined },
): Promise<readonly SolanaBlock[]> {
  const blocks: SolanaBlock[] = [];
  for (const answer of answers) {
    const time = answer.time ?? blocks.at(-1)?.time ?? (await timeOf(pool, answer.parentNumber));
    blocks.push(blockOf(answer, time));
  }
  if (next === undefined) return blocks;
  const before = blocks.at(-1) ?? {
    hash: next.parentHash,
    time: await timeOf(pool, next.parentNumber),
  };
  return [...blocks, skippedSlot(to, before)];
}
