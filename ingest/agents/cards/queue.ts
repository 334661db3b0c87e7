import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../../clickhouse/engine/sql.ts';
import { AGENTS } from '../../../clickhouse/tables/agents.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Config } from '../../../core/config/config.ts';
import type { AgentService } from '../../../core/domain/agent.ts';
import { CAPABILITY_RULE_VERSION } from '../../../core/domain/capability.ts';
import type { Log } from '../../../core/log.ts';
import type { DocumentFetcher } from '../../fetch/document.ts';
import { laneOptions, lanesOf, runLanes } from '../../fetch/host-lanes.ts';
import { CARD_TIMES, type RetryTimes } from '../../fetch/retry-times.ts';
import { untilAcknowledged } from '../../write/batch-writer.ts';
import type { Versions } from '../../write/versions.ts';
import type { WriteWatch } from '../../write/watch-writes.ts';
import {
  collectRows,
  type FetchedBatch,
  type Look,
  lookedAtSince,
  QUEUE_LIMITS,
  type QueueLimits,
  runQueue,
} from '../queue.ts';
import { cardCapabilities, createDomainProver, type FetchCardDeps, failedRow, fetchCard } from './fetch.ts';
import { CARD_ROW, type CardRow, readCardRow, readDueCards, saveCardRows } from './row.ts';

/**
 * Fetches the cards of agents whose URI was never tried, has changed, or is due again. Can be killed at any point: a card that was
 * not written is still due.
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
  /** Default: other processes write too. */
  readonly writes?: WriteWatch;
}

/** Until the signal aborts. */
export async function fetchCards(deps: CardQueueDeps): Promise<void> {
  const limits = { ...CARD_QUEUE_LIMITS, ...deps.limits };
  let isRemapped = false;
  await runQueue('agent cards', { ...deps, limits, tables: [AGENTS.name] }, async (look) => {
    if (!isRemapped) await remapCards(deps);
    isRemapped = true;
    return fetchDueCards(deps, look);
  });
}

/** One batch: selects, fetches, writes. */
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
    saveCardRows(writer, { name: 'cards-save', rows, ver: versions.next() }),
  );
}

const CARDS_PER_BATCH = 1_000;
const MAX_SECONDS = 60;

/**
 * Maps the stored cards of an older rule version to capabilities again. Runs before any card is fetched, so that nothing else writes
 * their rows. Returns how many.
 */
export async function remapCards(deps: {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
}): Promise<number> {
  const { writer, versions, log, signal } = deps;
  for (let remapped = 0; ; ) {
    const rows = await untilAcknowledged(log, signal, () => readOutdated(writer));
    if (rows.length === 0) {
      if (remapped > 0)
        log.info({ cards: remapped, rule: CAPABILITY_RULE_VERSION }, 'cards mapped by the new rule');
      return remapped;
    }
    await untilAcknowledged(log, signal, () =>
      saveCardRows(writer, { name: 'cards-remap', rows: rows.map(remap), ver: versions.next() }),
    );
    remapped += rows.length;
  }
}

async function readOutdated(writer: Writer): Promise<readonly CardRow[]> {
  const outdated = sql`(SELECT chain, agent_id FROM agent_cards FINAL
    WHERE good_at != 0 AND del = 0 AND rule_version != ${uint32(CAPABILITY_RULE_VERSION)} LIMIT ${uint32(CARDS_PER_BATCH)})`;
  const { rows } = await writer.rows({
    name: 'cards-outdated',
    sql: sql`SELECT ${CARD_ROW} FROM (SELECT * FROM agent_cards FINAL WHERE (chain, agent_id) IN ${outdated}) AS c`,
    maxSeconds: MAX_SECONDS,
    maxRows: CARDS_PER_BATCH,
  });
  return rows.map(readCardRow);
}

function remap(row: CardRow): CardRow {
  const services: AgentService[] = JSON.parse(row.card.services); // ours: written by saveCardRows
  const capabilities = cardCapabilities({ ...row.card, services });
  return { ...row, card: { ...row.card, capabilities, ruleVersion: CAPABILITY_RULE_VERSION } };
}
