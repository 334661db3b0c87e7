import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { parseSnapshot, printSnapshot } from '../../../core/domain/snapshot.ts';
import { type BlockRange, contractsName, createCheckpoints } from '../../../ingest/write/checkpoints.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { emptyAllTables } from '../../kit/empty-tables.ts';
import { testLog } from '../../kit/engine.ts';
import { test as base } from '../../kit/fixtures.ts';
import { jobsOf } from '../../kit/jobs.ts';
import { IS_PUSH, lengthOf } from '../../kit/lengths.ts';
import { drawnCatalogue, drawnRow } from '../../kit/regrade-history.ts';
import { ALICE, ANN, BOB, CAFE, catalogueWith, payee, relayed, SHOP } from '../../kit/regrade-world.ts';
import { hash, insertSettlements, NOON, POLYGON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import { type SnapshotWorld, snapshotWorld } from '../../kit/snapshot-world.ts';
import type { Customer, SqlApi } from '../../kit/sql-api.ts';

/** What `as_of` promises (docs/snapshots.md). */

const test = base.extend<{
  $test: { chain: SnapshotWorld; customer: Customer; asked: Asked };
}>({
  chain: async ({ sandbox }, use) => {
    await emptyAllTables(sandbox.writer);
    const reader = createReader(sandbox.access, testLog);
    await use(await snapshotWorld({ reader, writer: sandbox.writer }));
    await reader.close();
  },
  customer: async ({ sqlService }, use) => use(await sqlService.customer({ units: 100_000, plan: 'pro' })),
  asked: async ({ sqlService, customer }, use) => use(askedOf(sqlService, customer)),
});

interface Asked {
  get(path: string, asOf?: string): Promise<Answer>;
  sql(text: string, asOf?: string, more?: object): Promise<Answer>;
  /** The state that is final now. */
  snapshot(): Promise<string>;
  /** Every question about the snapshot, with the answers. */
  everything(snapshot: string, hashes: readonly string[]): Promise<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

const LISTS = [
  '/v0/flows?limit=100',
  '/v0/transactions?limit=3',
  '/v0/transactions?facilitator=ann&limit=100',
  '/v0/transactions?tier=proven&limit=100',
  `/v0/entities/${ALICE}/settlements?limit=100`,
  `/v0/entities/${SHOP}/settlements?facilitator=ann&role=payee&limit=100`,
  `/v0/entities/${SHOP}/counterparties?window=all`,
  `/v0/pairs/${ALICE}/${SHOP}?window=30d`,
  `/v0/merchants/${SHOP}`,
  `/v0/agents/${ALICE}`,
];
const QUERIES = [
  'SELECT * FROM settlements ORDER BY block_time, block_number, log_index',
  'SELECT * EXCEPT (evidence_reasons) FROM wallet_settlements ORDER BY wallet, block_number, log_index, role',
  "SELECT facilitator, evidence_tier, count(), sum(amount_usd) FROM settlements WHERE block_time > '2026-01-01' GROUP BY ALL ORDER BY ALL",
];

function askedOf({ api }: SqlApi, customer: Customer): Asked {
  const get: Asked['get'] = async (path, asOf) => {
    // An answer that is remembered for three seconds is asked again.
    api.clock.advanceSeconds(3);
    const mark = path.includes('?') ? '&' : '?';
    return api.get(asOf === undefined ? path : `${path}${mark}as_of=${asOf}`, { ...customer.headers });
  };
  const run: Asked['sql'] = (text, asOf, more = {}) =>
    customer.ask({ sql: text, ...(asOf === undefined ? {} : { as_of: asOf }), ...more });
  const rowsOf = ({ status, body }: Answer): string => {
    const {
      meta,
      next_before: _next,
      prev_after: _prev,
      duration_ms: _ms,
      statistics: _read,
      usage: _usage,
      // How far the index is behind now.
      warnings: _warnings,
      ...rows
    } = body;
    return JSON.stringify({ status, leftOut: meta?.left_out, ...rows });
  };
  return {
    get,
    sql: run,
    snapshot: async () => String((await get('/v0/flows')).body.meta.snapshot),
    async everything(snapshot, hashes) {
      const answers: Record<string, string> = {};
      const paths = [...LISTS, ...hashes.map((hash) => `/v0/transactions/${hash}`)];
      for (const path of paths) {
        const answer = await get(path, snapshot);
        answers[path] = rowsOf(answer);
        expect([path, answer.status]).toEqual([path, 200]);
        expect(answer.body.meta.snapshot).toBe(snapshot);
      }
      for (const text of QUERIES) {
        const answer = await run(text, snapshot);
        expect([text, answer.status, answer.body?.detail]).toEqual([text, 200, undefined]);
        answers[text] = rowsOf(answer);
      }
      return answers;
    },
  };
}

/** Thirty questions about each of two snapshots, asked twice, on a machine with other work. */
const RUN_MAX_MS = 240_000;
const RUNS = lengthOf('engineProperties');

const PAID = [{ relayer: ANN }, { relayer: BOB }, { relayer: ANN, payee: CAFE }, { relayer: ANN }];
const NAMED = catalogueWith({ facilitators: [relayed('ann', ANN)] });
const RENAMED = catalogueWith({ facilitators: [relayed('bob', ANN)] });

test('an own table is joined with the rows of a snapshot', async ({ chain, asked, sqlService, customer }) => {
  await chain.grow([{ payer: ALICE }, { payer: BOB }]);
  await chain.finalize(0);
  const snapshot = await asked.snapshot();
  const kept = await jobsOf(sqlService.api, customer).send('PUT', '/v0/tables/mine', {
    rows: `w\n${ALICE}\n`,
  });
  expect(kept.status).toBe(200);
  await chain.grow([{ payer: ALICE }]);
  await chain.finalize(0);
  const text = 'SELECT count() AS n FROM settlements JOIN my.mine AS m ON m.w = payer';
  expect([(await asked.sql(text, snapshot)).body.rows, (await asked.sql(text)).body.rows]).toEqual([
    [{ n: '1' }],
    [{ n: '2' }],
  ]);
});

describe('through everything that happens to an index', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('grow' as const),
      rows: fc.array(drawnRow, { minLength: 1, maxLength: 4 }),
    }),
    fc.record({
      kind: fc.constant('backfill' as const),
      rows: fc.array(drawnRow, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('finalize' as const), unfinal: fc.nat({ max: 2 }) }),
    fc.record({ kind: fc.constant('publish' as const), catalogue: drawnCatalogue }),
    fc.constant({ kind: 'reorg' as const }),
    fc.constant({ kind: 'sweep' as const }),
  );
  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

  test(
    'a snapshot is answered with the same bytes',
    async ({ sandbox, asked }) => {
      const reader = createReader(sandbox.access, testLog);
      const property = fc.asyncProperty(
        fc.array(drawnRow, { minLength: 3, maxLength: 6 }),
        fc.array(step, { minLength: 3, maxLength: IS_PUSH ? 4 : 7 }),
        async (first, steps) => {
          await emptyAllTables(sandbox.writer);
          const chain = await snapshotWorld({ reader, writer: sandbox.writer });
          await chain.grow(first.map(({ fields }) => fields));
          await chain.finalize(1);
          const seen: { snapshot: string; hashes: readonly string[]; answers: Record<string, string> }[] = [];
          const ask = async (): Promise<void> => {
            const snapshot = await asked.snapshot();
            const hashes = shownHashes(await asked.get('/v0/transactions?limit=100', snapshot)).slice(0, 1);
            seen.push({ snapshot, hashes, answers: await asked.everything(snapshot, hashes) });
          };
          await ask();
          for (const [index, one] of steps.entries()) {
            await take(chain, one);
            if (index === 1 && !IS_PUSH) await ask();
          }
          await chain.publish(RENAMED);
          await chain.sweep();
          for (const { snapshot, hashes, answers } of seen)
            expect(await asked.everything(snapshot, hashes)).toEqual(answers);
        },
      );
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
      await reader.close();
    },
    RUNS * RUN_MAX_MS,
  );

  const shownHashes = ({ body }: Answer): string[] =>
    body.transactions.map((row: { tx_hash: string }) => row.tx_hash);

  async function take(chain: SnapshotWorld, one: Step): Promise<void> {
    switch (one.kind) {
      case 'grow':
        return chain.grow(one.rows.map(({ fields }) => fields));
      case 'backfill':
        return chain.backfill(one.rows.map(({ fields }) => fields));
      case 'finalize':
        return chain.finalize(one.unfinal);
      case 'publish':
        return chain.publish(one.catalogue);
      case 'reorg':
        return chain.reorg();
      case 'sweep':
        return chain.sweep();
    }
  }
});

