import { randomUUID } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TableConstants } from '../../../clickhouse/engine/engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { CONSTANTS_QUERY, readConstants } from '../../../clickhouse/guest/views/current.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { ensureWalletIdKey } from '../../../clickhouse/tables/wallet-ids.ts';
import type { Log } from '../../../core/log.ts';
import { createMonthCopies, type PlainMonthLimits } from '../../../ingest/rollup/plain-months.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { emptyTables, emptyThose } from '../../kit/empty-tables.ts';
import { testLog } from '../../kit/engine.ts';
import { insertSettlements, settlement, wallet } from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

/** The same question is asked of the public view and of the rows themselves. */

let engine: SandboxEngine;
beforeAll(async () => {
  engine = await sandboxEngine();
});
afterAll(() => engine?.close());
beforeEach(() => emptyTables(engine.writer));

const OCTOBER = Date.UTC(2026, 9, 5) / 1_000;
const NOVEMBER = Date.UTC(2026, 10, 24, 10) / 1_000;
const NOW_MS = Date.UTC(2026, 10, 25, 12, 30);
const DAY_MS = 86_400_000;
const AT_ONCE: PlainMonthLimits = { closeAfterMs: 0, quietMs: 0, copyEveryMs: 0 };

const versions = createVersions(0n, () => NOW_MS - DAY_MS);

function copier(nowMs = NOW_MS, limits: Partial<PlainMonthLimits> = {}) {
  const deps = { writer: engine.writer, versions: createVersions(0n, () => nowMs), log: testLog };
  return createMonthCopies({ ...deps, clock: { nowMs: () => nowMs }, limits: { ...AT_ONCE, ...limits } });
}

async function copyAll(): Promise<number> {
  const copies = copier();
  let copied = 0;
  while ((await copies.refresh()) !== null) copied += 1;
  return copied;
}

const write = (rows: readonly Settlement[], del: 0 | 1 = 0): Promise<void> =>
  insertSettlements(engine.writer, rows, { ver: versions.next(), del });

function row(at: number, blockTime: number): Settlement {
  return settlement({
    blockNumber: at,
    blockTime,
    payer: wallet(at),
    facilitator: at % 2 === 0 ? 'coinbase' : '',
    usdKnown: at !== 2,
  });
}

const COLUMNS =
  'chain, block_number, block_time, tx_hash, log_index, payer, payee, asset, relayer, facilitator';

const SEEN = `SELECT ${COLUMNS}, amount, amount_usd, evidence_method, evidence_tier, evidence_probability, is_self_payment, payer_id, payee_id, finality
    FROM settlements ORDER BY block_number`;

/** What the public view shows, and a statement that brings its constants along. */
async function seen(): Promise<unknown> {
  const rows = await engine.guest.explain({ name: 'seen', text: SEEN, maxSeconds: 10 });
  expect(await seenWith(await constantsNow())).toEqual(rows);
  return rows;
}

async function constantsNow(): Promise<TableConstants> {
  const statement = { name: 'constants', sql: CONSTANTS_QUERY, maxSeconds: 10, maxRows: 1 };
  return readConstants((await engine.writer.rows(statement)).rows[0] ?? []);
}

async function seenWith(constants: TableConstants): Promise<unknown> {
  const asked = { name: 'seen', text: SEEN, queryId: randomUUID(), format: 'JSONCompactEachRow', constants };
  const { body } = await engine.guest.query({ ...asked, maxRows: 1_000, maxSeconds: 10 }, NEVER);
  const lines = (await readText(body)).trimEnd().split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as unknown);
}

const NEVER = new AbortController().signal;

async function ask(text: string): Promise<unknown> {
  const { rows } = await engine.writer.rows({
    name: 'ask',
    maxSeconds: 10,
    maxRows: 100,
    sql: trustedText(text),
  });
  return rows;
}

const plainRows = () =>
  ask('SELECT count() FROM plain_settlements WHERE gen IN (SELECT gen FROM plain_coverage WHERE is_plain)');
const openHours = () => ask('SELECT month, length(open_hours) FROM plain_coverage ORDER BY month');

const oneBit = (text: string): string => text.replace(/GROUP BY (sip.*) HAVING/, 'GROUP BY ($1 % 2) HAVING');

const HISTORY = [row(1, OCTOBER), row(2, OCTOBER + 7_200), row(3, NOVEMBER), row(4, NOVEMBER + 3_600)];

