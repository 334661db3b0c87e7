import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../core/process/free-port.ts';
import { startGuarded } from '../support/guarded-process.ts';
import { installPeer } from '../support/install-peer.ts';
import type { BenchContext } from '../support/run-bench.ts';
import type { ChainHistory } from './chain-history.ts';

export interface PonderRun {
  /** From the start of its sync to the moment it says ready; start-up and table creation are not counted. */
  readonly ms: number;
  readonly settlements: number;
}

const ROOT = fileURLToPath(new URL('./ponder', import.meta.url));
const BINARY_FILE = 'node_modules/ponder/dist/esm/bin/ponder.js';
const BINARY = join(ROOT, BINARY_FILE);
const RUN_TIMEOUT_MS = 900_000;
const SYNC_STARTED = /^Started '.*' historical sync/;
const READY = /responses from \/ready endpoint/;

/** Resolves with the reason why Ponder cannot be installed, or with undefined when it is there. */
export function installPonder(context: BenchContext): Promise<string | undefined> {
  return installPeer(context, { name: 'Ponder', root: ROOT, file: BINARY_FILE });
}

/** Lets Ponder index the history into a fresh database of its own. Throws when it fails or takes too long. */
export async function runPonder({ workspace }: BenchContext, history: ChainHistory): Promise<PonderRun> {
  const port = await freePort();
  const { from, to } = history.range();
  const times: { started?: number; ready?: number } = {};
  let markReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  const ponder = startGuarded({
    command: process.execPath,
    args: [
      BINARY,
      'start',
      '--root',
      ROOT,
      '--schema',
      'bench',
      '--port',
      String(port),
      '--hostname',
      '127.0.0.1',
      '--log-format',
      'json',
    ],
    cwd: ROOT,
    environment: {
      PONDER_TELEMETRY_DISABLED: 'true',
      PONDER_BENCH_DIR: mkdtempSync(join(workspace.dir, 'ponder-')),
      PONDER_BENCH_RPC_URL: history.chain.url,
      PONDER_BENCH_TOKEN: history.token,
      PONDER_BENCH_FROM: String(from),
      PONDER_BENCH_TO: String(to),
    },
    onLine(line) {
      const said = readLogLine(line);
      if (said === undefined) return;
      if (SYNC_STARTED.test(said.msg)) times.started = said.time;
      if (!READY.test(said.msg)) return;
      times.ready = said.time;
      markReady();
    },
  });
  workspace.defer(() => ponder.stop());
  try {
    await Promise.race([ready, refuseEnd(ponder.exited, ponder.lastLines), refuseAfter(RUN_TIMEOUT_MS)]);
    if (times.started === undefined || times.ready === undefined)
      throw new Error('Ponder did not log its sync');
    const response = await fetch(`http://127.0.0.1:${port}/count`);
    const { settlements } = (await response.json()) as { settlements: number }; // ponder/src/api/index.ts
    return { ms: times.ready - times.started, settlements };
  } finally {
    await ponder.stop();
  }
}

function readLogLine(line: string): { readonly time: number; readonly msg: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  const said = JSON.parse(line) as { time?: number; msg?: string }; // pino's format
  return said.time === undefined || said.msg === undefined ? undefined : { time: said.time, msg: said.msg };
}

async function refuseEnd(exited: Promise<number>, lastLines: () => readonly string[]): Promise<never> {
  const code = await exited;
  throw new Error(`Ponder ended with ${code}: ${lastLines().join(' ').slice(-1_000)}`);
}

function refuseAfter(ms: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`Ponder was not ready after ${ms / 1000} s`)), ms).unref();
  });
}
