import { setTimeout as delay } from 'node:timers/promises';
import { runPool } from '../../core/process/pool.ts';

/**
 * Requests to third-party hosts, to many hosts at once but slowly to each: requests to one host are sequential with pauses, so that a
 * registry full of agents on one small server does not become an attack on it.
 */

/** Between two requests to one host. */
const HOST_PAUSE_MS = 200;
/** Time limit of a batch, so that a newly registered agent does not wait for every host that times out. */
const BEGIN_WITHIN_MS = 30_000;
/** Concurrent IPFS requests: a gateway stands for many hosts. */
const GATEWAY_LANES = 4;

export function laneOptions(
  concurrency: number,
  signal: AbortSignal,
  { hostPauseMs }: { readonly hostPauseMs?: number },
): LaneOptions {
  return { concurrency, signal, ...(hostPauseMs === undefined ? {} : { pauseMs: hostPauseMs }) };
}

export interface LaneItem {
  readonly uri: string;
}

/** Groups items by host; an item without a host (`data:`) gets a lane of its own. */
export function lanesOf<T extends LaneItem>(items: readonly T[]): readonly (readonly T[])[] {
  const lanes = new Map<string, T[]>();
  for (const [index, item] of items.entries()) {
    const key = laneOf(item.uri, index);
    const lane = lanes.get(key) ?? [];
    lane.push(item);
    lanes.set(key, lane);
  }
  return [...lanes.values()];
}

function laneOf(uri: string, index: number): string {
  if (isWeb(uri) && URL.canParse(uri)) return new URL(uri).host;
  return /^\s*(?:ipfs:|\/ipfs\/)/i.test(uri) ? `ipfs ${index % GATEWAY_LANES}` : `own ${index}`;
}

/** Problems of a host, not of a file. */
const HOST_PROBLEMS: ReadonlySet<string> = new Set(['timeout', 'unreachable', 'name_not_found']);
const HOST_DOWN_AFTER = 3;

export interface LaneOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly pauseMs?: number;
  /** No item starts after this time. */
  readonly beginWithinMs?: number;
}

/**
 * Processes the lanes, at most `concurrency` at once, until they are done or the time is over. `work` returns the problem of an item,
 * or ''. Once the last few items of a host have failed with the same problem, `work` gets that problem as `down`, so that the rest need
 * not wait for it again. After the first error no further item starts and pauses end; the error is thrown once all others have stopped.
 */
export async function runLanes<T extends LaneItem>(
  lanes: readonly (readonly T[])[],
  { concurrency, signal, pauseMs = HOST_PAUSE_MS, beginWithinMs = BEGIN_WITHIN_MS }: LaneOptions,
  work: (item: T, down: string | null) => Promise<string>,
): Promise<void> {
  // The longest first, because the batch ends with the slowest host.
  const longestFirst = [...lanes].sort((one, other) => other.length - one.length);
  const endMs = performance.now() + beginWithinMs;
  await runPool(longestFirst, { width: concurrency, signal }, async (lane, until) => {
    const problems: string[] = [];
    for (const [index, item] of lane.entries()) {
      until.throwIfAborted();
      if (performance.now() > endMs) return;
      const down = hostProblem(item, problems);
      if (index > 0 && down === null) await delay(pauseMs, undefined, { signal: until });
      problems.push(await work(item, down));
    }
  });
}

/** Gateways stand for many hosts: a missing file says nothing about the next one. */
function hostProblem(item: LaneItem, problems: readonly string[]): string | null {
  const last = problems.slice(-HOST_DOWN_AFTER);
  const [first = ''] = last;
  if (last.length < HOST_DOWN_AFTER || !HOST_PROBLEMS.has(first) || !isWeb(item.uri)) return null;
  return last.every((problem) => problem === first) ? first : null;
}

function isWeb(uri: string): boolean {
  return /^\s*https?:/i.test(uri);
}
