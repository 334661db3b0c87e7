import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { queryObjects } from 'node:v8';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../core/log.ts';
import { type ChildOptions, type SupervisedChild, superviseChild } from '../../../core/process/supervise.ts';
import type { ChildOrders } from '../../kit/supervised-child.ts';
import { isRunning, waitUntil } from '../../kit/wait-until.ts';

let directory: string;
let child: SupervisedChild | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'supervise-'));
});
afterEach(async () => {
  await child?.stop();
  child = undefined;
  rmSync(directory, { recursive: true, force: true });
});

interface Report {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secret: string;
}

const reportFile = () => join(directory, 'report.json');
const readReport = (): Report => JSON.parse(readFileSync(reportFile(), 'utf8')) as Report; // written by our child

function options(orders: Partial<ChildOrders> = {}, more: Partial<ChildOptions> = {}): ChildOptions {
  return {
    name: 'test-child',
    entry: new URL('../../kit/supervised-child.ts', import.meta.url),
    bootstrap: { reportFile: reportFile(), secret: 'hunter2', ...orders },
    ready: () => Promise.resolve(existsSync(reportFile())),
    log: createLog('silent', 'test'),
    stopSignal: 'SIGTERM',
    ...more,
  };
}

test('the secret arrives, and neither the arguments nor the environment hold it', async () => {
  child = await superviseChild(options({}, { environment: { TZ: 'UTC' } }));
  const report = readReport();
  expect(report.secret).toBe('hunter2');
  expect(JSON.stringify(report.argv)).not.toContain('hunter2');
  expect(report.env).toEqual({ TZ: 'UTC' });
});

test('a killed child comes back, and the callbacks tell of it', async () => {
  const ended: string[] = [];
  const readyPids: number[] = [];
  child = await superviseChild(
    options({}, { onExit: (exit) => ended.push(String(exit.signal)), onReady: (pid) => readyPids.push(pid) }),
  );
  const first = readReport().pid;
  expect(child.pid).toBe(first);
  rmSync(reportFile());
  process.kill(first, 'SIGKILL');
  await waitUntil('a second process is ready', () => readyPids.length === 2);
  expect(readReport().pid).not.toBe(first);
  expect(child.pid).toBe(readReport().pid);
  expect(child.restarts).toBe(1);
  expect(ended).toEqual(['SIGKILL']);
});

test('a child that fails at its first start is an error with its last words', async () => {
  const failing = superviseChild(options({ exitCode: 3 }, { ready: () => Promise.resolve(false) }));
  await expect(failing).rejects.toThrow(/test-child did not start \(code 3\): the child says why/);
});

test('a child that never gets ready is killed and reported', async () => {
  let pid = 0;
  // Until it had the time to begin: on a busy machine that takes seconds.
  for (let startTimeoutMs = 1_500; pid === 0; startTimeoutMs *= 2) {
    const never = superviseChild(
      options(
        {},
        {
          startTimeoutMs,
          async ready() {
            if (existsSync(reportFile())) pid = readReport().pid;
            return false;
          },
        },
      ),
    );
    await expect(never).rejects.toThrow(/not ready in time/);
  }
  expect(isRunning(pid)).toBe(false);
});

test('a child that hangs is killed and replaced', async () => {
  const answers = { alive: true };
  const readyPids: number[] = [];
  child = await superviseChild(
    options(
      {},
      {
        alive: () => Promise.resolve(answers.alive),
        aliveEveryMs: 20,
        aliveMissesMax: 3,
        onReady(pid) {
          readyPids.push(pid);
          answers.alive = true;
        },
      },
    ),
  );
  answers.alive = false;
  await waitUntil('a second process is ready', () => readyPids.length === 2);
  expect(readyPids[1]).not.toBe(readyPids[0]);
});

test('asking a child whether it is alive leaves nothing behind, however often', async () => {
  let asked = 0;
  child = await superviseChild(
    options({}, { alive: () => Promise.resolve(++asked > 0), aliveEveryMs: 1, aliveMissesMax: 1_000 }),
  );
  const promises = () => queryObjects(Promise, { format: 'count' }); // collects garbage first
  await waitUntil('it was asked', () => asked > 20);
  const [before, askedBefore] = [promises(), asked];
  await waitUntil('it was asked many times more', () => asked > askedBefore + 200);
  expect(promises() - before).toBeLessThan(100);
});

test('a running child hears the lines that it is told, and an ended one none', async () => {
  const linesFile = join(directory, 'lines');
  child = await superviseChild(options({ linesFile }));
  for (const line of ['one', 'another']) child.tell(line);
  await waitUntil(
    'the child has heard both',
    () => existsSync(linesFile) && readFileSync(linesFile, 'utf8') === 'one\nanother',
  );
  await child.stop();
  child.tell('too late');
});

describe('stop', () => {
  test('ends the child for good', async () => {
    child = await superviseChild(options());
    const { pid } = readReport();
    await child.stop();
    expect(isRunning(pid)).toBe(false);
    expect(child.state).toBe('stopped');
    expect(child.pid).toBeUndefined();
    expect(child.restarts).toBe(0);
  });

  test('kills a child that ignores the signal', async () => {
    child = await superviseChild(options({ ignoreSigterm: true }, { stopTimeoutMs: 200 }));
    const { pid } = readReport();
    await child.stop();
    expect(isRunning(pid)).toBe(false);
  });

  test('ends a restart that is under way', async () => {
    let starts = 0;
    child = await superviseChild(
      options(
        {},
        { ready: () => Promise.resolve(starts === 0 && existsSync(reportFile()) && ++starts === 1) },
      ),
    );
    const first = readReport().pid;
    rmSync(reportFile());
    process.kill(first, 'SIGKILL');
    await waitUntil('the second process runs', () => existsSync(reportFile()));
    const second = readReport().pid;
    await child.stop();
    expect(isRunning(second)).toBe(false);
  });
});

test('a child does not outlive a supervisor that is killed with kill -9', async () => {
  const owner = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      fileURLToPath(new URL('../../kit/supervising-owner.ts', import.meta.url)),
      reportFile(),
    ],
    { stdio: 'ignore' },
  );
  try {
    await waitUntil('the grandchild runs', () => existsSync(reportFile()));
    const { pid } = readReport();
    expect(isRunning(pid)).toBe(true);
    owner.kill('SIGKILL');
    await waitUntil('the grandchild is gone', () => !isRunning(pid));
  } finally {
    owner.kill('SIGKILL');
  }
});
