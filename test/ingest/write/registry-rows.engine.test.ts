import fc from 'fast-check';
import { expect } from 'vitest';
import { type Sql, sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import {
  AGENT_EVENTS,
  type AgentEvent,
  ATTESTATIONS,
  type Attestation,
} from '../../../clickhouse/tables/registries.ts';
import { insertRows } from '../../../clickhouse/tables/table.ts';
import { address } from '../../../core/domain/account.ts';
import { ATTESTATION_KINDS } from '../../../core/domain/agent.ts';
import { type Chain, chainOf } from '../../../core/domain/chains.ts';
import { NO_ROWS } from '../../../ingest/write/batch-rows.ts';
import { createBatchWriter } from '../../../ingest/write/batch-writer.ts';
import { retractAbove } from '../../../ingest/write/retract.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { word } from '../../kit/chain-logs.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { agentEvent, attestation } from '../../kit/registry-rows.ts';
import { NOON } from '../../kit/rows.ts';

const versions = createVersions(0n);

const ask = async (engine: TestEngine, statement: Sql): Promise<readonly (readonly unknown[])[]> =>
  (await engine.writer.rows({ name: 'read-back', sql: statement, maxSeconds: 20, maxRows: 10_000 })).rows;

const hash = fc.bigInt(0n, 2n ** 256n - 1n).map(word);
const account = fc
  .bigInt(0n, 2n ** 160n - 1n)
  .map((value) => address(`0x${value.toString(16).padStart(40, '0')}`));
const agentId = fc.oneof(fc.constantFrom(0n, 2n ** 64n, 2n ** 256n - 1n), fc.bigInt(0n, 2n ** 256n - 1n));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('', '\0\t\n', '€'.repeat(20_000)),
);
const bytes = fc
  .uint8Array({ maxLength: 300 })
  .map((some) => `0x${Buffer.from(some).toString('hex')}` as const);

test('any event and any attestation come back as they were written', async ({ engine }) => {
  const events = fc
    .sample(
      fc.record({
        kind: fc.constantFrom('registered', 'uri_updated', 'metadata_set', 'wallet_set', 'transferred'),
        agentId,
        account,
        text,
        data: bytes,
      }),
      { numRuns: 300, seed: 8004 },
    )
    .map((fields, logIndex) => agentEvent({ ...fields, logIndex } as Partial<AgentEvent>));
  const attestations = fc
    .sample(
      fc.record({
        kind: fc.constantFrom(...ATTESTATION_KINDS),
        agentId,
        author: account,
        client: account,
        feedbackIndex: fc.bigInt(0n, 2n ** 64n - 1n),
        value: fc.oneof(
          fc.constantFrom(0n, -1n, 2n ** 127n - 1n, -(2n ** 127n), 2n ** 64n, -(2n ** 64n)),
          fc.bigInt(-(2n ** 127n), 2n ** 127n - 1n),
        ),
        valueDecimals: fc.integer({ min: 0, max: 18 }),
        tag1: text,
        tag2: text,
        endpoint: text,
        uri: text,
        fileHash: hash,
        requestHash: hash,
      }),
      { numRuns: 300, seed: 8004 },
    )
    .map((fields, logIndex) => attestation({ ...fields, logIndex }));
  const written = { ver: 7n, del: 0 } as const;
  await insertRows(engine.writer, { name: 'events', table: AGENT_EVENTS, rows: events, fixed: written });
  await insertRows(engine.writer, {
    name: 'attestations',
    table: ATTESTATIONS,
    rows: attestations,
    fixed: { ...written, del: 1 },
  });
  const place = sql`chain, block_number, toUnixTimestamp(block_time), concat('0x', lower(hex(block_hash))), concat('0x', lower(hex(tx_hash))), log_index, toString(kind), toString(agent_id)`;
  const placeOf = (row: AgentEvent | Attestation): unknown[] => [
    row.chain,
    String(row.blockNumber),
    row.blockTime,
    row.blockHash,
    row.txHash,
    row.logIndex,
    row.kind,
    String(row.agentId),
  ];
  expect(
    await ask(
      engine,
      sql`SELECT ${place}, concat('0x', lower(hex(account))), text, concat('0x', lower(hex(data))), ver, del FROM agent_events ORDER BY log_index`,
    ),
  ).toEqual(events.map((row) => [...placeOf(row), row.account, row.text, row.data, '7', 0]));
  expect(
    await ask(
      engine,
      sql`SELECT ${place}, concat('0x', lower(hex(author))), concat('0x', lower(hex(client))), toString(feedback_index), toString(value), value_decimals,
            tag1, tag2, endpoint, uri, concat('0x', lower(hex(file_hash))), concat('0x', lower(hex(request_hash))), ver, del
          FROM attestations ORDER BY log_index`,
    ),
  ).toEqual(
    attestations.map((row) => [
      ...placeOf(row),
      row.author,
      row.client,
      String(row.feedbackIndex),
      String(row.value),
      row.valueDecimals,
      row.tag1,
      row.tag2,
      row.endpoint,
      row.uri,
      row.fileHash,
      row.requestHash,
      '7',
      1,
    ]),
  );
});

