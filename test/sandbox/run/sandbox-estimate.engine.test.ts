import { afterAll, describe, expect } from 'vitest';
import { createMonthCopies } from '../../../ingest/rollup/plain-months.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { ESTIMATE_IDLE_MAX_SECONDS, ESTIMATE_MAX_SECONDS } from '../../../sandbox/limits.ts';
import type { OpenSandbox } from '../../../sandbox/open.ts';
import type { Estimate } from '../../../sandbox/sandbox.ts';
import { QueryFailed } from '../../../sandbox/sandbox.ts';
import { testLog } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { sandboxOver } from '../../kit/judge.ts';
import { rollUp } from '../../kit/roll-up.ts';
import { insertSettlements, NOON, settlement, wallet } from '../../kit/rows.ts';

let sandbox: OpenSandbox;

const DAY = 86_400;
const DAYS = 5;
const PER_DAY = 4_000;
/** After its limit, on a busy machine. */
const KILLED_WITHIN_MS = 10_000;

test.beforeAll(async ({ sandbox: engine }) => {
  sandbox = sandboxOver(engine);
  const rows = Array.from({ length: DAYS * PER_DAY }, (_, at) =>
    settlement({
      blockNumber: 1_000 + at,
      blockTime: NOON + Math.floor(at / PER_DAY) * DAY + (at % PER_DAY),
      payer: wallet(at + 1),
      payee: wallet(1 + (at % 50)),
    }),
  );
  await insertSettlements(engine.writer, rows);
  await rollUp(engine.writer, { below: NOON + (DAYS - 2) * DAY });
});
afterAll(() => sandbox?.close());

const NEVER = new AbortController().signal;
const dayOf = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 10);
const LAST_DAY = dayOf(NOON + (DAYS - 1) * DAY);

async function estimate(text: string): Promise<Estimate> {
  const verdict = await sandbox.inspect({ text, parameters: {}, caller: 'a' });
  if ('refused' in verdict) throw new Error(JSON.stringify(verdict.refused));
  return sandbox.estimate({ accepted: verdict.accepted, parameters: {}, caller: 'a' }, NEVER);
}

