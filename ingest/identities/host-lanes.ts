import { setTimeout as delay } from 'node:timers/promises';

/**
 * Work on strangers' hosts, many hosts at once and each one slowly: what belongs to a host is done one after the other, with a
 * pause between, so that a registry full of agents of one small server does not become an attack on it.
 */

/** Between two requests to one host. */
const HOST_PAUSE_MS = 200;
/** IPFS is many hosts behind a gateway; this many share it. */
const GATEWAY_LANES = 4;

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
  if (/^\s*https?:/i.test(uri) && URL.canParse(uri)) return new URL(uri).host;
  return /^\s*(?:ipfs:|\/ipfs\/)/i.test(uri) ? `ipfs ${index % GATEWAY_LANES}` : `own ${index}`;
}

/** Works all lanes off, at most `concurrency` at once; throws what the work throws, after all others have stopped. */
export async function runLanes<T>(
  lanes: readonly (readonly T[])[],
  {
    concurrency,
    signal,
    pauseMs = HOST_PAUSE_MS,
  }: { readonly concurrency: number; readonly signal: AbortSignal; readonly pauseMs?: number },
  /** `before`: what the same lane has done already, newest last. */
  work: (item: T, before: readonly T[]) => Promise<void>,
): Promise<void> {
  // The longest first: the batch ends with the slowest host.
  const waiting = [...lanes].sort((one, other) => one.length - other.length);
  const worker = async (): Promise<void> => {
    for (let lane = waiting.pop(); lane !== undefined; lane = waiting.pop())
      for (const [index, item] of lane.entries()) {
        signal.throwIfAborted();
        if (index > 0) await delay(pauseMs, undefined, { signal });
        await work(item, lane.slice(0, index));
      }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
