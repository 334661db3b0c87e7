import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** `npm run demo -- --minutes N` as a user runs it, and what it prints for its visitors. */
export interface DemoProcess {
  /** What a visitor reads from the screen. */
  readonly printed: Printed;
  output(): string;
  readonly ended: Promise<number | null>;
  stop(): void;
}

export interface Printed {
  readonly api: string;
  readonly chain: string;
  readonly apiKey: string;
  readonly privateKey: `0x${string}`;
  /** URLs of the shops that can be paid for as they are. */
  readonly goods: readonly string[];
}

const MAIN = fileURLToPath(new URL('../../demo/main.ts', import.meta.url));
const START_TIMEOUT_MS = 300_000;
const POLL_MS = 200;
/** The last thing that the demo prints before it goes on. */
const READY = /^ {2}its key .*\n/m;

export async function startDemo(directory: string, minutes: number, seed: number): Promise<DemoProcess> {
  const args = ['--minutes', String(minutes), '--seed', String(seed), '--port', '0'];
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), MAIN, ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await untilReady(child, () => output);
  return {
    printed: readPrinted(output),
    output: () => output,
    ended,
    stop: () => void child.kill('SIGTERM'),
  };
}

async function untilReady(child: ChildProcess, output: () => string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!READY.test(output())) {
    if (child.exitCode !== null) throw new Error(`the demo ended at its start:\n${output()}`);
    if (performance.now() > deadline) throw new Error(`the demo does not start:\n${output()}`);
    await sleep(POLL_MS);
  }
}

function readPrinted(output: string): Printed {
  const read = (pattern: RegExp): string => {
    const [, text] = pattern.exec(output) ?? [];
    if (text === undefined) throw new Error(`the demo did not print ${String(pattern)}`);
    return text;
  };
  const goods = [...output.matchAll(/demo:pay -- '(http[^']+)'/g)].flatMap(([, url]) => url ?? []);
  const api = read(/^ {2}API +(\S+)\/v0$/m);
  return {
    api,
    chain: read(/^ {2}chain +(\S+)/m),
    apiKey: read(/X-API-Key: ([^']+)'/),
    privateKey: read(/^ {2}its key +(0x[0-9a-f]{64})/m) as Printed['privateKey'], // by the pattern
    goods: goods.filter((url) => !url.startsWith(api)),
  };
}
