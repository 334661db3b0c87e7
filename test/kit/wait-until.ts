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

/** Whether a process exists and is not merely waiting to be reaped, as the child of a killed parent may be in a container. */
export function isRunning(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
}
