import { describe, expect } from 'vitest';
import { fewAttacks } from '../../kit/attack-cases.ts';
import { test } from '../../kit/fixtures.ts';
import { sandboxOver } from '../../kit/judge.ts';
import { BASE, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';

/**
 * The second judgement alone: what the engine made of each name, whatever the first judgement said of the text. That it passes what
 * analysts write is in sandbox-legit.
 */

test.beforeAll(async ({ sandbox: { writer } }) => {
  await reportChain(writer, BASE);
  await insertSettlements(
    writer,
    Array.from({ length: 5_000 }, (_, at) => settlement({ blockNumber: 100 + at })),
  );
});

describe('an attack that only the first judgement stopped', () => {
  test('does not pass the second one either', async ({ judge }) => {
    const stage = { secretFile: '/etc/hostname', outFile: '/nonexistent/out', database: 'index_of_test' };
    const passed: string[] = [];
    for (const { id, family, sql, params, raw } of fewAttacks(stage)) {
      // A parameter that stands for a name is refused for its type, whatever the name is.
      const isRead = (raw === 'reads_files' || raw === 'tells') && family !== 'parameters';
      if (isRead && (await judge.resolved(sql, params)) === 'passes') passed.push(`${id}: ${sql}`);
    }
    expect(passed).toEqual([]);
  });

  test.for([
    "SELECT arrayMap(file, ['/etc/hostname'])[1] AS f FROM (SELECT 1 AS file) AS t(a)",
    "WITH t(a) AS (SELECT 1 AS file) SELECT arrayMap(file, ['/etc/hostname']) FROM t",
    "SELECT arrayMap(file, ['/etc/hostname']) FROM (SELECT untuple((1, 2)) AS file)",
    'SELECT user',
    "SELECT has((SELECT groupArray(file(payee)) FROM settlements), '')",
    'SELECT 1 WHERE length(hostName()) > 0',
  ])('%s is resolved to a refused function', async (sql, { judge }) => {
    expect(await judge.resolved(sql)).toBe('function');
  });

  test('a word that is left open until the query runs is no name that was judged', async ({ judge }) => {
    expect(await judge.resolved('SELECT count() FROM numbers(length(currentDatabase))')).toBe('unexplained');
  });

  test.for(["SELECT * FROM merge(currentDatabase(), '.')", 'SELECT number FROM zeros(2)'])(
    '%s reads from a refused table function',
    async (sql, { judge }) => {
      expect(await judge.resolved(sql)).toMatch(/^(table_function|not planned)$/);
    },
  );
});

test('the sandbox asks before it runs, once, and a subquery that gives a single value reads no row for that', async ({
  sandbox: engine,
}) => {
  const queries: { name: string; withoutRows: boolean }[] = [];
  const sandbox = sandboxOver(engine, {
    restartEngine: null,
    observeGuest: (guest) => ({
      ...guest,
      explain: (statement, signal) => {
        queries.push({ name: statement.name, withoutRows: statement.withoutRows === true });
        return guest.explain(statement, signal);
      },
    }),
  });
  const text = 'SELECT count(), (SELECT uniqExact(payer) FROM settlements) AS all FROM settlements';
  const verdict = await sandbox.inspect({ text, parameters: {}, caller: 'a' });
  if ('refused' in verdict) throw new Error(JSON.stringify(verdict.refused));
  const asked = { parameters: {}, tier: 'standard', format: 'ndjson', maxRows: 10, caller: 'a' } as const;
  const query = { ...asked, accepted: verdict.accepted };
  for (let time = 0; time < 2; time++) (await sandbox.run(query, new AbortController().signal)).body.resume();
  expect(queries.filter(({ name }) => name === 'sql-resolve')).toEqual([
    { name: 'sql-resolve', withoutRows: true },
  ]);
  await sandbox.close();
});
