import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compiledSources } from './compile-sources.ts';
import { waitUntil } from './wait-until.ts';

/** The demo as its users run it, in a directory of its own, with every process that it starts kept in mind. */

const SOURCES = fileURLToPath(new URL('../../', import.meta.url));
/** For the demo to say that everything runs, on a busy machine. */
export const DEMO_START_TIMEOUT_MS = 400_000;
/** Often enough to see every process that lives for a second. */
const WATCH_EVERY_MS = 250;

export interface DemoRun {
  readonly child: ChildProcess;
  output(): string;
  readonly ended: Promise<number | null>;
  /** Processes that the demo or one of its children ever started and that still run. */
  survivors(): Promise<string[]>;
  /** Waits for a text; throws when the demo ends without it. */
  says(text: string): Promise<void>;
}

export interface DemoRuns {
  readonly directory: string;
  /** From its sources, as `npm run demo` starts it. */
  fromSources(...args: string[]): DemoRun;
  /** The same, compiled: each of its seven processes starts in half the time. */
  compiled(...args: string[]): DemoRun;
  /** Kills the processes that are left, and removes the directory. */
  close(): Promise<void>;
}

export function demoRuns(): DemoRuns {
  const directory = mkdtempSync(join(tmpdir(), 'demo-test-'));
  const runs: DemoRun[] = [];
  const start = (command: readonly string[]): DemoRun => {
    const run = runIn(directory, command);
    runs.push(run);
    return run;
  };
  return {
    directory,
    fromSources: (...args) =>
      start(['--import', import.meta.resolve('tsx'), join(SOURCES, 'demo/main.ts'), ...args]),
    compiled: (...args) => start([join(compiledSources(), 'demo/main.js'), ...args]),
    async close() {
      for (const { child, ended, survivors } of runs.splice(0)) {
        child.kill('SIGKILL');
        await ended;
        // The tests assert that nothing is left; here a failed one is cleaned up after.
        for (const survivor of await survivors()) process.kill(Number.parseInt(survivor, 10), 'SIGKILL');
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The text that the demo prints after a name: `printed(run, 'API')`. */
export function printed(run: DemoRun, name: string): string {
  const [, value] = new RegExp(`^  ${name} +(\\S+)`, 'm').exec(run.output()) ?? [];
  if (value === undefined) throw new Error(`the demo did not print "${name}":\n${run.output()}`);
  return value;
}

function runIn(directory: string, command: readonly string[]): DemoRun {
  const child = spawn(process.execPath, command, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const family = watchFamily(child.pid ?? 0);
  let over = false;
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      over = true;
      family.stopLooking();
      resolve(code);
    }),
  );
  return {
    child,
    output: () => output,
    ended,
    survivors: family.survivors,
    async says(text) {
      await waitUntil(`the demo says "${text}"`, () => over || output.includes(text), DEMO_START_TIMEOUT_MS);
      if (!output.includes(text)) throw new Error(`the demo ended without saying "${text}":\n${output}`);
    },
  };
}

/** Start times tell a process from a later one with the same number. */
const identity = (pid: string, started: string): string => `${pid} since ${started}`;

/**
 * Keeps every descendant in mind: one whose parent has died is no longer in the tree, and that is the very one that a
 * demo could leave behind.
 */
function watchFamily(root: number) {
  const known = new Map<string, string>([[String(root), '']]);
  const look = async (): Promise<Map<string, string>> => {
    const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,stat=,lstart=']);
    const alive = new Map<string, string>();
    for (const line of stdout.trim().split('\n')) {
      const [pid = '', parent = '', state = '', ...started] = line.trim().split(/\s+/);
      // A zombie has ended; its new parent has not looked yet.
      if (!state.startsWith('Z')) alive.set(pid, identity(pid, started.join(' ')));
      if (known.has(parent) && !known.has(pid) && !state.startsWith('Z'))
        known.set(pid, identity(pid, started.join(' ')));
    }
    return alive;
  };
  const timer = setInterval(() => void look(), WATCH_EVERY_MS);
  return {
    stopLooking: () => clearInterval(timer),
    async survivors() {
      const alive = new Map(await look());
      return [...known]
        .filter(([pid, mark]) => mark !== '' && alive.get(pid) === mark)
        .map(([, mark]) => mark);
    },
  };
}
