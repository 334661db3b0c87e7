import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { Overtaken } from '../../clickhouse/engine/guard.ts';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import { CHAIN_STATUS } from '../../clickhouse/tables/ingest-state.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import type { Versions } from '../write/versions.ts';
import { type ChainStatus, type Counters, newsKey, type StatusSnapshot } from './chain-status.ts';

/** How the state of a chain reaches the API (table `chain_status`) and the operator (progress lines). */

export interface ReportDeps {
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Writes a readable line; null without a terminal. */
  readonly terminal: ((line: string) => void) | null;
}

/** How often a change is looked for, how far apart changes are written for the API, and how often a row is written without a change. */
const STATUS_LOOK_MS = 250;
const STATUS_NEWS_MS = 1_000;
const STATUS_HEARTBEAT_MS = 2_000;

/** A status that cannot be written is not worth stopping for: the next one replaces it. */
export async function publishStatus(status: ChainStatus, deps: ReportDeps): Promise<void> {
  const { writer, versions, log, signal } = deps;
  let published: string | null = null;
  for (let silentMs = STATUS_HEARTBEAT_MS; !signal.aborted; silentMs += STATUS_LOOK_MS) {
    status.tick();
    const snapshot = status.snapshot();
    const isNews = silentMs >= STATUS_NEWS_MS && published !== newsKey(snapshot);
    if (isNews || silentMs >= STATUS_HEARTBEAT_MS) {
      published = newsKey(snapshot);
      silentMs = 0;
      await saveStatus(writer, versions, snapshot).catch((error: unknown) => {
        published = null;
        // Another process leads this chain and publishes its status now: the only error that stops the report.
        if (error instanceof Overtaken) throw error;
        log.warn({ err: error }, 'status not written');
      });
    }
    await delay(STATUS_LOOK_MS, undefined, { signal });
  }
}

const REPORT_EVERY_TERMINAL_MS = 2_000;
const REPORT_EVERY_LOG_MS = 10_000;
/** Between two lines that say the same of a chain that cannot be read. */
const REPORT_AGAIN_TERMINAL_MS = 60_000;

/** Reports the progress of the backfill, with an ETA: readable lines on a terminal, structured ones otherwise. */
export async function reportProgress(name: string, status: ChainStatus, deps: ReportDeps): Promise<void> {
  const { log, terminal, signal } = deps;
  const pace = createPace(() => performance.now());
  let wasFollowing = false;
  let said = { line: '', atMs: Number.NEGATIVE_INFINITY };
  const say = (line: string): void => {
    const atMs = performance.now();
    if (line === said.line && atMs - said.atMs < REPORT_AGAIN_TERMINAL_MS) return;
    said = { line, atMs };
    terminal?.(line);
  };
  while (!signal.aborted) {
    await delay(terminal ? REPORT_EVERY_TERMINAL_MS : REPORT_EVERY_LOG_MS, undefined, { signal });
    const snapshot = status.snapshot();
    const etaSeconds = pace.secondsLeft(snapshot);
    const isFollowing = snapshot.state === 'following' || snapshot.state === 'incomplete';
    // The end of the backfill is reported once.
    if (isFollowing && wasFollowing) continue;
    wasFollowing = isFollowing;
    if (terminal) say(progressLine(name, snapshot, etaSeconds));
    else log.info({ ...snapshot, chain: name, etaSeconds }, 'progress');
  }
}

/** How far back the pace is measured: windows end in bursts, and a range is checkpointed seconds after it was read. */
const PACE_MEMORY_MS = 60_000;

/** How fast a backfill comes to its end, by its checkpoints of the last minute. */
export function createPace(nowMs: () => number): {
  /** Seconds until it ends; null while nothing was finished. Remembers where the backfill is now. */
  secondsLeft(at: Pick<StatusSnapshot, 'backfillDone' | 'backfillTotal'>): number | null;
} {
  let seen: { readonly atMs: number; readonly done: number }[] = [];
  return {
    secondsLeft({ backfillDone: done, backfillTotal: total }) {
      const atMs = nowMs();
      // An operator who moves the first block back, or another start, begins a pace of its own.
      if ((seen.at(-1)?.done ?? 0) > done) seen = [];
      // The oldest one kept is at least a minute old, where there is one.
      while ((seen[1]?.atMs ?? atMs) <= atMs - PACE_MEMORY_MS) seen.shift();
      seen.push({ atMs, done });
      if (done >= total) return 0;
      const [first] = seen;
      const gained = first === undefined ? 0 : done - first.done;
      return first === undefined || gained <= 0
        ? null
        : Math.ceil(((total - done) * (atMs - first.atMs)) / gained / 1_000);
    },
  };
}

const SOURCE_WORDS = { portal: 'from the SQD Portal', rpc: 'over JSON-RPC' } as const;

export function progressLine(name: string, snapshot: StatusSnapshot, eta: number | null): string {
  const {
    backfillSource,
    state,
    backfillDone,
    backfillTotal,
    blocksPerSecond,
    rowsPerSecond,
    indexedBlock,
    headBlock,
  } = snapshot;
  if (state === 'unreachable')
    return `${name}: no node of this chain answers, at block ${indexedBlock}. Check the network, or name another node (rpcUrls of the chain, or RPC_URL_<chain id>); reading goes on by itself.`;
  if (state !== 'backfilling') return `${name}: ${state}, block ${indexedBlock} of ${headBlock}`;
  const percent = ((100 * backfillDone) / Math.max(1, backfillTotal)).toFixed(1);
  const source = backfillSource === '' ? '' : ` ${SOURCE_WORDS[backfillSource]}`;
  return `${name}: backfill ${percent} %${source}, ${Math.round(blocksPerSecond)} blocks/s, ${Math.round(rowsPerSecond)} rows/s, ETA ${eta === null ? 'unknown' : formatDuration(eta)}`;
}

/** A readable duration. */
export function formatDuration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

const MAX_SECONDS = 10;

export function saveStatus(
  writer: Writer,
  versions: Versions,
  snapshot: StatusSnapshot,
  nowMs: number = Date.now(),
): Promise<void> {
  const headSeenAt = Math.floor(snapshot.headSeenAtMs / 1000);
  return insertRows(writer, {
    name: 'save-status',
    table: CHAIN_STATUS,
    rows: [{ ...snapshot, headSeenAt }],
    fixed: { updatedAtMs: nowMs, ver: versions.next() },
  });
}

const COUNTERS = reading(CHAIN_STATUS, [
  'rows_written',
  'reorgs',
  'deepest_reorg',
  'retries',
  'contradictions',
  'dead_letters',
  'last_written_at',
  'indexed_block',
  'indexed_time',
  'finalized_block',
]);
const NO_COUNTERS: Counters = {
  rowsWritten: 0,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastWrittenAt: 0,
  indexedBlock: 0,
  indexedTime: 0,
  finalizedBlock: 0,
};

/** The counters of the last stored row, zero for a chain that was never indexed. */
export async function loadCounters(writer: Writer, chain: Chain): Promise<Counters> {
  const { rows } = await writer.rows({
    name: `load-status ${chain}`,
    sql: sql`SELECT ${COUNTERS.columns} FROM chain_status FINAL WHERE chain = ${text(chain)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const [row] = rows;
  return row === undefined ? NO_COUNTERS : COUNTERS.read(row);
}