describe('an estimate', () => {
  test('of everything is every row, and names the table whose keys do not help', async () => {
    const all = await estimate('SELECT payee, sum(amount_usd) FROM settlements GROUP BY payee');
    expect(all).toMatchObject({
      rows: DAYS * PER_DAY,
      withoutKey: ['settlements'],
      withoutTime: ['settlements'],
    });
    // payee as much as any text, amount_usd 8, usd_known and del 1 byte each.
    expect(all.bytes).toBe(DAYS * PER_DAY * 60);
  });

  test('of a time is that time', async () => {
    const some = await estimate(`SELECT sum(amount_usd) FROM settlements WHERE block_time >= '${LAST_DAY}'`);
    expect(some).toMatchObject({ withoutKey: [], withoutTime: [] });
    expect(some.rows).toBeLessThan(DAYS * PER_DAY);
    expect(some.rows).toBeGreaterThan(0);
  });

  test('of one payer uses the index, and says that no time was given', async () => {
    const one = await estimate(`SELECT count() FROM settlements WHERE payer = '${wallet(7)}'`);
    expect(one).toMatchObject({ withoutKey: [], withoutTime: ['settlements'] });
  });

  test('of one wallet is a few granules', async () => {
    const one = await estimate(
      `SELECT sum(amount_usd) FROM wallet_settlements WHERE wallet = '${wallet(7)}'`,
    );
    expect(one).toMatchObject({ withoutKey: [], withoutTime: ['wallet_settlements'] });
    expect(one.rows).toBeLessThan(DAYS * PER_DAY * 2);
  });

  test('of a rollup warns only of what its asker left out', async () => {
    const all = await estimate('SELECT payee, sum(settled_usd) FROM merchant_days GROUP BY payee');
    expect(all).toMatchObject({ withoutKey: ['merchant_days'], withoutTime: ['merchant_days'] });
    const some = await estimate(`SELECT sum(settled_usd) FROM merchant_days WHERE day < '${LAST_DAY}'`);
    expect(some.withoutTime).toEqual([]);
  });

  test('of all wallets warns that no key was given, of one it does not, and of neither that no time was', async () => {
    const all = await estimate('SELECT count() FROM wallets');
    expect(all).toMatchObject({ withoutKey: ['wallets'], withoutTime: [] });
    const one = await estimate(`SELECT paid_usd FROM wallets WHERE address = '${wallet(7)}'`);
    expect(one).toMatchObject({ withoutKey: [], withoutTime: [] });
  });

  test('of a join counts both sides', async () => {
    const both = await estimate(
      'SELECT count(w.amount) FROM settlements AS s JOIN wallet_settlements AS w ON w.tx_hash = s.tx_hash',
    );
    expect(both.rows).toBeGreaterThanOrEqual(DAYS * PER_DAY * 3);
    expect(both.withoutKey).toEqual(['settlements', 'wallet_settlements']);
  });

  test('of a join without equal columns is the product of its sides, of an equal one the larger side up to the product', async () => {
    const rows = DAYS * PER_DAY;
    const of = async (join: string) => {
      const { rowsJoined, rowsJoinedMax } = await estimate(`SELECT count() FROM settlements AS a ${join}`);
      return [rowsJoined, rowsJoinedMax];
    };
    const squared = rows ** 2;
    const cubed = squared + rows ** 3;
    expect(await of("WHERE a.payee != ''")).toEqual([0, 0]);
    expect(await of('CROSS JOIN settlements AS b')).toEqual([squared, squared]);
    expect(await of('CROSS JOIN settlements AS b CROSS JOIN settlements AS c')).toEqual([cubed, cubed]);
    expect(await of('JOIN settlements AS b ON a.amount_usd < b.amount_usd')).toEqual([squared, squared]);
    expect(await of('JOIN settlements AS b USING (payer)')).toEqual([rows, squared]);
    expect(await of(', settlements AS b WHERE a.payer = b.payer')).toEqual([rows, squared]);
    expect(await of('ANY LEFT JOIN settlements AS b USING (payer)')).toEqual([rows, rows]);
    expect((await of('CROSS JOIN numbers(1000) AS b'))[1]).toBe(Number.POSITIVE_INFINITY);
  });

  test('says what an operator holds that cannot go on disk, and nothing of one that can', async () => {
    const held = async (text: string) => (await estimate(text)).heldShares;
    expect(await held('SELECT uniqExact(lower(payer)) FROM settlements')).toBeGreaterThan(0);
    expect(await held('SELECT groupArray(payer) FROM settlements')).toBeGreaterThan(0);
    expect(await held('SELECT DISTINCT payer FROM settlements')).toBeGreaterThan(0);
    expect(await held('SELECT row_number() OVER (ORDER BY amount) FROM settlements')).toBeGreaterThan(0);
    expect(await held('SELECT count() FROM settlements AS a CROSS JOIN settlements AS b')).toBeGreaterThan(0);
    expect(await held('SELECT payee, uniqExact(payer) FROM settlements GROUP BY payee')).toBe(0);
    expect(await held('SELECT uniqExact(payer) FROM settlements')).toBe(0);
    expect(await held('SELECT count() FROM settlements AS a JOIN settlements AS b USING (payer)')).toBe(0);
    expect(await held('SELECT payer FROM settlements ORDER BY payer')).toBe(0);
  });

  test('of a query without tables is nothing', async () => {
    expect(await estimate('SELECT 1')).toEqual({
      rows: 0,
      bytes: 0,
      rowsJoined: 0,
      rowsJoinedMax: 0,
      rowsCrossed: 0,
      heldShares: 0,
      withoutKey: [],
      withoutTime: [],
    });
  });

  test('does not compute a heavy subquery for long, and says what to write instead', async () => {
    const began = performance.now();
    const refused = await estimate(
      'SELECT count() FROM settlements WHERE log_index > (SELECT sum(cityHash64(toString(number))) FROM numbers(1000000000))',
    ).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: 'Refused', refusal: { code: 'too_complex' } });
    const maxMs = (ESTIMATE_MAX_SECONDS + ESTIMATE_IDLE_MAX_SECONDS) * 1_000;
    expect(performance.now() - began).toBeLessThan(maxMs + KILLED_WITHIN_MS);
  });

  test('of a query that is wrong is a failure that has used nothing', async () => {
    const failed = await estimate('SELECT payer + 1 FROM settlements').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(QueryFailed);
    expect(failed).toMatchObject({ reason: 'type_error', figures: null });
  });

  // After all others: it copies the month.
  test('says the same over months that are copied', async ({ sandbox: engine }) => {
    const nowMs = (NOON + DAYS * DAY) * 1_000;
    const copies = createMonthCopies({
      writer: engine.writer,
      versions: createVersions(0n, () => nowMs),
      log: testLog,
      clock: { nowMs: () => nowMs },
      limits: { closeAfterMs: 0, quietMs: 0, copyEveryMs: 0 },
    });
    while ((await copies.refresh()) !== null);
    const texts = {
      all: 'SELECT payee, sum(amount_usd) FROM settlements GROUP BY payee',
      day: `SELECT sum(amount_usd) FROM settlements WHERE block_time >= '${LAST_DAY}'`,
      payer: `SELECT count() FROM settlements WHERE payer = '${wallet(7)}'`,
    };
    expect(await estimate(texts.all)).toMatchObject({
      rows: DAYS * PER_DAY,
      withoutKey: ['settlements'],
      withoutTime: ['settlements'],
    });
    expect(await estimate(texts.day)).toMatchObject({ withoutKey: [], withoutTime: [] });
    expect(await estimate(texts.payer)).toMatchObject({ withoutKey: [], withoutTime: ['settlements'] });
  });
});
