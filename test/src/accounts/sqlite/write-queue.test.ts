import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createWriteQueue } from '../../../../src/accounts/sqlite/write-queue.ts';
import type { WriteThreadData } from '../../../../src/accounts/sqlite/write-thread.ts';
import { StoreUnavailable } from '../../../../src/accounts/store.ts';

/** Starting a thread from source takes a second on a busy machine. */
vi.setConfig({ testTimeout: 30_000 });

const ORGANIZATION = { id: 'org', displayName: 'Org', plan: 'free', createdAtMs: 1 } as const;

/** Answers nothing and ends when it is asked. */
const DYING = `require('node:worker_threads').parentPort.once('message', () => process.exit(1))`;
/** Answers nothing, ever. */
const HANGING = `require('node:worker_threads').parentPort.on('message', () => undefined)`;

function realThread(workerData: WriteThreadData): Worker {
  const entry = new URL('../../../../src/accounts/sqlite/write-thread-from-source.mjs', import.meta.url);
  return new Worker(entry, { workerData });
}

function freshPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-queue-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'control.db');
}

test('a thread that dies makes its callers ask again, and the next one serves them', async () => {
  let started = 0;
  const queue = createWriteQueue({
    path: freshPath(),
    startThread: (data) => {
      started += 1;
      return started === 1 ? new Worker(DYING, { eval: true }) : realThread(data);
    },
  });
  const first = queue.write('createOrganization', ORGANIZATION);
  const waiting = queue.write('createOrganization', { ...ORGANIZATION, id: 'later' });
  await expect(first).rejects.toBeInstanceOf(StoreUnavailable);
  expect(await waiting).toBe('created');
  expect(await queue.write('createOrganization', ORGANIZATION)).toBe('created');
  expect(started).toBe(2);
  await queue.close();
});

test('a disk that hangs refuses waiting and new requests, and closing does not wait for it', async () => {
  const queue = createWriteQueue({
    path: freshPath(),
    stallMs: 50,
    startThread: () => new Worker(HANGING, { eval: true }),
  });
  const asked = [queue.write('ping', null), queue.write('ping', null)];
  for (const answer of asked) await expect(answer).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(queue.write('ping', null)).rejects.toBeInstanceOf(StoreUnavailable);
  await queue.close();
  await expect(queue.write('ping', null)).rejects.toBeInstanceOf(StoreUnavailable);
});