test('without a change of the catalogue a snapshot holds the rows that are final', async ({
  chain,
  asked,
}) => {
  await chain.grow(PAID);
  await chain.finalize(1);
  const snapshot = await asked.snapshot();
  const plain = await asked.get('/v0/transactions?finality=finalized');
  const as = await asked.get('/v0/transactions', snapshot);
  expect(as.body.transactions).toEqual(plain.body.transactions);
  expect(as.body.transactions).toHaveLength(PAID.length - 1);
  const [profile, profileAs] = [
    await asked.get(`/v0/merchants/${SHOP}?finality=finalized`),
    await asked.get(`/v0/merchants/${SHOP}?finality=finalized`, snapshot),
  ];
  const { daily_window: _now, ...figures } = profile.body.aggregates;
  expect(profileAs.body.aggregates).toMatchObject(figures);
});

test('a relabelled row has its new grade, and in the snapshot the old one, in lists, figures and SQL', async ({
  chain,
  asked,
}) => {
  await chain.publish(NAMED);
  await chain.grow(PAID);
  await chain.finalize(0);
  await chain.sweep();
  const before = await asked.snapshot();
  await chain.publish(RENAMED);
  await chain.sweep();
  const after = await asked.snapshot();
  const names = (answer: Answer): unknown[] =>
    answer.body.transactions.map((row: { facilitator: string | null }) => row.facilitator);
  expect(names(await asked.get('/v0/transactions'))).toEqual(['bob', 'bob', null, 'bob']);
  expect(names(await asked.get('/v0/transactions', after))).toEqual(['bob', 'bob', null, 'bob']);
  expect(names(await asked.get('/v0/transactions', before))).toEqual(['ann', 'ann', null, 'ann']);
  expect(names(await asked.get('/v0/transactions?facilitator=ann', before))).toHaveLength(3);
  const counts =
    'SELECT facilitator, count() AS n FROM settlements GROUP BY facilitator ORDER BY facilitator';
  expect((await asked.sql(counts, before)).body.rows).toMatchObject([
    { facilitator: 'ann' },
    { facilitator: null },
  ]);
  expect((await asked.sql(counts)).body.rows).toMatchObject([{ facilitator: 'bob' }, { facilitator: null }]);
});

