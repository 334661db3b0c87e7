import type { ChainConfig } from '../../../core/config/chains.ts';
import {
  SMART_WALLET_PROGRAMS,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../core/domain/solana-programs.ts';
import type { Waiting } from '../portal/client.ts';
import { type OpenPortal, openPortal, type PortalAt, type PortalSourceDeps } from '../portal/open.ts';
import { readBlocks } from '../portal/read-blocks.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import type { SolanaBatch, SolanaFilter } from './block.ts';
import { followBalances } from './check-balances.ts';
import { type PortalAnswer, type PortalHead, readPortalHead, readPortalLine } from './portal-line.ts';
import { LOOK_AHEAD_SLOTS } from './questions.ts';
import { type BlockAnswer, blockOf, type HeaderAnswer } from './read-block.ts';
import { checkSlots, skippedSlot } from './slots.ts';
import type { SolanaReader } from './source.ts';

/**
 * The history of Solana over the SQD Portal protocol: final blocks, of which the Portal sends the transactions that move a listed token. They
 * pass the checks of read-block.ts, slots.ts and check-balances.ts, as those that a node sends whole. With `completeness`
 * `settlement-blocks` it is asked only for transactions with an instruction by which payments are made, and trusted.
 * Cost of `read`: two requests, more where the Portal ends its answers early, or where the range begins with skipped slots alone.
 */
export interface SolanaPortal extends SolanaReader, Pick<OpenPortal, 'finalizedAtLeast' | 'counters'> {}

export function createSolanaPortal(
  config: PortalAt & Pick<ChainConfig, 'completeness'>,
  deps: PortalSourceDeps,
): SolanaPortal {
  const portal = openPortal(config, deps);
  const isTrusted = config.completeness === 'settlement-blocks';
  return {
    read: (from, to, filter, options) =>
      portal.afresh(() => readRange(portal, { from, to, filter, isTrusted }), {
        ...{ from, to },
        attemptsMax: options?.freshStartsMax,
      }),
    finalizedAtLeast: portal.finalizedAtLeast,
    counters: portal.counters,
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly filter: SolanaFilter;
  readonly isTrusted: boolean;
}

async function readRange(portal: OpenPortal, range: Range): Promise<SolanaBatch> {
  const { from, to } = range;
  const waiting: Waiting = { waitedMs: 0 };
  // The first block from the last slot on says where the range ends: at itself, or, where that slot was skipped, at its parent.
  const next = await firstFrom(portal, to, waiting);
  const isWhole = next.number === to;
  const last = isWhole ? to : next.parentNumber;
  const answers = last < from ? [] : await readAnswers(portal, { ...range, to: last }, waiting);
  const end: HeaderAnswer | undefined = answers.at(-1) ?? (await firstFrom(portal, last, waiting));
  if (isWhole && end.hash !== next.hash)
    throw new ProviderContradiction('wrong-fork', `two answers name two blocks at slot ${to}`);
  if (!isWhole) checkSlots([end, next]);
  const blocks = answers.map((answer) => blockOf(answer, timeOf(answer)));
  if (!isWhole) blocks.push(skippedSlot(to, { hash: end.hash, time: timeOf(end) }));
  return { from, to, blocks, waitedMs: waiting.waitedMs };
}

async function readAnswers(
  portal: OpenPortal,
  { from, to, filter, isTrusted }: Range,
  waiting: Waiting,
): Promise<BlockAnswer[]> {
  const answers: BlockAnswer[] = [];
  await readBlocks<PortalAnswer>(
    portal,
    {
      ...{ path: 'finalized-stream', from, to, everyBlock: true, isKept: false },
      query: isTrusted ? paymentsQuery(filter) : movesQuery(filter),
      readLine: (line) => readPortalLine(line, filter, isTrusted),
    },
    { add: ({ answer }) => void answers.push(answer), rewind: neverUndone },
    waiting,
  );
  if (!isTrusted) followBalances(answers, filter.mints);
  return answers;
}

/** The head of the first block from a slot on; after a halt of the whole chain the read fails, and a node says where it is. */
async function firstFrom(portal: OpenPortal, from: number, waiting: Waiting): Promise<HeaderAnswer> {
  const found: HeaderAnswer[] = [];
  await readBlocks<PortalHead>(
    portal,
    {
      ...{ path: 'finalized-stream', from, to: from + LOOK_AHEAD_SLOTS, everyBlock: true, isKept: false },
      isFirstEnough: true,
      query: { type: 'solana', includeAllBlocks: true, fields: { block: PLACE } },
      readLine: readPortalHead,
    },
    { add: ({ header }) => void found.push(header), rewind: neverUndone },
    waiting,
  );
  const [first] = found;
  if (first === undefined) throw new RpcFailure('absent', `the Portal has no block from slot ${from} on`);
  return first;
}

function timeOf({ number, time }: HeaderAnswer): number {
  if (time === null) throw new RpcFailure('absent', `the Portal has no time of slot ${number}`);
  return time;
}

function neverUndone(number: number): never {
  throw new ProviderContradiction('wrong-fork', `final blocks above ${number} are said to be undone`);
}

const PLACE = { number: true, hash: true, parentNumber: true, parentHash: true, timestamp: true } as const;

/** Only fields that are read. */
const FIELDS = {
  block: PLACE,
  transaction: {
    transactionIndex: true,
    version: true,
    accountKeys: true,
    addressTableLookups: true,
    numReadonlySignedAccounts: true,
    numReadonlyUnsignedAccounts: true,
    numRequiredSignatures: true,
    recentBlockhash: true,
    signatures: true,
    err: true,
    loadedAddresses: true,
  },
  instruction: {
    transactionIndex: true,
    instructionAddress: true,
    programId: true,
    accounts: true,
    data: true,
  },
  tokenBalance: {
    transactionIndex: true,
    account: true,
    preMint: true,
    postMint: true,
    preOwner: true,
    postOwner: true,
    preAmount: true,
    postAmount: true,
  },
} as const;

/** Every transaction in which a listed token has a balance, with its balances of listed tokens. */
function movesQuery({ mints }: SolanaFilter): object {
  const whole = { transaction: true, transactionInstructions: true };
  return {
    ...{ type: 'solana', includeAllBlocks: true, fields: FIELDS },
    tokenBalances: [
      { preMint: [...mints], ...whole },
      { postMint: [...mints], ...whole },
    ],
  };
}

/** First bytes of instructions by which payments are made: TransferChecked, the same with a stated fee, and a batch of several. */
const TRANSFER_CHECKED = '0x0c';
const TRANSFER_CHECKED_WITH_FEE = '0x1a01';
const BATCH = '0xff';

/** The transactions that can be payments, and some others: transfers of listed tokens, also of trades, and all that smart wallets do. */
function paymentsQuery({ mints }: SolanaFilter): object {
  const whole = { transaction: true, transactionInstructions: true, transactionTokenBalances: true };
  const ours = { isCommitted: true, ...whole };
  const [programs, a1] = [[TOKEN_PROGRAM, TOKEN_2022_PROGRAM], [...mints]];
  return {
    ...{ type: 'solana', includeAllBlocks: true, fields: FIELDS },
    instructions: [
      { programId: programs, d1: [TRANSFER_CHECKED], a1, ...ours },
      { programId: [TOKEN_2022_PROGRAM], d2: [TRANSFER_CHECKED_WITH_FEE], a1, ...ours },
      { programId: programs, d1: [BATCH], ...ours },
      { programId: [...SMART_WALLET_PROGRAMS], ...ours },
    ],
  };
}
