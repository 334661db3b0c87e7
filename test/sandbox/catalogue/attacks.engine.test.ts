import { afterAll, describe, expect } from 'vitest';
import { Refused } from '../../../sandbox/judge/refusal.ts';
import { QueryFailed } from '../../../sandbox/sandbox.ts';
import { fewAttacks } from '../../kit/attack-cases.ts';
import { type PlantedSecrets, plantSecrets } from '../../kit/attack-stage.ts';
import { test } from '../../kit/fixtures.ts';
import { type AskedCatalogue, askedCatalogue } from '../../kit/introspection.ts';
import { PUBLISHED } from '../../kit/published-answers.ts';

/** A few attacks of each kind, at night all, sent as questions to the catalogue: free of charge must not mean less looked at. */

/** When a question must be over on a machine that others use too. */
const OVER_MS = 15_000;
/** What one of the walls must have let through. */
const INSIDE = /index_of_test|\bguest\b|26\.7\./;

let catalogue: AskedCatalogue;
let planted: PlantedSecrets;
test.beforeAll(async ({ sandbox }) => {
  catalogue = askedCatalogue(sandbox);
  planted = await plantSecrets(sandbox.writer, sandbox.access.database);
});
afterAll(async () => {
  await planted?.uproot();
  await catalogue?.close();
});

type Outcome = 'refused' | 'not answered' | 'failed' | string;

async function outcomeOf(text: string, parameters: Readonly<Record<string, string>>): Promise<Outcome> {
  try {
    const answer = await catalogue.ask(text, { parameters });
    return answer === null ? 'not answered' : `answered ${answer.toString('latin1')}`;
  } catch (error) {
    if (error instanceof Refused) return 'refused';
    if (error instanceof QueryFailed) return 'failed';
    throw error;
  }
}

describe('the corpus of attacks through the catalogue', () => {
  test('none that is refused as a query is answered, unless by the constants that are published', async () => {
    const cases = fewAttacks(planted);
    const answered: string[] = [];
    for (const { id, sql, params, outcome: wanted } of cases) {
      const outcome = await outcomeOf(sql, params);
      if (INSIDE.test(outcome) || planted.secretIn(outcome) !== undefined)
        answered.push(`${id}: ${sql} => ${outcome.slice(0, 200)}`);
      else if (outcome.startsWith('answered') && wanted === 'refused') answered.push(sql);
    }
    expect(answered).toEqual(cases.map(({ sql }) => sql).filter((sql) => PUBLISHED.includes(sql)));
  });

  test.each([
    'SELECT count() FROM system.columns AS a, system.columns AS b, system.columns AS c',
    'SELECT count() FROM system.columns AS a CROSS JOIN system.columns AS b CROSS JOIN system.columns AS c',
    'SELECT sum(n) FROM (SELECT 1 AS n FROM system.columns AS a, system.functions AS b) AS x, system.columns AS y',
    'WITH t AS (SELECT name FROM system.columns) SELECT count() FROM t AS a, t AS b, t AS c',
    'SELECT count() FROM system.functions AS a WHERE (SELECT count() FROM system.functions AS b, system.functions AS c WHERE b.name != a.name) > 0',
    'SELECT count() FROM system.columns ARRAY JOIN range(100000) AS n',
    'SELECT count() FROM (SELECT arrayJoin(range(100000)) FROM system.columns)',
    'SELECT version(), count() FROM (SELECT arrayJoin(range(100000000)))',
    'SELECT version(), sum(n) FROM (SELECT arrayJoin(range(100000)) AS n, arrayJoin(range(100000)) AS m)',
    "SELECT count() FROM system.tables ARRAY JOIN splitByChar(',', repeat(',', 10000000)) AS n",
    'SELECT count() FROM system.columns ARRAY JOIN [1,2,3] AS a ARRAY JOIN [1,2,3] AS b',
    'SELECT number FROM (SELECT toUInt64(dummy) AS number FROM system.one) ORDER BY number WITH FILL FROM 0 TO 100000000 LIMIT 1',
    'WITH RECURSIVE t AS (SELECT 1 AS n FROM system.one UNION ALL SELECT n + 1 FROM t WHERE n < 100000000) SELECT count() FROM t',
  ])('%s makes more rows than are free', async (text) => {
    expect(await outcomeOf(text, {})).toMatch(/^(refused|not answered)$/);
  });

  test('a caller that used its free time waits, whatever its questions are, and no other caller does', async ({
    sandbox,
  }) => {
    const spent = askedCatalogue(sandbox, { catalogueFreeMs: 0 });
    expect((await spent.ask('SHOW TABLES'))?.length).toBeGreaterThan(0);
    for (const text of ['SHOW TABLES', 'SELECT name FROM system.tables', 'DESCRIBE agents'])
      await expect(spent.ask(text)).rejects.toMatchObject({ name: 'SandboxBusy', reason: 'free_time' });
    expect((await spent.ask('SHOW TABLES', { callerName: 'org:other' }))?.length).toBeGreaterThan(0);
    await spent.close();
  });

  test('work over the catalogue ends after two seconds, and large answers with little memory', async () => {
    const began = performance.now();
    const four = 'system.functions AS a, system.functions AS b, system.functions AS c, system.functions AS d';
    expect(
      await outcomeOf(`SELECT count() FROM ${four} WHERE a.name > b.name AND c.name > d.name`, {}),
    ).toMatch(/^(failed|refused)$/);
    expect(performance.now() - began).toBeLessThan(OVER_MS);
    expect(await outcomeOf('SELECT groupArray(repeat(name, 10000)) FROM system.functions', {})).toMatch(
      /^(failed|refused)$/,
    );
    expect(await outcomeOf('SELECT 1', {})).toBe('answered 1\n');
  });

  test('a caller whose SQL is not run gets no answer here either', async ({ sandbox }) => {
    const closed = askedCatalogue(sandbox, { openTo: () => 'organizations' });
    const ip = { callerName: 'ip:192.0.2.1' };
    for (const text of ['SHOW TABLES', 'SELECT 1', 'SELECT name FROM system.tables'])
      expect(await closed.ask(text, ip), text).toBeNull();
    expect((await closed.ask('SELECT 1'))?.toString('utf8')).toBe('1\n');
    await closed.close();
  });
});
