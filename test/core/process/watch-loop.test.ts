import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { nodeArguments } from '../../../core/process/child-process.ts';
import { loopStops, STOOD_STILL } from '../../../core/process/watch-loop.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const LIMIT_MS = 1_500;
const WITHIN_MS = 90_000;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function startWatched(...flags: readonly string[]) {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-loop-'));
  const entry = nodeArguments(new URL('../../kit/watched-child.ts', import.meta.url));
  const child = spawn(process.execPath, [...flags, ...entry, String(LIMIT_MS), dataDir]);
  children.push(child);
  const printed = { out: '', log: '' };
  child.stdout.on('data', (text) => {
    printed.out += text;
  });
  child.stderr.on('data', (text) => {
    printed.log += text;
  });
  /** The loop turned since it was asked. */
  const turns = async (count: number): Promise<void> => {
    const before = printed.out.split('turn').length;
    await waitUntil('the loop turns', () => printed.out.split('turn').length >= before + count, WITHIN_MS);
  };
  await turns(5);
  return { child, dataDir, printed, turns };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test.each(['spin', 'pause'])(
  'a process whose loop stands still (%s) is ended by its own signal, and the log has what was read by length and hash alone',
  async (word) => {
    const { child, dataDir, printed } = await startWatched();
    child.stdin?.write(word);
    const [code, signal] = await once(child, 'close');
    expect([code, signal]).toEqual([null, STOOD_STILL]);
    const line = printed.log.split('\n').find((text) => text.includes('stood still')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      level: 60,
      name: 'watched',
      requests: [
        {
          target: { bytes: 7, sha256: sha256('/v0/sql') },
          body: { bytes: 13, sha256: sha256('SELECT secret') },
        },
        { target: { bytes: 22, sha256: sha256('/v0/flows?wallet=0xabc') }, body: null },
      ],
    });
    expect(JSON.parse(line).requests).toHaveLength(2);
    expect(printed.log).not.toMatch(/secret|\/v0\/|answered/);
    expect(loopStops(dataDir)).toBe(1);
  },
);

test('a process that was stopped for longer than the limit, as a suspended machine is, goes on', async () => {
  const { child, dataDir, turns } = await startWatched();
  child.kill('SIGSTOP');
  await delay(LIMIT_MS * 2); // The test is that this time passes.
  child.kill('SIGCONT');
  await turns((LIMIT_MS / 50) * 2);
  expect(child.exitCode ?? child.signalCode).toBeNull();
  expect(loopStops(dataDir)).toBe(0);
});

test('a process under a debugger may stand still', async () => {
  const { child, dataDir, printed } = await startWatched('--inspect=127.0.0.1:0');
  child.stdin?.write('nap');
  await waitUntil('the nap is over', () => printed.out.includes('on again'), WITHIN_MS);
  expect(child.exitCode ?? child.signalCode).toBeNull();
  expect(loopStops(dataDir)).toBe(0);
});