test('a payment whose payee is catalogued no more stays in the snapshot', async ({ chain, asked }) => {
  const catalogued = catalogueWith({ payees: [payee(CAFE)] });
  await chain.publish(catalogued);
  await chain.sweep();
  await chain.grow([{ payee: CAFE, marker: 'none' }, {}]);
  await chain.finalize(0);
  const before = await asked.snapshot();
  await chain.publish(catalogueWith());
  await chain.sweep();
  expect((await asked.get('/v0/transactions')).body.transactions).toHaveLength(1);
  expect((await asked.get('/v0/transactions', before)).body.transactions).toHaveLength(2);
  expect((await asked.get(`/v0/entities/${CAFE}/settlements`, before)).body.settlements).toHaveLength(1);
});

describe('of a chain that is read from no node', () => {
  const rows = (...blocks: number[]) =>
    blocks.map((blockNumber) =>
      settlement({ chain: POLYGON, blockNumber, blockTime: NOON - 9_000 + blockNumber }),
    );
  const imports = async (writer: Writer, blocks: readonly number[], ranges: readonly BlockRange[]) => {
    await insertSettlements(writer, rows(...blocks), { ver: 1n });
    const contracts = contractsName([wallet(0xc3)]);
    const checkpoints = createCheckpoints({ chain: POLYGON, contracts }, writer, createVersions(0n));
    if (ranges.length > 0)
      await checkpoints.saveBackfill(ranges.map((range) => ({ ...range, endHash: hash(range.to) })));
    const newest = String(Math.max(...blocks));
    await reportChain(writer, POLYGON, {
      state: `'imported'`,
      indexed_block: newest,
      finalized_block: newest,
    });
  };
  const held = async (asked: Asked, snapshot: string) => {
    const listed = await asked.get('/v0/flows?limit=100', snapshot);
    const counted = await asked.sql(
      `SELECT block_number FROM settlements WHERE chain = '${POLYGON}' ORDER BY block_number`,
      snapshot,
    );
    const blocks = counted.body.rows.map((row: { block_number: number | string }) =>
      Number(row.block_number),
    );
    const ofRows = (entries: string[]) => entries.filter((entry) => entry.startsWith('eip155:'));
    expect(ofRows(counted.body.meta.left_out)).toEqual(ofRows(listed.body.meta.left_out));
    const isPartial = listed.body.meta.warnings?.includes('snapshot_is_partial') ?? false;
    return { blocks, leftOut: ofRows(listed.body.meta.left_out), isPartial };
  };

  test.for([
    ['without a record', [10, 20, 30], [], { blocks: [], leftOut: [POLYGON], isPartial: true }],
    [
      'with a record of all blocks',
      [10, 20, 30],
      [{ from: 1, to: 30 }],
      { blocks: [10, 20, 30], leftOut: [], isPartial: false },
    ],
    [
      'with a gap in the record',
      [10, 20, 30],
      [
        { from: 1, to: 12 },
        { from: 18, to: 30 },
      ],
      { blocks: [20, 30], leftOut: [`${POLYGON} before block 18`], isPartial: true },
    ],
    [
      'with a record of the middle alone',
      [10, 20, 30],
      [{ from: 15, to: 25 }],
      {
        blocks: [20],
        leftOut: [`${POLYGON} before block 15`, `${POLYGON} after block 25`],
        isPartial: true,
      },
    ],
  ] as const)('%s', async ([_, blocks, ranges, expected], { chain, asked, sandbox, sqlService }) => {
    await chain.grow(PAID);
    await chain.finalize(0);
    await imports(sandbox.writer, blocks, ranges);
    // The service looks for imports once a minute.
    sqlService.api.clock.advanceSeconds(60);
    const snapshot = await asked.snapshot();
    expect(await held(asked, snapshot)).toEqual(expected);
    const alone = await asked.get(`/v0/flows?chain=${POLYGON}`, snapshot);
    expect([
      alone.status,
      alone.body.meta?.left_out?.filter((entry: string) => entry.includes(':')) ?? null,
    ]).toEqual(expected.blocks.length === 0 ? [400, null] : [200, expected.leftOut]);
  });
});

