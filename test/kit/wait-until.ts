import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
/** Moments on an idle machine; below the time-outs of the tests, so that it is this wait that says what was missing. */
const CONDITION_WITHIN_MS = 60_000;

/** Polls until the condition holds; throws with `what` when it does not within `timeoutMs`. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = CONDITION_WITHIN_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(POLL_MS);
  }
}

/** What one look at some work says: whether it is done, and how far it has come, in words. */
export interface Look {
  readonly done: boolean;
  readonly at: string;
}

/** Longer than any one step of the work may take: a few requests in a row that are never answered, a restart on a busy machine. */
const STANDSTILL_MS = 120_000;
/** A look may ask for every row: more often would keep the machine from the work itself. */
const LOOK_EVERY_MS = 50;

/**
 * Waits for work whose length is a matter of chance and of how busy the machine is: as long as it gets on, and no longer than
 * `standstillMs` after it last did. Where it has been before is no progress, so that work in circles is given up as well. A
 * look that throws says nothing. The error tells where the work stands.
 */
export async function waitWhileItGetsOn(
  what: string,
  look: () => Promise<Look>,
  standstillMs = STANDSTILL_MS,
): Promise<void> {
  const seen = new Set<string>();
  let at = 'nowhere';
  let problem: unknown;
  for (let newsMs = performance.now(); ; await sleep(LOOK_EVERY_MS)) {
    const found = await look().catch((error: unknown) => {
      problem = error;
      return null;
    });
    if (found?.done) return;
    if (found !== null) {
      if (!seen.has(found.at)) newsMs = performance.now();
      seen.add(found.at);
      at = found.at;
      problem = undefined;
    }
    // Only after a look: a machine that kept us from looking is no standstill of the work.
    if (performance.now() - newsMs > standstillMs) break;
  }
  const elapsed = `${standstillMs} ms without progress, after ${seen.size} steps`;
  throw new Error(`gave up waiting until ${what}: ${elapsed}, at: ${at}`, { cause: problem });
}

/** Whether a process exists and is not merely waiting to be reaped, as the child of a killed parent may be in a container. */
export function isRunning(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
}
