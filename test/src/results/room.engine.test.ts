import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect } from 'vitest';
import { type AttachedReader, createAttachedReader } from '../../../clickhouse/engine/attached-reader.ts';
import { OTHER_STORAGE } from '../../../core/domain/job.ts';
import type { OpenSandbox } from '../../../sandbox/open.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { directoryFiles } from '../../../src/results/directory-files.ts';
import { PIECE_BYTES } from '../../../src/results/pieces.ts';
import { type ResultFiles, ResultFilesUnavailable } from '../../../src/results/result-files.ts';
import { createResults, type KeptResult, queryKeyOf, type Results } from '../../../src/results/results.ts';
import type { RoomLimits, RoomOwner } from '../../../src/results/room.ts';
import { test } from '../../kit/fixtures.ts';
import { sandboxOver } from '../../kit/judge.ts';
import { savedOf } from '../../kit/saved.ts';
import { sqlApi } from '../../kit/sql-api.ts';
import { createSqliteBed } from '../../kit/sqlite-control.ts';

/** Where kept results lie: whose room they take, how much all of them may take, and what a page reads of a large one. */

const ACME: RoomOwner = { kind: 'organization', id: 'acme', plan: 'free' };
const PAYER: RoomOwner = { kind: 'payer', id: '0xabc' };
const AUTHOR: RoomOwner = { kind: 'author', id: 'acme' };
const MEBIBYTE = 1024 * 1024;
const WIDE = { bytesMax: 1e12, freeBytesMin: 0 };

const bed = createSqliteBed();
const directories: string[] = [];
const mounted: string[] = [];
let sandbox: OpenSandbox;
let reader: AttachedReader;
let store: ControlStore;

test.beforeAll(async ({ sandbox: engine }) => {
  sandbox = sandboxOver(engine);
  reader = createAttachedReader(engine.access);
});
test.beforeEach(async () => {
  ({ store } = await bed.open());
});
afterEach(() => {
  for (const directory of mounted.splice(0)) execFileSync('umount', [directory]);
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});
afterAll(async () => {
  reader?.close();
  await sandbox?.close();
  await bed.end();
});

function newDirectory(): string {
  directories.push(mkdtempSync(join(tmpdir(), 'settlement-index-room-')));
  return directories.at(-1) ?? '';
}

function open(limits: RoomLimits, files: ResultFiles = directoryFiles(newDirectory())): Results {
  return createResults({ store, files, reader, clock: { nowMs: () => Date.now() }, limits });
}

async function keep(results: Results, sql: string, owner: RoomOwner, mustKeep = false): Promise<KeptResult> {
  const verdict = await sandbox.inspect({ text: sql, parameters: {}, caller: 'a' });
  if ('refused' in verdict) throw new Error(verdict.refused.detail);
  const { accepted } = verdict;
  const asked = {
    parameters: {},
    tier: 'standard',
    format: 'kept',
    maxRows: 1_000_001,
    caller: 'a',
  } as const;
  const result = await sandbox.run({ accepted, ...asked }, new AbortController().signal);
  return results.keep(result, {
    queryKey: queryKeyOf(sql, {}),
    dataVersion: '1',
    owner,
    mustKeep,
    startedAtMs: Date.now(),
    maxRows: 1_000_000,
    facts: { tier: 'standard', sql, warnings: [], meta: {} },
  });
}

async function csv(results: Results, kept: KeptResult, offset = 0, maxRows = 1_000_000): Promise<string> {
  const { body } = await results.read(kept, { format: 'csv', numbers: 'native', maxRows, offset });
  return readText(body);
}

/** About so many bytes that nothing compresses. */
const noise = (bytes: number, more = '') =>
  `SELECT number AS n, sipHash64(number, 1) AS h${more} FROM numbers(${Math.ceil(bytes / 12)})`;

async function listed(owner: string): Promise<number> {
  return (await store.results.paidBy({ organizationId: owner, limit: 1_000 })).length;
}

describe('the room of an owner', () => {
  test('the oldest results of a payer or an author make room for their own new ones, and for no others', async () => {
    const directory = newDirectory();
    const results = open(WIDE, directoryFiles(directory));
    const mine = await keep(results, 'SELECT 0', ACME);
    await keep(results, 'SELECT 0 AS a', AUTHOR);
    const { results: max } = OTHER_STORAGE.payer;
    for (let at = 0; at < max + 3; at += 1) await keep(results, `SELECT ${at} AS x`, PAYER);
    expect([await listed('payer:0xabc'), await listed('author:acme'), await listed('acme')]).toEqual([
      max,
      1,
      1,
    ]);
    expect(readdirSync(directory)).toHaveLength(max + 2);
    // The organization of an author is shown nothing of what others asked.
    expect([await results.mayRead(mine, 'acme'), await listed('acme')]).toEqual([true, 1]);
  });
});

