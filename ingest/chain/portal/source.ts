import type { ChainConfig } from '../../../core/config/chains.ts';
import type { Hash } from '../../../core/domain/account.ts';
import type {
  BlockBatch,
  BlockReader,
  BlockRef,
  Header,
  LogFilter,
  RawLog,
  ReceiptFacts,
  TransactionFacts,
} from '../block-source.ts';
import { checkAsked, checkLinks, orderLogs } from '../check-batch.ts';
import { refOf } from '../read-answers.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import type { Waiting } from './client.ts';
import { type OpenPortal, openPortal, type PortalAt, type PortalSourceDeps } from './open.ts';
import { createPortalProver, type PortalProver } from './prove.ts';
import { ALL_LOGS_QUERY, HEADERS_QUERY, settlementQuery, transactionsQuery } from './queries.ts';
import { type PortalPath, readBlocks, type Sink } from './read-blocks.ts';
import { type PortalBlock, type PortalTransaction, readLine } from './read-line.ts';

export interface PortalConfig extends PortalAt, Pick<ChainConfig, 'completeness' | 'finalityDepth'> {}

export interface PortalSource extends BlockReader, Pick<OpenPortal, 'finalizedAtLeast'> {}

/**
 * The history of a chain over the SQD Portal protocol. A range is one stream of lines, with the transactions and what they cost, and a
 * second one that proves it; see prove.ts. The checks are those of every source, so a Portal that loses logs or mixes forks is found out.
 * Cost of `read`: two requests, more where the Portal ends its answers early.
 */
export function createPortalSource(config: PortalConfig, deps: PortalSourceDeps): PortalSource {
  const portal = openPortal(config, deps);
  const { afresh } = portal;
  const parts: Parts = {
    ...portal,
    prover: createPortalProver(deps.log),
    isAlwaysProved: config.completeness === 'every-block',
  };
  return {
    tip: () => afresh(() => readTip(parts, config.finalityDepth)),
    blockAt: (number) => afresh(() => blockAt(parts, number)),
    read: (from, to, filter, options) =>
      afresh(
        () => readRange(parts, { from, to }, filter, parts.isAlwaysProved || options?.everyHeader === true),
        { from, to, attemptsMax: options?.freshStartsMax },
      ),
    finalizedAtLeast: portal.finalizedAtLeast,
    counters: portal.counters,
  };
}

