import { setTimeout as delay } from 'node:timers/promises';

/**
 * Work on hosts of others, many hosts at once and each one slowly: what belongs to a host is done one after the other, with a
 * pause between, so that a registry full of agents of one small server does not become an attack on it.
 */

/** Between two requests to one host. */
const HOST_PAUSE_MS = 200;
/** So that an agent that is registered while hosts time out does not wait for all of them. */
const BEGIN_WITHIN_MS = 30_000;
/** IPFS is many hosts behind a gateway; this many share it. */
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

/** The items by the host that they go to; those that go nowhere (`data:`) are a lane each. */
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
  /** Nothing is begun after this: what came meanwhile is looked at again. */
  readonly beginWithinMs?: number;
}

/**
 * Works the lanes off, at most `concurrency` at once, until they are done or the time is over. `work` answers how an item failed,
 * '' when it did not. Once the last few of a host failed by the same problem, `work` gets that problem as `down`, so that the rest
 * need not wait for it again. Throws what the work throws first, after all others have stopped: nothing more is begun, and their
 * pauses end.
 */
export async function runLanes<T extends LaneItem>(
  lanes: readonly (readonly T[])[],
  { concurrency, signal, pauseMs = HOST_PAUSE_MS, beginWithinMs = BEGIN_WITHIN_MS }: LaneOptions,
  work: (item: T, down: string | null) => Promise<string>,
): Promise<void> {
  // The longest first: the batch ends with the slowest host.
  const waiting = [...lanes].sort((one, other) => one.length - other.length);
  const endMs = performance.now() + beginWithinMs;
  const failing = new AbortController();
  const until = AbortSignal.any([signal, failing.signal]);
  const runLane = async (lane: readonly T[]): Promise<void> => {
    const problems: string[] = [];
    for (const [index, item] of lane.entries()) {
      until.throwIfAborted();
      if (performance.now() > endMs) return;
      const down = hostProblem(item, problems);
      if (index > 0 && down === null) await delay(pauseMs, undefined, { signal: until });
      problems.push(await work(item, down));
    }
  };
  const worker = async (): Promise<void> => {
    try {
      for (let lane = waiting.pop(); lane !== undefined; lane = waiting.pop()) await runLane(lane);
    } catch (error) {
      failing.abort(error);
      throw error;
    }
  };
  await Promise.allSettled(Array.from({ length: concurrency }, worker));
  // The reason of the first failure: what the others threw is only that they were stopped.
  until.throwIfAborted();
}

/** Gateways stand for many hosts: what one of them cannot find says nothing about the next. */
function hostProblem(item: LaneItem, problems: readonly string[]): string | null {
  const last = problems.slice(-HOST_DOWN_AFTER);
  const [first = ''] = last;
  if (last.length < HOST_DOWN_AFTER || !HOST_PROBLEMS.has(first) || !isWeb(item.uri)) return null;
  return last.every((problem) => problem === first) ? first : null;
}

function isWeb(uri: string): boolean {
  return /^\s*https?:/i.test(uri);
}