describe('refused, and says why', () => {
  test('a block of it that was indexed again', async ({ chain, asked }) => {
    await chain.grow(PAID);
    await chain.finalize(0);
    const snapshot = await asked.snapshot();
    await chain.rewrite(1_001);
    for (const answer of [
      await asked.get('/v0/flows', snapshot),
      await asked.get(`/v0/merchants/${SHOP}`, snapshot),
      await asked.sql('SELECT count() FROM settlements', snapshot),
    ])
      expect([answer.status, answer.body.code]).toEqual([410, 'snapshot_gone']);
  });

  test('other contracts are read since', async ({ chain, asked }) => {
    await chain.grow(PAID);
    await chain.finalize(0);
    const snapshot = await asked.snapshot();
    await chain.readOtherContracts();
    const answer = await asked.get('/v0/flows', snapshot);
    expect([answer.status, answer.body.code]).toEqual([410, 'snapshot_gone']);
    expect(answer.body.detail).toContain('other contracts');
  });

  test('a revision that is kept no more, with the oldest that is, which is answered', async ({
    chain,
    asked,
    sandbox,
  }) => {
    await chain.grow(PAID);
    await chain.finalize(0);
    const oldest = await asked.snapshot();
    await chain.publish(NAMED);
    await chain.sweep();
    await chain.publish(RENAMED);
    await chain.sweep();
    expect((await asked.get('/v0/flows', oldest)).status).toBe(200);
    await sandbox.writer.run({
      name: 'test-age',
      maxSeconds: 20,
      sql: sql`ALTER TABLE catalogue_passes UPDATE created_at = now() - toIntervalDay(91) WHERE pass = 1 SETTINGS mutations_sync = 2`,
    });
    const answer = await asked.get('/v0/flows', oldest);
    expect([answer.status, answer.body.code]).toEqual([410, 'snapshot_gone']);
    const left = /can: (\S+)$/.exec(answer.body.detail)?.[1] ?? '';
    expect(parseSnapshot(left)?.revision).toBe(1);
    const named = await asked.get('/v0/transactions', left);
    expect(named.body.transactions[0].facilitator).toBe('ann');
  });

  test('a change of the catalogue by a release that kept nothing', async ({ chain, asked, sandbox }) => {
    await chain.grow(PAID);
    await chain.finalize(0);
    const before = await asked.snapshot();
    await chain.publish(NAMED);
    await chain.sweep();
    await sandbox.writer.run({
      name: 'test-unkept',
      maxSeconds: 20,
      sql: sql`ALTER TABLE regrade_progress UPDATE kept = 0 WHERE 1 SETTINGS mutations_sync = 2`,
    });
    expect((await asked.get('/v0/flows', before)).body.code).toBe('snapshot_gone');
  });

  test('a text that is no snapshot, or one of blocks and revisions that are not there yet', async ({
    chain,
    asked,
  }) => {
    await chain.grow(PAID);
    await chain.finalize(1);
    const parsed = parseSnapshot(await asked.snapshot());
    if (parsed === null) throw new Error('no snapshot');
    const wrong = [
      'yesterday',
      printSnapshot({ ...parsed, revision: parsed.revision + 1 }),
      printSnapshot({ ...parsed, chains: parsed.chains.map((one) => ({ ...one, to: one.to + 1 })) }),
    ];
    for (const text of wrong) {
      const answer = await asked.get('/v0/flows', text);
      expect([text, answer.status, answer.body.parameter]).toEqual([text, 400, 'as_of']);
    }
    const after = await asked.get('/v0/flows?after=abc', printSnapshot(parsed));
    expect(after.status).toBe(400);
  });

  test('tables and functions of SQL that a snapshot does not fix, by name and before anything is charged', async ({
    chain,
    asked,
    customer,
  }) => {
    await chain.grow(PAID);
    await chain.finalize(0);
    const snapshot = await asked.snapshot();
    const units = await customer.units();
    for (const [text, name] of [
      ['SELECT count() FROM merchant_days', 'merchant_days'],
      ['SELECT count() FROM settlements WHERE block_time > now() - 100', 'now'],
      ['SELECT rand() FROM wallet_settlements', 'rand'],
    ] as const) {
      const answer = await asked.sql(text, snapshot);
      expect([answer.status, answer.body.parameter]).toEqual([400, 'as_of']);
      expect(answer.body.detail).toContain(name);
    }
    expect(await customer.units()).toEqual(units);
  });
});

