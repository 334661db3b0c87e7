import type { JsonRpc } from './json-rpc.ts';
import type { WitnessLog } from './settlement-proof.ts';

/** How many windows back from the head one look-up searches: over 50 hours on a chain of two-second blocks. */
const LOG_WINDOWS_MAX = 50;
/** Node clocks and ours differ, and block times round down. */
const CLOCK_SLACK_SECONDS = 120;

export interface LogSearch {
  readonly address: string;
  readonly topics: readonly (string | readonly string[])[];
  readonly sinceMs: number;
  /** Blocks per request. */
  readonly window: number;
}

/**
 * Searches back from the head until `find` has an answer, or until before `sinceMs`. Null: there is none in that time, or it
 * lies further back than may be searched.
 */
export async function searchBack<Found>(
  node: JsonRpc,
  { address, topics, sinceMs, window }: LogSearch,
  find: (logs: readonly WitnessLog[]) => Promise<Found | null>,
): Promise<Found | null> {
  const since = Math.floor(sinceMs / 1_000) - CLOCK_SLACK_SECONDS;
  let to = (await node.block('latest')).number;
  for (let windows = 0; windows < LOG_WINDOWS_MAX; windows++) {
    const from = Math.max(0, to - window + 1);
    const logs = await node.logs({ address, topics, from, to });
    const found = await find(logs.filter((log) => log.address === address));
    if (found !== null) return found;
    if (from === 0 || (await node.block(from)).timestamp < since) return null;
    to = from - 1;
  }
  return null;
}
