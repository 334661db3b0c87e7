import { afterAll, expect } from 'vitest';
import { attackCases } from '../../../kit/attack-cases.ts';
import { type Door, openDoor } from '../../../kit/clickhouse-door.ts';
import { test } from '../../../kit/fixtures.ts';
import { PUBLISHED } from '../../../kit/published-answers.ts';

/**
 * The hostile texts through the ClickHouse interface: those that are refused, because the bombs run against the sandbox itself. The judge
 * is the same; here the texts also pass what is taken out before it, and the words of the refusals leave by another door.
 */

/** What no answer may show: names of ours, of the engine's places, users and versions. */
const INSIDE =
  /index_of_test|_public\b|wallet_rows|26\.\d+\.\d|unhex\(|__table|\/dev\/shm|\bguest\b.*@|\(version/;
/** Refused at `/v0/sql`, and what clients of ClickHouse write: the published database, formats that `/v0/sql` does not have. */
const CLIENTS_MAY =
  /^SELECT \* FROM default\.settlements$|^SELECT 1(?: AS a)? FORMAT (?:Null|Native|RowBinary)$/;
const REFUSALS = attackCases({
  secretFile: '/nonexistent/secret',
  outFile: '/nonexistent/out',
  database: 'index_of_test',
}).filter(
  ({ sql, expect: { outcome } }) =>
    outcome === 'refused' && !CLIENTS_MAY.test(sql) && !PUBLISHED.includes(sql),
);
/** More at once would wait in the sandbox's line. */
const AT_ONCE = 4;

let door: Door;

test.beforeAll(async ({ sqlService }) => {
  door = await openDoor(sqlService);
});
afterAll(async () => {
  await door?.close();
});

test('every text that the sandbox refuses is refused here, and no refusal tells what is inside', async () => {
  expect(REFUSALS.length).toBeGreaterThan(300);
  const failed: string[] = [];
  const waiting = [...REFUSALS];
  const worker = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const words = Object.fromEntries(
        Object.entries(one.params ?? {}).map(([name, value]) => [`param_${name}`, String(value)]),
      );
      const { status, headers, text } = await door.ask(one.sql, words);
      const isException = /^Code: \d+\. DB::Exception: .*\([A-Z_]+\)\n$/s.test(text);
      const shown = INSIDE.exec(text.replaceAll(one.sql, ''))?.[0];
      if (status < 400 || !isException || headers.get('x-clickhouse-exception-code') === null)
        failed.push(`${one.id}: ${status} ${text.slice(0, 120)}`);
      else if (shown !== undefined && !one.sql.includes(shown)) failed.push(`${one.id} shows ${shown}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(failed).toEqual([]);
}, 120_000);
