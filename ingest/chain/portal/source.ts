import type { ChainConfig } from '../../../core/config/chains.ts';
import type { Hash } from '../../../core/domain/account.ts';
import type { Log } from '../../../core/log.ts';
import { backOffMs, retry } from '../../../core/process/retry.ts';
import {
  type BlockBatch,
  type BlockReader,
  type BlockRef,
  type Header,
  type LogFilter,
  type RawLog,
  ReadAbandoned,
  type ReceiptFacts,
  type TransactionFacts,
} from '../block-source.ts';
import { checkAsked, checkLinks, orderLogs } from '../check-batch.ts';
import { record, refOf } from '../read-answers.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import { createRateLimit, type RateLimitOf } from '../rpc/limits.ts';
import type { Trouble } from '../rpc/pool.ts';
import {
  createPortalClient,
  PORTAL_LIMITS,
  type PortalClient,
  type PortalLimits,
  type Waiting,
} from './client.ts';
import { createPortalProver, type PortalProver } from './prove.ts';
import { ALL_LOGS_QUERY, HEADERS_QUERY, settlementQuery, transactionsQuery } from './queries.ts';
import { type Ask, type ReadDeps, readBlocks, type Sink } from './read-blocks.ts';
import { naturalOf, type PortalBlock, type PortalTransaction } from './read-line.ts';

export interface PortalSourceDeps {
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** Called for every failed request and contradiction; `provider` is a host, never a URL. */
  readonly onRetry?: (trouble: Trouble, provider: string) => void;
  readonly onExchange?: (provider: string, calls: number, startedMs: number) => void;
  readonly limits?: Partial<PortalLimits>;
  /** Counts requests together with other chains and processes; absent: this source alone. */
  readonly rateLimitOf?: RateLimitOf | undefined;
}

export interface PortalConfig extends Pick<ChainConfig, 'completeness' | 'finalityDepth'> {
  /** URL of the Portal, without the data set: chains of one Portal share its limit. */
  readonly portalUrl: string;
  readonly dataset: string;
  readonly requestsPer10Seconds: number;
}

export interface PortalSource extends BlockReader {
  /** The newest final block that the Portal serves; asks for it only if it is not known to be at least `number`. */
  finalizedAtLeast(number: number): Promise<number>;
}

/**
 * The history of a chain over the SQD Portal protocol. A range is one stream of lines, with the transactions and what they cost, and a
 * second one that proves it; see prove.ts. The checks are those of every source, so a Portal that loses logs or mixes forks is found out.
 * Cost of `read`: two requests, more where the Portal ends its answers early.
 */
export function createPortalSource(config: PortalConfig, deps: PortalSourceDeps): PortalSource {
  const limits = { ...PORTAL_LIMITS, ...deps.limits };
  const { signal, log } = deps;
  const { portalUrl, dataset } = config;
  const perSecond = perSecondOf(config.requestsPer10Seconds);
  const client = createPortalClient(`${portalUrl.replace(/\/$/, '')}/datasets/${dataset}`, {
    limits,
    rate: deps.rateLimitOf?.(portalUrl, perSecond) ?? createRateLimit(perSecond),
    signal,
    onExchange: deps.onExchange,
  });
  const counters = { retries: 0, contradictions: 0, contradictedAtMs: 0 };
  const note = (trouble: Trouble): void => {
    counters.retries++;
    if (trouble instanceof ProviderContradiction) {
      counters.contradictions++;
      counters.contradictedAtMs = Date.now();
      log.warn({ provider: client.name, kind: trouble.kind }, `provider contradiction: ${trouble.message}`);
    } else
      log.debug({ provider: client.name, kind: trouble.kind }, `Portal request failed: ${trouble.message}`);
    deps.onRetry?.(trouble, client.name);
  };
  const parts: Parts = {
    ...{ client, limits, signal, onRetry: note, note },
    prover: createPortalProver(log),
    isAlwaysProved: config.completeness === 'every-block',
  };
  const afresh = <T>(
    work: () => Promise<T>,
    abandoned?: (cause: unknown) => Error,
    attemptsMax = Number.POSITIVE_INFINITY,
  ) =>
    retry(work, {
      signal,
      pauseMs(error, failures) {
        if (!(error instanceof RpcFailure || error instanceof ProviderContradiction)) return null;
        note(error);
        if (abandoned !== undefined && failures >= attemptsMax) throw abandoned(error);
        const { backOffFirstMs: firstMs, backOffMaxMs: maxMs } = limits;
        return (
          (error instanceof RpcFailure ? error.retryAfterMs : null) ?? backOffMs(failures, { firstMs, maxMs })
        );
      },
    });
  return {
    tip: () => afresh(() => readTip(parts, config.finalityDepth)),
    blockAt: (number) => afresh(() => blockAt(parts, number)),
    read: (from, to, filter, options) =>
      afresh(
        () => readRange(parts, { from, to }, filter, parts.isAlwaysProved || options?.everyHeader === true),
        (cause) => new ReadAbandoned(from, to, cause),
        options?.freshStartsMax,
      ),
    async finalizedAtLeast(number) {
      if (client.finalizedSeen() < number) await headOf(client, 'finalized-head');
      return client.finalizedSeen();
    },
    counters: () => ({ ...counters, calls: client.calls() }),
  };
}

/** Evenly spaced, one request fewer: then no ten seconds hold more than permitted, wherever they begin. */
function perSecondOf(per10Seconds: number): number {
  return Math.max(1, per10Seconds - 1) / 10;
}

interface Parts extends ReadDeps {
  readonly client: PortalClient;
  readonly prover: PortalProver;
  readonly note: (trouble: Trouble) => void;
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
      parts: { logs: 'with-data', transactions: true },
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
function keptBlocks(): { readonly blocks: PortalBlock[]; readonly sink: Sink } {
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
  path: Ask['path'],
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
        parts: { logs: 'none', transactions: true },
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
  path: Ask['path'],
  told: { readonly headers: readonly Header[]; readonly logs: readonly RawLog[]; readonly filter: LogFilter },
  waiting: Waiting,
): Promise<void> {
  for (const { from, to, check } of parts.prover.runsOf(told.headers, told.logs, told.filter))
    await readBlocks(
      parts,
      {
        ...{ path, from, to, everyBlock: true, isKept: false },
        query: ALL_LOGS_QUERY,
        parts: { logs: 'without-data', transactions: false },
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
  const [headAt, finalAt] = await Promise.all([
    headOf(parts.client, 'head'),
    headOf(parts.client, 'finalized-head'),
  ]);
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

async function headOf(client: PortalClient, path: 'head' | 'finalized-head'): Promise<number | null> {
  const answer = await client.get(path, { waitedMs: 0 });
  if (answer === null) return null;
  const number = naturalOf(record(answer, path)['number'], path);
  if (path === 'finalized-head') client.sawFinalized(number);
  return number;
}

async function blockAt(parts: Parts, number: number): Promise<BlockRef | null> {
  const kept = keptBlocks();
  try {
    await readBlocks(
      parts,
      {
        ...{ path: 'stream', from: number, to: number, everyBlock: true, isKept: true },
        query: HEADERS_QUERY,
        parts: { logs: 'none', transactions: false },
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
