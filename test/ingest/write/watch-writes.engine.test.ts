import { expect } from 'vitest';
import { sql, trustedText } from '../../../clickhouse/engine/sql.ts';
import { ATTESTATIONS } from '../../../clickhouse/tables/registries.ts';
import { insertRows } from '../../../clickhouse/tables/table.ts';
import { systemClock } from '../../../core/clock.ts';
import { fetchCards } from '../../../ingest/agents/cards/queue.ts';
import { deriveAgents } from '../../../ingest/agents/derive.ts';
import { fetchFeedback } from '../../../ingest/agents/feedback/queue.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type WriteWatch, watchWrites } from '../../../ingest/write/watch-writes.ts';
import { testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { dataUri, identitiesConfig, loopbackFetcher } from '../../kit/identities.ts';
import { attestation, insertAgentEvents, registration } from '../../kit/registry-rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

const versions = createVersions(0n);
const TABLES = ['blocks', 'checkpoints'];

/** Settled when the wait has ended. */
function waiting(writes: WriteWatch, seen: number, signal = new AbortController().signal) {
  const state = { ended: false };
  const done = writes.after(seen, TABLES, { maxMs: 3_600_000, signal }).finally(() => {
    state.ended = true;
  });
  return { state, done };
}

test('a wait ends at an insert into one of its tables, rendered, streamed or refused, and at no other', async ({
  engine,
}) => {
  const { writer, writes } = watchWrites(engine.writer);
  const run = (table: string, select: string) =>
    writer.run({
      name: 'test',
      maxSeconds: 10,
      sql: sql`INSERT INTO ${trustedText(table)} (chain, number, hash, time, ver) SELECT ${trustedText(select)}`,
    });
  const { state, done } = waiting(writes, 0);
  await writer.rows({ name: 'test', sql: sql`SELECT 1`, maxSeconds: 10, maxRows: 1 });
  await insertAgentEvents(writer, registration({ agentId: 9n }));
  expect(state.ended).toBe(false);
  await run('blocks', "'eip155:8453', 1, '', 0, 1");
  await done;
  expect(writes.count(TABLES)).toBe(1);
  await expect(run('blocks', 'no_column')).rejects.toThrow();
  expect(writes.count(TABLES)).toBe(2);
  // What was written before the wait began ends it at once.
  await waiting(writes, 1).done;
  const ending = new AbortController();
  const stopped = waiting(writes, 2, ending.signal);
  ending.abort();
  await expect(stopped.done).rejects.toThrow();
});

test('where this process alone writes, the engine is asked for agents and files after a write and at no other time', async ({
  engine,
}) => {
  const asked: string[] = [];
  const { writer, writes } = watchWrites({
    ...engine.writer,
    rows: (statement, signal) => {
      asked.push(statement.name);
      return engine.writer.rows(statement, signal);
    },
  });
  const ending = new AbortController();
  const config = identitiesConfig();
  const fetcher = loopbackFetcher(config.identities);
  const limits = { pollMs: 1, restFactor: 0, fullEveryMs: 3_600_000 };
  const deps = {
    ...{ config, fetcher, writer, writes, versions, limits },
    ...{ clock: systemClock, log: testLog, signal: ending.signal },
  };
  const running = Promise.all([deriveAgents(deps), fetchCards(deps), fetchFeedback(deps)]);
  await waitUntil('all of it was looked at once', async () =>
    ['cards-due-count', 'feedback-due-count', 'agents-due-count'].every((name) => asked.includes(name)),
  );
  await insertAgentEvents(writer, registration({ agentId: 7n, text: dataUri({ name: 'Seven' }) }));
  await insertRows(writer, {
    name: 'test-feedback',
    table: ATTESTATIONS,
    rows: [attestation({ agentId: 7n, uri: dataUri({ comment: 'Good.' }) })],
    fixed: { ver: versions.next(), del: 0 },
  });
  const count = async (from: string): Promise<number> => {
    const statement = sql`SELECT count() FROM ${trustedText(from)}`;
    const { rows } = await engine.writer.rows({
      name: 'count',
      sql: statement,
      maxSeconds: 10,
      maxRows: 1,
    });
    return Number(rows[0]?.[0]);
  };
  await waitUntil(
    'the agent has its card and its rating was read',
    async () =>
      (await count("agents FINAL WHERE name = 'Seven' AND card_status = 'good'")) === 1 &&
      (await count("feedback_files FINAL WHERE status = 'good'")) === 1,
  );
  // The last writes of the queues themselves make it look once more.
  let before = -1;
  await waitUntil('it looks no more', async () => {
    const isQuiet = asked.length === before;
    before = asked.length;
    for (let round = 0; round < 20; round++) await count('agents');
    return isQuiet;
  });
  for (let round = 0; round < 50; round++) await count('agents');
  expect(asked).toHaveLength(before);
  ending.abort();
  await running;
});
