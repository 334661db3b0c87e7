import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine.ts';
import { TABLES } from '../../clickhouse/schema.ts';
import type { Clock } from '../../src/clock.ts';
import type { Config } from '../../src/config/config.ts';
import type { Log } from '../../src/log.ts';
import { untilAcknowledged } from '../until-acknowledged.ts';
import type { Versions } from '../versions.ts';
import { reportBacklog } from './backlog.ts';
import { CARD_COLUMNS, type CardRow, encodeCards } from './card-row.ts';
import type { DocumentFetcher } from './document-fetcher.ts';
import { createDomainProver } from './domain-proof.ts';
import { type DueCard, readDueCards } from './due-cards.ts';
import { type FetchCardDeps, failedRow, fetchCard } from './fetch-card.ts';
import { lanesOf, runLanes } from './host-lanes.ts';
import { remapCards } from './remap-cards.ts';
import { CARD_TIMES, type RetryTimes } from './retry-times.ts';

/**
 * Fetches the cards of agents whose URI was never tried, has changed, or is due again. May be killed anywhere: what was not
 * written is still due.
 */

export interface CardQueueLimits {
  /** After a batch with nothing left over. */
  readonly pollMs: number;
  /** The queue rests this many times as long as it looked: looking for nothing must not take a core. */
  readonly restFactor: number;
  readonly cardsPerBatch: number;
  readonly cardsPerInsert: number;
  readonly hostPauseMs?: number;
  readonly times: RetryTimes;
}

export const CARD_QUEUE_LIMITS: CardQueueLimits = {
  pollMs: 1_000,
  restFactor: 20,
  cardsPerBatch: 400,
  cardsPerInsert: 100,
  times: CARD_TIMES,
};

export interface CardQueueDeps {
  readonly config: Pick<Config, 'chains' | 'identities'>;
  readonly fetcher: DocumentFetcher;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits?: Partial<CardQueueLimits>;
}

/** Until the signal aborts. */
export async function fetchCards(deps: CardQueueDeps): Promise<void> {
  const { log, signal } = deps;
  const limits = { ...CARD_QUEUE_LIMITS, ...deps.limits };
  const backlog = reportBacklog('agent cards', log);
  try {
    await remapCards(deps);
    while (!signal.aborted) {
      const { fetched, total, lookedMs } = await fetchDueCards(deps);
      backlog.tell(total, fetched);
      const restMs =
        fetched < total && fetched > 0 ? 0 : Math.max(limits.pollMs, lookedMs * limits.restFactor);
      await delay(restMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

export interface FetchedBatch {
  readonly fetched: number;
  /** All that were due when it began. */
  readonly total: number;
  readonly lookedMs: number;
}

/** One batch: looks, fetches, writes. */
export async function fetchDueCards(deps: CardQueueDeps): Promise<FetchedBatch> {
  const { config, writer, clock, log, signal } = deps;
  const limits = { ...CARD_QUEUE_LIMITS, ...deps.limits };
  const beganMs = performance.now();
  const now = Math.floor(clock.nowMs() / 1_000);
  const { due, total } = await untilAcknowledged(log, signal, () =>
    readDueCards(writer, limits.cardsPerBatch, now),
  );
  const lookedMs = performance.now() - beganMs;
  const cardDeps = cardDepsOf(deps, limits);
  const rows = new Map<DueCard, CardRow>();
  const unwritten: CardRow[] = [];
  const { fetchConcurrency: concurrency } = config.identities;
  const pauseMs = limits.hostPauseMs === undefined ? {} : { pauseMs: limits.hostPauseMs };
  await runLanes(lanesOf(due), { concurrency, signal, ...pauseMs }, async (item, before) => {
    const problem = hostProblem(before.slice(-HOST_DOWN_AFTER).map((one) => rows.get(one)));
    const row = problem === null ? await fetchCard(item, cardDeps) : failedRow(item, problem, cardDeps);
    rows.set(item, row);
    unwritten.push(row);
    if (unwritten.length >= limits.cardsPerInsert) await saveCards(deps, unwritten.splice(0));
  });
  await saveCards(deps, unwritten);
  return { fetched: due.length, total, lookedMs };
}

function cardDepsOf(
  { config, fetcher, clock, signal }: CardQueueDeps,
  limits: CardQueueLimits,
): FetchCardDeps {
  const registries = new Map(config.chains.map(({ chain, registries: { identity } }) => [chain, identity]));
  return {
    fetcher,
    prover: createDomainProver(fetcher, signal),
    registryOf: (chain) => registries.get(chain),
    isTrial: config.identities.allowPrivateHosts,
    times: limits.times,
    now: () => Math.floor(clock.nowMs() / 1_000),
    signal,
  };
}

/** Problems of a host, not of a file. */
const HOST_PROBLEMS: ReadonlySet<string> = new Set(['timeout', 'unreachable', 'name_not_found']);
const HOST_DOWN_AFTER = 3;

/**
 * What the last tries of a host failed by, when it was the same every time: whoever else is waiting for it in this batch need
 * not find out by himself. Gateways stand for many hosts; for them it says nothing.
 */
function hostProblem(last: readonly (CardRow | undefined)[]): string | null {
  const [first] = last;
  if (first === undefined || last.length < HOST_DOWN_AFTER || !/^\s*https?:/i.test(first.uri)) return null;
  const isSame = HOST_PROBLEMS.has(first.problem) && last.every((row) => row?.problem === first.problem);
  return isSame ? first.problem : null;
}

/** Also for whoever changes cards without fetching. */
export async function saveCards(
  { writer, versions, log, signal }: Pick<CardQueueDeps, 'writer' | 'versions' | 'log' | 'signal'>,
  rows: readonly CardRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await untilAcknowledged(log, signal, () =>
    writer.insert('cards-save', TABLES.agentCards, CARD_COLUMNS, [encodeCards(rows, versions.next())]),
  );
}
