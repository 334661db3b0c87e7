import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../lab/processes.ts';
import type { Workspace } from '../lab/run.ts';

const SCRIPT = fileURLToPath(new URL('./requests.lua', import.meta.url));
/** wrk counts an answer that takes longer as a time-out; the service's own longest run is 25 s. */
const ANSWER_TIMEOUT_SECONDS = 30;

/** One request that wrk sends. A body is JSON. */
export interface Asked {
  readonly path: string;
  readonly body?: object;
}

/** What is sent over some connections: each has one request in flight at a time. */
export interface Stream {
  /** Sent in turn, the same ones each time. */
  readonly requests: readonly Asked[];
  readonly connections: number;
  /** Before each request; 0 when not given. */
  readonly pauseMs?: number;
}

/** The answers over some connections in some time. */
export interface Answers {
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** 429 and 503 without `Retry-After`. */
  readonly withoutRetryAfter: number;
  /** Refusals that were no problem documents. */
  readonly withoutProblem: number;
  readonly ms: number;
  /** Connections that could not be opened, read or written. */
  readonly broken: number;
  readonly timeouts: number;
  /** The first answer that was neither good nor a 429 or 503; '' for none. */
  readonly odd: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Throws, with what to install, where wrk is not on the path. */
export function requireWrk(): void {
  // It prints its version and ends with 1.
  if (spawnSync('wrk', ['--version']).error === undefined) return;
  throw new Error('wrk is not on the path. Install it: apt-get install wrk');
}

let files = 0;

/** Sends the requests with the keys in turn. */
export async function runWrk(
  workspace: Workspace,
  target: { readonly url: string; readonly keys: readonly string[]; readonly seconds: number },
  { requests, connections, pauseMs = 0 }: Stream,
): Promise<Answers> {
  const { url, keys, seconds } = target;
  files += 1;
  const file = join(workspace.dir, `requests-${files}.txt`);
  // As many rounds as there are keys: every request is asked with each of them.
  const lines = keys.flatMap((_, round) =>
    requests.map(({ path, body }, index) => {
      const key = keys[(index + round) % keys.length] ?? '';
      return body === undefined ? `${key} GET ${path}` : `${key} POST ${path} ${JSON.stringify(body)}`;
    }),
  );
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  const args = [
    ...['--threads', '1', '--connections', String(connections), '--duration', `${seconds}s`],
    ...['--timeout', `${ANSWER_TIMEOUT_SECONDS}s`, '--script', SCRIPT, url, '--', file, String(pauseMs)],
  ];
  const wrk = startProcess(workspace, { command: 'wrk', args });
  const code = await wrk.exited;
  const last = wrk.lastLines().findLast((line) => line.startsWith('{'));
  if (code !== 0 || last === undefined)
    throw new Error(`wrk ended with ${code}: ${wrk.lastLines().join(' | ')}`);
  const odd = wrk.lastLines().find((line) => line.startsWith('odd: ')) ?? '';
  return { ...JSON.parse(last), odd } as Answers; // our own script prints it
}

export const isGood = (status: number): boolean => status === 200;

/** Of all these connections together. */
export function countOf(answers: readonly Answers[], wanted: (status: number) => boolean): number {
  return answers
    .flatMap(({ statuses }) => Object.entries(statuses))
    .reduce((sum, [status, count]) => sum + (wanted(Number(status)) ? count : 0), 0);
}

export function rateOf(answers: Answers, wanted: (status: number) => boolean): number {
  return (countOf([answers], wanted) / answers.ms) * 1_000;
}

export function brokenOf(answers: readonly Answers[]): number {
  return answers.reduce((sum, { broken, timeouts }) => sum + broken + timeouts, 0);
}
