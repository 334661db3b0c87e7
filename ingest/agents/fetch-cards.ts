import type { Writer } from '../../clickhouse/engine/engine.ts';
import { TABLES } from '../../clickhouse/tables/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { DocumentFetcher } from '../fetch/document-fetcher.ts';
import { laneOptions, lanesOf, runLanes } from '../fetch/host-lanes.ts';
import { CARD_TIMES, type RetryTimes } from '../fetch/retry-times.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import type { Versions } from '../write/versions.ts';
import { CARD_COLUMNS, type CardRow, encodeCards } from './card-row.ts';
import { createDomainProver } from './domain-proof.ts';
import { readDueCards } from './due-cards.ts';
import { type FetchCardDeps, failedRow, fetchCard } from './fetch-card.ts';
import { remapCards } from './remap-cards.ts';
import {
  collectRows,
  type FetchedBatch,
  type Look,
  lookedAtSince,
  QUEUE_LIMITS,
  type QueueLimits,
  runQueue,
} from './run-queue.ts';

/**
 * Fetches the cards of agents whose URI was never tried, has changed, or is due again. May be killed anywhere: what was not
 * written is still due.
 */

export interface CardQueueLimits extends QueueLimits {
  readonly times: RetryTimes;
}

const CARD_QUEUE_LIMITS: CardQueueLimits = { ...QUEUE_LIMITS, times: CARD_TIMES };

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
  const limits = { ...CARD_QUEUE_LIMITS, ...deps.limits };
  let isRemapped = false;
  await runQueue('agent cards', { ...deps, limits }, async (look) => {
    if (!isRemapped) await remapCards(deps);
    isRemapped = true;
    return fetchDueCards(deps, look);
  });
}

/** One batch: looks, fetches, writes. */
export async function fetchDueCards(deps: CardQueueDeps, look: Look = 'all'): Promise<FetchedBatch> {
  const { config, writer, clock, log, signal } = deps;
  const limits = { ...CARD_QUEUE_LIMITS, ...deps.limits };
  const beganMs = performance.now();
  const nowMs = clock.nowMs();
  const query = { now: Math.floor(nowMs / 1_000), since: lookedAtSince(look, nowMs) };
  const { due, total } = await untilAcknowledged(log, signal, () =>
    readDueCards(writer, { ...query, filesMax: limits.filesPerBatch }),
  );
  const lookedMs = performance.now() - beganMs;
  const cardDeps = cardDepsOf(deps, limits);
  const rows = collectRows<CardRow>(limits, (full) => saveCards(deps, full));
  const options = laneOptions(config.identities.fetchConcurrency, signal, limits);
  await runLanes(lanesOf(due), options, async (item, down) => {
    const row = down === null ? await fetchCard(item, cardDeps) : failedRow(item, down, cardDeps);
    await rows.add(row);
    return row.problem;
  });
  await rows.finish();
  return { fetched: rows.count(), total, lookedMs };
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

async function saveCards(
  { writer, versions, log, signal }: Pick<CardQueueDeps, 'writer' | 'versions' | 'log' | 'signal'>,
  rows: readonly CardRow[],
): Promise<void> {
  await untilAcknowledged(log, signal, () =>
    writer.insert('cards-save', TABLES.agentCards, CARD_COLUMNS, [encodeCards(rows, versions.next())]),
  );
}