describe('analysts see the same rows, column by column', () => {
  test('before and after months are copied, and the copies hold them', async () => {
    await write(HISTORY);
    const before = await seen();
    expect(await copyAll()).toBe(2);
    expect(await plainRows()).toEqual([['4']]);
    expect(await openHours()).toEqual([
      ['2026-10-01', '0'],
      ['2026-11-01', '0'],
    ]);
    expect(await seen()).toEqual(before);
  });

  test('a late row, a change and a retraction in a copied month, before it is copied again and afterwards', async () => {
    await write(HISTORY);
    await copyAll();
    await write([row(5, OCTOBER + 60)]);
    await write([{ ...row(3, NOVEMBER), facilitator: 'other' }]);
    await write([row(2, OCTOBER + 7_200)], 1);
    expect(await plainRows()).toEqual([['0']]);
    const between = await seen();
    expect(between).toHaveLength(4);
    expect(await copyAll()).toBe(2);
    expect(await plainRows()).toEqual([['4']]);
    expect(await seen()).toEqual(between);
  });

  test('an hour that is not over is read from its rows', async () => {
    const now = row(6, NOW_MS / 1_000 - 60);
    await write([...HISTORY, now]);
    await copyAll();
    expect(await plainRows()).toEqual([['4']]);
    expect(await seen()).toHaveLength(5);
    await write([{ ...now, facilitator: 'other' }]);
    expect(await plainRows()).toEqual([['4']]);
    expect(await seen()).toHaveLength(5);
  });

  test('a copy that was begun and not recorded is not seen', async () => {
    await write(HISTORY);
    await copyAll();
    const before = await seen();
    await engine.writer.run({
      name: 'half',
      maxSeconds: 10,
      sql: trustedText(
        'INSERT INTO plain_settlements SELECT * REPLACE (gen + 77 AS gen) FROM plain_settlements',
      ),
    });
    expect(await seen()).toEqual(before);
  });

  test('copies are repeated by another worker without a trace', async () => {
    await write(HISTORY);
    const before = await seen();
    await Promise.all([copyAll(), copyAll()]);
    expect(await seen()).toEqual(before);
    expect(await plainRows()).toEqual([['4']]);
  });
});

describe('a month', () => {
  test('that is written to is not copied before it is quiet', async () => {
    await write(HISTORY);
    expect(await copier(NOW_MS - DAY_MS + 5_000, { quietMs: 60_000 }).refresh()).toBeNull();
    expect(await copier(NOW_MS - DAY_MS + 65_000, { quietMs: 60_000 }).refresh()).toBe('copied');
  });

  test('is copied again only after a while', async () => {
    await write([row(3, NOVEMBER)]);
    const copies = copier(NOW_MS, { copyEveryMs: 60_000 });
    expect(await copies.refresh()).toBe('copied');
    await write([row(4, NOVEMBER + 3_600)]);
    expect(await copies.refresh()).toBeNull();
  });

  test('has its replaced copies dropped after half an hour, and not before', async () => {
    await write([row(3, NOVEMBER)]);
    await copier().refresh();
    await write([row(4, NOVEMBER + 3_600)]);
    await copier().refresh();
    const copies = () => ask('SELECT uniqExact(gen) FROM plain_settlements');
    expect(await copies()).toEqual([['2']]);
    await copier(NOW_MS + 29 * 60_000).refresh();
    expect(await copies()).toEqual([['2']]);
    await copier(NOW_MS + 31 * 60_000).refresh();
    expect(await copies()).toEqual([['1']]);
    expect(await seen()).toHaveLength(2);
  });
});