describe('without room a result is answered and not kept', () => {
  test('strangers fill half of the directory, organizations the rest, and what expires gives room again', async () => {
    const directory = newDirectory();
    const results = open({ bytesMax: 6 * MEBIBYTE, freeBytesMin: 0 }, directoryFiles(directory));
    const kinds: boolean[] = [];
    for (let at = 0; at < 4; at += 1) {
      const kept = await keep(results, noise(0.9 * MEBIBYTE, `, ${at} AS k`), at % 2 === 0 ? PAYER : AUTHOR);
      kinds.push(kept.isKept);
      expect((await csv(results, kept, 0, 1)).split('\n')[1]).toMatch(new RegExp(`^"?0"?,.*,${at}$`));
      expect((await results.find(kept.id)) !== null).toBe(kept.isKept);
    }
    expect(kinds).toEqual([true, true, false, false]);
    const own = await keep(results, noise(0.9 * MEBIBYTE, ', 9 AS k'), ACME, true);
    expect(own.isKept).toBe(true);
    await expect(keep(results, noise(3 * MEBIBYTE), ACME, true)).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
    for (const name of readdirSync(directory)) rmSync(join(directory, name));
    await results.sweep();
    expect((await keep(results, noise(0.9 * MEBIBYTE, ', 7 AS k'), PAYER)).isKept).toBe(true);
  });

  test('below the mark of free space nothing is written', async () => {
    const directory = newDirectory();
    const results = open({ bytesMax: 1e12, freeBytesMin: 1e18 }, directoryFiles(directory));
    const kept = await keep(results, 'SELECT 7 AS x', ACME);
    expect([kept.isKept, await csv(results, kept), readdirSync(directory)]).toEqual([false, '"x"\n7\n', []]);
  });

  test('on a disk that is full the rows are right, and no part of a file stays', async () => {
    const directory = newDirectory();
    const results = open(WIDE, smallDisk(directory));
    const sql = noise(3 * MEBIBYTE);
    const large = await keep(results, sql, ACME);
    expect([large.isKept, await results.find(large.id)]).toEqual([false, null]);
    const whole = (await csv(results, large)).trimEnd().split('\n');
    expect([whole.length - 1, whole[3]?.split(',')[0]]).toEqual([large.rows, '2']);
    expect(readdirSync(directory).flatMap((name) => readdirSync(join(directory, name)))).toEqual([]);
    await expect(keep(results, sql, ACME, true)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect((await keep(results, 'SELECT 1', ACME)).isKept).toBe(true);
  });
});

/** A disk of a mebibyte, where this user may mount one; otherwise a file system that says the same of files that do not fit. */
function smallDisk(directory: string): ResultFiles {
  const disk = join(directory, 'disk');
  mkdirSync(disk);
  const files = directoryFiles(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
    mounted.push(disk);
    return files;
  } catch {
    return {
      ...files,
      write: async (name, bytes) => {
        if (bytes.length > MEBIBYTE) throw new ResultFilesUnavailable(new Error('ENOSPC'), true);
        return files.write(name, bytes);
      },
    };
  }
}

describe('a large result', () => {
  test.each([
    ['in Parquet', ''],
    ['in the engine’s own form', ', toIntervalDay(number % 9) AS d'],
  ])(
    '%s: each page is that of the whole, and reads the bytes of its rows',
    async (_form, more) => {
      const read: number[] = [];
      const files = directoryFiles(newDirectory());
      const counted: ResultFiles = {
        ...files,
        read: async (name, part) => {
          const bytes = await files.read(name, part);
          read.push(bytes?.length ?? 0);
          return bytes;
        },
      };
      const kept = await keep(open(WIDE, counted), noise(10 * MEBIBYTE, more), ACME);
      expect(kept.bytes).toBeGreaterThan(2 * PIECE_BYTES);
      const lines = (await csv(open(WIDE, files), kept)).trimEnd().split('\n').slice(1);
      expect(lines).toHaveLength(kept.rows);
      await fc.assert(
        fc.asyncProperty(fc.nat(kept.rows + 5), fc.integer({ min: 0, max: 300 }), async (offset, rows) => {
          read.length = 0;
          const page = await csv(open(WIDE, counted), kept, offset, rows);
          expect(page.trimEnd().split('\n').slice(1)).toEqual(lines.slice(offset, offset + rows));
          expect(Math.max(...read)).toBeLessThan(kept.bytes * 0.8);
        }),
        {
          numRuns: 10,
          examples: [
            [0, 1],
            [kept.rows - 1, 9],
            [kept.rows, 1],
            [Math.ceil(kept.rows / 3) - 1, 2],
          ],
        },
      );
    },
    120_000,
  );
});

describe('a service without room', () => {
  test('answers and says that it kept nothing; a job, which is nothing but its result, is not run to an end', async ({
    sandbox: engine,
  }) => {
    const results = { directory: null, s3: null, maxGigabytes: 0, minFreeGigabytes: 0 };
    const sql = await sqlApi({ engine, config: { results } });
    const author = await savedOf(sql);
    const { body } = await author.customer.ask({ sql: 'SELECT number AS n FROM numbers(3)', max_age: 60 });
    expect(body).toMatchObject({ row_count: 3, usage: { units_charged: 1 } });
    expect(body.warnings.map(({ code }: { code: string }) => code)).toContain('result_not_kept');
    expect([body.result, body.next_offset]).toEqual([undefined, undefined]);
    const lines = await author.customer.ask({ sql: 'SELECT 1 AS x', max_age: 60, format: 'csv' });
    expect([lines.text, lines.headers['x-result-id']]).toEqual(['"x"\n1\n', undefined]);
    await author.saved('q', { sql: 'SELECT 5 AS v', visibility: 'public' });
    const called = await author.call('q', {}, (await sql.customer()).headers);
    expect([called.body.rows, called.headers['x-result-kept']]).toEqual([[{ v: 5 }], 'false']);
    const job = await author.jobs.ended({ sql: 'SELECT 1' });
    expect(job).toMatchObject({ state: 'failed', usage: { units_charged: 0 }, result: null });
    await sql.close();
  }, 120_000);
});