const batchesOf = (engine: TestEngine, chain: Chain) =>
  createBatchWriter({
    chain,
    writer: engine.writer,
    versions,
    log: testLog,
    signal: new AbortController().signal,
  });

const TABLES_OF_REGISTRIES = [
  'agent_events',
  'attestations',
  'agent_attestations',
  'feedback_revocations',
  'feedback_files',
  'agent_feedback_files',
] as const;

async function liveBlocks(engine: TestEngine, table: string, chain: Chain): Promise<number[]> {
  const rows = await ask(
    engine,
    sql`SELECT DISTINCT block_number FROM ${trustedText(table)} FINAL WHERE chain = ${trustedText(`'${chain}'`)} AND del = 0 ORDER BY block_number`,
  );
  return rows.map(([number]) => Number(number));
}

const changesOf = async (engine: TestEngine, chain: Chain): Promise<number> =>
  Number(
    (
      await ask(
        engine,
        sql`SELECT sum(changes) FROM agent_changes WHERE chain = ${trustedText(`'${chain}'`)}`,
      )
    )[0]?.[0],
  );

const timeOf = (block: number): number => NOON + (block - 1_000) * 2;
const above = (engine: TestEngine, chain: Chain, block: number): Promise<void> =>
  retractAbove(engine.writer, versions, chain, { number: block, time: timeOf(block) });

/** One event of an agent, one feedback with a file and its revocation, per block. */
async function writeBlocks(engine: TestEngine, chain: Chain, blocks: readonly number[]): Promise<void> {
  await batchesOf(engine, chain).write({
    ...NO_ROWS,
    agentEvents: blocks.map((blockNumber) => agentEvent({ chain, blockNumber })),
    attestations: blocks.flatMap((blockNumber) => {
      const at = { chain, blockNumber, blockTime: timeOf(blockNumber) };
      return [
        attestation({ ...at, logIndex: 1, uri: 'ipfs://file' }),
        attestation({ ...at, logIndex: 2, kind: 'revocation' }),
      ];
    }),
  });
}

test('a window of nothing but registry logs is in every table when it is acknowledged', async ({
  engine,
}) => {
  const chain = chainOf(11);
  await writeBlocks(engine, chain, [1, 2]);
  for (const table of TABLES_OF_REGISTRIES)
    expect([table, await liveBlocks(engine, table, chain)]).toEqual([table, [1, 2]]);
});

test('everything above the ancestor is gone from every table, and every other chain stays', async ({
  engine,
}) => {
  const [chain, other] = [chainOf(12), chainOf(13)];
  await writeBlocks(engine, chain, [1, 2, 3, 4]);
  await writeBlocks(engine, other, [1, 2, 3, 4]);
  await above(engine, chain, 2);
  for (const table of TABLES_OF_REGISTRIES) {
    expect([table, await liveBlocks(engine, table, chain)]).toEqual([table, [1, 2]]);
    expect([table, await liveBlocks(engine, table, other)]).toEqual([table, [1, 2, 3, 4]]);
  }
  await writeBlocks(engine, chain, [3]);
  for (const table of TABLES_OF_REGISTRIES)
    expect([table, await liveBlocks(engine, table, chain)]).toEqual([table, [1, 2, 3]]);
});

test.for([
  ['agent_attestations', chainOf(15)],
  ['feedback_files', chainOf(14)],
  ['agent_feedback_files', chainOf(19)],
  ['feedback_revocations', chainOf(18)],
] as const)('a row that a crash left in %s alone is retracted too', async ([table, chain], { engine }) => {
  await writeBlocks(engine, chain, [1]);
  const time = table.endsWith('feedback_files') ? sql`` : sql`, block_time + 10 AS block_time`;
  await engine.writer.run({
    name: 'orphan',
    sql: sql`INSERT INTO ${trustedText(table)} SELECT * REPLACE(6 AS block_number${time})
               FROM (SELECT * FROM ${trustedText(table)} FINAL WHERE chain = ${trustedText(`'${chain}'`)})`,
    maxSeconds: 10,
  });
  expect(await liveBlocks(engine, table, chain)).toEqual([1, 6]);
  await above(engine, chain, 1);
  expect(await liveBlocks(engine, table, chain)).toEqual([1]);
});

test('agents whose tombstones a crash hid from the view are due all the same', async ({ engine }) => {
  const chain = chainOf(16);
  await writeBlocks(engine, chain, [1, 2]);
  for (const table of ['agent_events', 'attestations'])
    await engine.writer.run({
      name: 'hidden-tombstones',
      sql: sql`INSERT INTO ${trustedText(table)} SELECT * REPLACE(${trustedText(String(versions.next()))} AS ver, 1 AS del)
               FROM (SELECT * FROM ${trustedText(table)} FINAL WHERE chain = ${trustedText(`'${chain}'`)} AND block_number > 1)`,
      maxSeconds: 10,
    });
  const before = await changesOf(engine, chain);
  await above(engine, chain, 1);
  expect(await changesOf(engine, chain)).toBeGreaterThan(before);
});