describe('ids of wallets', () => {
  const ids = (text: string) => engine.guest.explain({ name: 'ids', text, maxSeconds: 10 });

  test('are the same in every table, and lead back to the address', async () => {
    await write([row(1, OCTOBER), row(1, NOVEMBER), row(2, NOVEMBER), row(3, NOVEMBER)]);
    const every = `SELECT payer AS address, payer_id AS id FROM settlements UNION ALL
      SELECT payee, payee_id FROM settlements UNION ALL
      SELECT wallet, wallet_id FROM wallet_settlements UNION ALL
      SELECT counterparty, counterparty_id FROM wallet_settlements UNION ALL
      SELECT payer, payer_id FROM payer_days UNION ALL
      SELECT payee, payee_id FROM merchant_days UNION ALL
      SELECT address, wallet_id FROM wallets`;
    const different = `SELECT uniqExact(address), uniqExact(id), uniqExact(address, id) FROM (${every})`;
    const before = await ids(different);
    const [[addresses]] = before as [[unknown]];
    expect(Number(addresses)).toBeGreaterThan(3);
    expect(before).toEqual([[addresses, addresses, addresses]]);
    await copyAll();
    expect(await ids(different)).toEqual(before);
    const back = `SELECT address, n FROM wallets JOIN
      (SELECT payer_id, count() AS n FROM settlements GROUP BY payer_id ORDER BY n DESC LIMIT 1) ON wallet_id = payer_id`;
    expect(await ids(back)).toEqual([[wallet(1), '2']]);
  });

  test('of a copy with another key are not shown: the rows are read instead', async () => {
    await write(HISTORY);
    await copyAll();
    const before = await seen();
    await engine.writer.run({
      name: 'other-key',
      maxSeconds: 10,
      sql: trustedText(
        'INSERT INTO plain_months SELECT * REPLACE (id_key + 1 AS id_key, gen + 1 AS gen) FROM plain_months FINAL',
      ),
    });
    expect(await plainRows()).toEqual([['0']]);
    expect(await seen()).toEqual(before);
  });

  test('that two wallets share are noticed, and the next start makes others', async () => {
    await write(HISTORY);
    const errors: unknown[] = [];
    const log: Log = Object.assign(Object.create(testLog), { error: (facts: unknown) => errors.push(facts) });
    const { made, halves } = await ensureWalletIdKey(engine.writer);
    // A real pair takes four billion tries for a known key: the hash is cut down to one bit.
    const wholeIndex = {
      ...engine.writer,
      run: engine.writer.run.bind(engine.writer),
      rows: (statement: Parameters<typeof engine.writer.rows>[0]) =>
        engine.writer.rows(
          statement.name === 'wallet-id-check'
            ? { ...statement, sql: trustedText(oneBit(statement.sql.parts.join(''))) }
            : statement,
        ),
    };
    const deps = { writer: engine.writer, wholeIndex, versions: createVersions(0n, () => NOW_MS), log };
    await createMonthCopies({ ...deps, clock: { nowMs: () => NOW_MS }, limits: AT_ONCE }).refresh();
    expect(errors).toHaveLength(1);
    expect((await ensureWalletIdKey(engine.writer)).made).toBe(made + 1n);
    // The views of this engine have the first one.
    await emptyThose(engine.writer, (table) => table === 'wallet_id_keys');
    await engine.writer.run({
      name: 'first-key',
      maxSeconds: 10,
      sql: trustedText(`INSERT INTO wallet_id_keys SELECT ${[made, ...halves].join()}`),
    });
  });
});

describe('constants that a statement brings along', () => {
  test('show rows of hours that had none when the constants were read, and copies of then until they are read again', async () => {
    await write(HISTORY);
    await copyAll();
    const before = await constantsNow();
    const then = (await seen()) as unknown[];
    // An hour within a copy, and one of a month without rows.
    await write([row(5, OCTOBER + 3_600), row(6, Date.UTC(2026, 7, 3) / 1_000)]);
    expect(((await seenWith(before)) as unknown[]).length).toBe(then.length + 1);
    expect(((await seen()) as unknown[]).length).toBe(then.length + 2);
  });

  test('say what is final', async () => {
    await write(HISTORY);
    await copyAll();
    await write([row(5, NOVEMBER + 7_200)]);
    expect(
      (await seenWith({
        ...(await constantsNow()),
        finalBlocks: [{ chain: 'eip155:8453', block: '3' }],
      })) as unknown[][],
    ).toMatchObject(
      Array.from({ length: 5 }, (_, at) => expect.arrayContaining([at < 3 ? 'finalized' : 'head'])),
    );
  });

  test('of a chain with another name than CAIP-2 allows are left out', () => {
    const finals = [
      ['eip155:8453', '7'],
      ["x') OR 1 --", '9'],
      ['<a=1>', '1'],
    ];
    expect(readConstants([[], finals]).finalBlocks).toEqual([{ chain: 'eip155:8453', block: '7' }]);
    expect(() => readConstants([[['1', '2', '1 OR 1']], []])).toThrow(SyntaxError);
  });
});