interface Parts extends OpenPortal {
  readonly prover: PortalProver;
  readonly isAlwaysProved: boolean;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The range, in halves where one answer would be too large. */
async function readRange(
  parts: Parts,
  range: Range,
  filter: LogFilter,
  everyHeader: boolean,
): Promise<BlockBatch> {
  try {
    return await readWhole(parts, range, filter, everyHeader);
  } catch (error) {
    const { from, to } = range;
    if (!(error instanceof RpcFailure) || error.kind !== 'too-large' || from === to) throw error;
    const middle = from + Math.floor((to - from) / 2);
    const lower = await readRange(parts, { from, to: middle }, filter, everyHeader);
    const upper = await readRange(parts, { from: middle + 1, to }, filter, everyHeader);
    const blocks = [...lower.blocks, ...upper.blocks];
    checkLinks(blocks);
    return {
      ...{ from, to, blocks },
      logs: [...lower.logs, ...upper.logs],
      transactions: new Map([...lower.transactions, ...upper.transactions]),
      costs: new Map([...(lower.costs ?? []), ...(upper.costs ?? [])]),
      waitedMs: (lower.waitedMs ?? 0) + (upper.waitedMs ?? 0),
    };
  }
}

async function readWhole(
  parts: Parts,
  range: Range,
  filter: LogFilter,
  everyHeader: boolean,
): Promise<BlockBatch> {
  const { from, to } = range;
  const waiting: Waiting = { waitedMs: 0 };
  const path = to <= parts.client.finalizedSeen() ? 'finalized-stream' : 'stream';
  const kept = keptBlocks();
  await readBlocks(
    parts,
    {
      ...{ path, from, to, everyBlock: everyHeader, isKept: true },
      query: settlementQuery(filter, everyHeader),
      readLine: (line) => readLine(line, { logs: 'with-data', transactions: true }),
    },
    kept.sink,
    waiting,
  );
  const headers = kept.blocks.map(({ header }) => header);
  const told = kept.blocks.flatMap(({ logs }) => logs);
  checkAsked(told, from, to, filter);
  const { logs, duplicates } = orderLogs(told);
  if (duplicates > 0)
    parts.note(new ProviderContradiction('duplicate-logs', `${duplicates} logs of ${from}–${to} came twice`));
  const found = await transactionsOf(parts, path, kept.blocks, logs.filter(filter.isCandidate), waiting);
  if (everyHeader) await prove(parts, path, { headers, logs, filter }, waiting);
  return { from, to, blocks: headers.map(refOf), logs, ...found, waitedMs: waiting.waitedMs };
}

/** The blocks of a read as they are now. */
function keptBlocks(): { readonly blocks: PortalBlock[]; readonly sink: Sink<PortalBlock> } {
  const blocks: PortalBlock[] = [];
  return {
    blocks,
    sink: {
      add: (block) => void blocks.push(block),
      rewind(number) {
        while ((blocks.at(-1)?.header.number ?? -1) > number) blocks.pop();
      },
    },
  };
}

interface Found {
  readonly transactions: ReadonlyMap<Hash, TransactionFacts>;
  readonly costs: ReadonlyMap<Hash, ReceiptFacts>;
}

/** The transactions behind the candidates; those that did not come with the range are asked for. */
async function transactionsOf(
  parts: Parts,
  path: PortalPath,
  blocks: readonly PortalBlock[],
  candidates: readonly RawLog[],
  waiting: Waiting,
): Promise<Found> {
  const wanted = new Map(candidates.map((log) => [log.transactionHash, log]));
  const found = new Map<Hash, PortalTransaction>();
  const take = ({ header, transactions }: PortalBlock): void => {
    for (const transaction of transactions) {
      const log = wanted.get(transaction.facts.hash);
      if (log === undefined) continue;
      if (log.blockHash !== header.hash)
        throw new ProviderContradiction('wrong-fork', `a transaction of another block ${header.number}`);
      found.set(transaction.facts.hash, transaction);
    }
  };
  for (const block of blocks) take(block);
  const missing = candidates.filter(({ transactionHash }) => !found.has(transactionHash));
  const [first, last] = [missing[0], missing.at(-1)];
  if (first !== undefined && last !== undefined)
    await readBlocks(
      parts,
      {
        ...{ path, from: first.blockNumber, to: last.blockNumber, everyBlock: false, isKept: false },
        query: transactionsQuery(missing),
        readLine: (line) => readLine(line, { logs: 'none', transactions: true }),
      },
      { add: take, rewind: undone },
      waiting,
    );
  const lost = missing.find(({ transactionHash }) => !found.has(transactionHash));
  if (lost !== undefined)
    throw new ProviderContradiction(
      'missing-transaction',
      `block ${lost.blockNumber} lacks a transaction that its logs name`,
    );
  return {
    transactions: new Map([...found].map(([hash, { facts }]) => [hash, facts])),
    costs: new Map([...found].map(([hash, { cost }]) => [hash, cost])),
  };
}

async function prove(
  parts: Parts,
  path: PortalPath,
  told: { readonly headers: readonly Header[]; readonly logs: readonly RawLog[]; readonly filter: LogFilter },
  waiting: Waiting,
): Promise<void> {
  for (const { from, to, check } of parts.prover.runsOf(told.headers, told.logs, told.filter))
    await readBlocks(
      parts,
      {
        ...{ path, from, to, everyBlock: true, isKept: false },
        query: ALL_LOGS_QUERY,
        readLine: (line) => readLine(line, { logs: 'without-data', transactions: false }),
      },
      { add: check, rewind: undone },
      waiting,
    );
}

/** What was compared with undone blocks cannot be taken back: the read starts afresh. */
function undone(number: number): never {
  throw new ProviderContradiction('wrong-fork', `the blocks above ${number} were undone during the read`);
}

async function readTip(
  parts: Parts,
  finalityDepth: number,
): Promise<{ readonly head: BlockRef; readonly finalized: BlockRef }> {
  const [headAt, finalAt] = await Promise.all([parts.headOf('head'), parts.headOf('finalized-head')]);
  if (headAt === null) throw new RpcFailure('absent', 'the data set has no block');
  const head = await existing(parts, headAt);
  const number = Math.min(finalAt ?? Math.max(0, head.number - finalityDepth), head.number);
  return { head, finalized: number === head.number ? head : await existing(parts, number) };
}

async function existing(parts: Parts, number: number): Promise<BlockRef> {
  const block = await blockAt(parts, number);
  if (block === null) throw new RpcFailure('absent', `there is no block ${number} yet`);
  return block;
}

async function blockAt(parts: Parts, number: number): Promise<BlockRef | null> {
  const kept = keptBlocks();
  try {
    await readBlocks(
      parts,
      {
        ...{ path: 'stream', from: number, to: number, everyBlock: true, isKept: true },
        query: HEADERS_QUERY,
        readLine: (line) => readLine(line, { logs: 'none', transactions: false }),
      },
      kept.sink,
      { waitedMs: 0 },
    );
  } catch (error) {
    if (error instanceof RpcFailure && error.kind === 'absent') return null;
    throw error;
  }
  const header = kept.blocks[0]?.header;
  return header === undefined ? null : refOf(header);
}
