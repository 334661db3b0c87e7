import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../../../core/log.ts';
import { freePort } from '../../../core/process/free-port.ts';
import { openAccount } from '../../../demo/api-client.ts';
import { connectTo, type FuzzAnswer, type SentRequest } from '../http/send.ts';
import { ENTRIES, SAVED_QUERY } from './entries.ts';

/** A process that reads texts of strangers, with the processor time that its main thread spends on each. */
export interface Measured {
  readonly entries: readonly string[];
  /** Entries that do not answer as a reader of the text does, with their answers: their cost would be that of something else. */
  unreached(): Promise<readonly string[]>;
  /**
   * Milliseconds of its main thread, also where the answer is a refusal; null where it was too busy to read the text. Rejects where it
   * answers nothing any more.
   */
  cost(entry: string, text: string): Promise<number | null>;
  close(): Promise<void>;
}

/** A text that takes this long has stopped the process. */
const ANSWER_MAX_MS = 30_000;
const START_MAX_MS = 180_000;
const POLL_MS = 200;
const NS_PER_MS = 1e6;
const MANY = 1_000_000;
const FROM_SOURCE = ['--import', 'tsx'];

/** The whole service from its sources, with an engine and without a chain that could be read. */
export async function startService(): Promise<Measured> {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-cost-'));
  const port = await freePort();
  const file = join(dataDir, 'config.json');
  const plans = Object.fromEntries(
    ['free', 'pro', 'enterprise'].map((id) => [id, { requestsPerMinute: MANY }]),
  );
  writeFileSync(
    file,
    JSON.stringify({
      dataDir,
      logLevel: 'fatal',
      http: { port, requestsPerMinute: MANY },
      plans,
      payment: {
        facilitatorUrl: `http://127.0.0.1:${await freePort()}`,
        accept: [{ chain: 'base-sepolia', payTo: `0x${'1'.repeat(40)}` }],
      },
      chains: [{ chain: 'base-sepolia', rpcUrls: [`http://127.0.0.1:${await freePort()}`], startBlock: 0 }],
    }),
  );
  const { apiKey: key } = await openAccount(dataDir, createLog('silent', 'fuzz'));
  // As the child of a supervisor, which this process is: one of its own would answer nothing, and use no time.
  const child = spawn(process.execPath, [...FROM_SOURCE, 'src/main.ts', '--config', file, '--kept'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const connection = connectTo(port);
  const close = async (): Promise<void> => {
    connection.close();
    await end(child);
    rmSync(dataDir, { recursive: true, force: true });
  };
  const withKey = (request: SentRequest): SentRequest => ({
    ...request,
    headers: { 'x-api-key': key, ...request.headers },
  });
  const send = (name: string, text: string): Promise<FuzzAnswer> => {
    const entry = ENTRIES[name];
    if (entry === undefined) throw new Error(`no entry ${name}`);
    const request = entry.request(text);
    return connection.send(entry.isAnonymous ? request : withKey(request));
  };
  try {
    await untilServing(async () => (await connection.send(withKey(SAVED_QUERY))).status === 200, child);
  } catch (error) {
    await close();
    throw error;
  }
  const unreached = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const [name, { shown }] of Object.entries(ENTRIES)) {
      const [text, status, words = ''] = shown;
      const answer = await send(name, text);
      const body = answer.body.toString('utf8');
      if (answer.status !== status || !body.includes(words))
        found.push(`${name}: ${answer.status} ${body.slice(0, SHOWN_CHARS)}`);
    }
    return found;
  };
  const isRead = async (entry: string, text: string): Promise<boolean> => {
    try {
      return !TOO_BUSY.has((await send(entry, text)).status);
    } catch {
      // A connection that is cut, such as one whose headers are too long, is a refusal as long as the next request is answered.
      await connection.send(ANY_REQUEST);
      return true;
    }
  };
  const cost = (entry: string, text: string) => spent(child, () => isRead(entry, text));
  return { entries: Object.keys(ENTRIES), unreached, cost, close };
}

const ANY_REQUEST: SentRequest = { method: 'GET', target: '/v0/telemetry', headers: {}, body: null };
const SHOWN_CHARS = 300;
const TOO_BUSY: ReadonlySet<number> = new Set([429, 503, 504]);

/** The readers of files that strangers publish. */
export async function startReaders(): Promise<Measured> {
  const child = spawn(process.execPath, [...FROM_SOURCE, 'test/kit/read-files-child.ts'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [entries] = await once(child, 'message', { signal: AbortSignal.timeout(START_MAX_MS) });
  return {
    entries: entries as string[], // its first message
    unreached: () => Promise.resolve([]),
    cost: (reader, file) =>
      spent(child, async () => {
        const read = once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
        child.send({ reader, file });
        await read;
        return true;
      }),
    close: () => end(child),
  };
}

async function spent(child: ChildProcess, ask: () => Promise<boolean>): Promise<number | null> {
  const before = processorNs(child);
  const wasRead = await ask();
  const ns = processorNs(child) - before;
  if (ns === 0) throw new Error('another process than the measured one answers');
  return wasRead ? ns / NS_PER_MS : null;
}

/** Of its main thread alone: the loop that every other caller waits for. Waiting for a processor does not count. */
function processorNs({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]);
}

async function untilServing(isServing: () => Promise<boolean>, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MAX_MS;
  while (!(await isServing().catch(() => false))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('the service did not start');
    await delay(POLL_MS);
  }
}

const STOP_MAX_MS = 20_000;

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS);
  await ended;
  clearTimeout(timer);
}
