import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sql } from '../../clickhouse/engine/sql.ts';
import { compiledSources } from './compile-sources.ts';
import type { TestEngine } from './engine.ts';
import type { ImportWork } from './import-owner.ts';
import { waitUntil } from './wait-until.ts';

const RECORDED_WITHIN_MS = 60_000;

/** Imports in a process of its own, in small windows, and kills it as soon as one of them is recorded. */
export async function killAfterFirstCheckpoint(
  { access, writer }: Pick<TestEngine, 'access' | 'writer'>,
  work: Omit<ImportWork, 'access'>,
): Promise<void> {
  const owner = join(compiledSources(), 'test/kit/import-owner.js');
  const child = spawn(process.execPath, [owner], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(JSON.stringify({ ...work, access } satisfies ImportWork));
  const ended = once(child, 'exit');
  const checkpoints = {
    name: 'test-checkpoints',
    sql: sql`SELECT count() FROM checkpoints`,
    maxSeconds: 10,
    maxRows: 1,
  };
  try {
    await waitUntil(
      'a window is recorded',
      async () => Number((await writer.rows(checkpoints)).rows[0]?.[0]) > 0,
      RECORDED_WITHIN_MS,
    );
  } finally {
    child.kill('SIGKILL');
  }
  expect(await ended).toEqual([null, 'SIGKILL']);
}