test('a kept result says its snapshot, its text and the hash of its bytes', async ({ chain, asked }) => {
  await chain.grow(PAID);
  await chain.finalize(0);
  const snapshot = await asked.snapshot();
  const text = 'SELECT tx_hash FROM settlements ORDER BY tx_hash';
  const first = await asked.sql(text, snapshot, { max_age: 60 });
  expect(first.body.result).toMatchObject({ snapshot, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  await chain.grow(PAID);
  await chain.finalize(0);
  const cited = await asked.get(`/v0/results/${first.body.result.id}`);
  expect(cited.body).toMatchObject({ sql: first.body.sql, rows: first.body.rows, result: first.body.result });
  const newest = await asked.sql(text, undefined, { max_age: 60 });
  expect(newest.body.rows.length).toBeGreaterThan(first.body.rows.length);
});

test('a job of a snapshot has its rows, also where it is waited for, and says which one', async ({
  chain,
  asked,
  customer,
  sqlService,
}) => {
  const jobs = jobsOf(sqlService.api, customer);
  await chain.grow(PAID);
  await chain.finalize(0);
  const snapshot = await asked.snapshot();
  const text = 'SELECT tx_hash, facilitator FROM settlements ORDER BY tx_hash';
  const before = await asked.sql(text, snapshot);
  await chain.publish(NAMED);
  await chain.sweep();
  await chain.grow(PAID);
  await chain.finalize(0);
  const job = await jobs.succeeded({ sql: text, as_of: snapshot });
  expect(job.as_of).toBe(snapshot);
  const result = (await jobs.result(job.result.id, { format: 'json' })).body;
  expect(result.rows).toEqual(before.body.rows);
  expect(result.meta.snapshot).toBe(snapshot);
  const waited = await asked.sql(text, snapshot, { wait_seconds: 30 });
  expect(waited.body.rows).toEqual(before.body.rows);
  const newest = await jobs.succeeded({ sql: text });
  expect([newest.as_of, newest.result.row_count]).toEqual([null, 2 * PAID.length]);
});

test('a job of what a snapshot does not fix is refused before it is queued', async ({
  chain,
  asked,
  customer,
  sqlService,
}) => {
  const jobs = jobsOf(sqlService.api, customer);
  await chain.grow(PAID);
  await chain.finalize(0);
  const refused = await jobs.create({ sql: 'SELECT now()', as_of: await asked.snapshot() });
  expect([refused.status, refused.body.parameter]).toEqual([400, 'as_of']);
  expect((await jobs.send('GET', '/v0/sql/jobs')).body.jobs).toEqual([]);
});

test('rankings and lists of other things say that they have no snapshot', async ({ chain, asked }) => {
  await chain.grow(PAID);
  await chain.finalize(0);
  for (const path of ['/v0/merchants', '/v0/leaderboard', '/v0/endpoints', '/v0/facilitators'])
    expect([path, (await asked.get(path)).body.meta.snapshot]).toEqual([path, null]);
  expect((await asked.sql('SELECT 1')).body.meta.snapshot).toBe(await asked.snapshot());
});
