import { afterAll, expect } from 'vitest';
import { attackCases, BOMB_IDS, fewAttacks } from '../../../kit/attack-cases.ts';
import { DOOR_ROWS, type Door, openDoor } from '../../../kit/clickhouse-door.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_NIGHTLY } from '../../../kit/lengths.ts';
import { PUBLISHED } from '../../../kit/published-answers.ts';

/**
 * The hostile texts through the ClickHouse interface: a few of each kind and of the bombs, because the others run against the sandbox itself
 * (at night here as well). The judge is the same; here the texts also pass the removal before it, and the words of the refusals leave by another door.
 */

/** What no answer may show: names of ours, of the engine's places, users and versions. */
const INSIDE =
  /index_of_test|_public\b|wallet_rows|26\.\d+\.\d|unhex\(|__table|\/dev\/shm|\bguest\b.*@|\(version/;
/** Refused at `/v0/sql`, and what clients of ClickHouse write: the published database, formats that `/v0/sql` does not have. */
const CLIENTS_MAY =
  /^SELECT \* FROM default\.settlements$|^SELECT 1(?: AS a)? FORMAT (?:Null|Native|RowBinary)$/;
const STAGE = {
  secretFile: '/nonexistent/secret',
  outFile: '/nonexistent/out',
  database: 'index_of_test',
};
const REFUSALS = fewAttacks(STAGE).filter(({ outcome }) => outcome === 'refused');
const BOMBS = attackCases(STAGE).filter(({ id }) => BOMB_IDS.includes(id));
/** More at once would wait in the sandbox's line. */
const AT_ONCE = 4;

let door: Door;

test.beforeAll(async ({ sqlService }) => {
  door = await openDoor(sqlService);
});
afterAll(async () => {
  await door?.close();
});

interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}
interface Hostile {
  readonly id: string;
  readonly sql: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The fault of the answer to a text, or null. `isAnswered`: a result is no fault. */
function faultOf(one: Hostile, { status, headers, text }: Asked, isAnswered = false): string | null {
  const shown = INSIDE.exec(text.replaceAll(one.sql, ''))?.[0];
  if (shown !== undefined && !one.sql.includes(shown)) return `${one.id} shows ${shown}`;
  if (isAnswered && status === 200) return null;
  const isException = /Code: \d+\. DB::Exception: .*\([A-Z_]+\)\n$/s.test(text);
  const isRefused = status >= 400 && isException && headers.get('x-clickhouse-exception-code') !== null;
  return isRefused ? null : `${one.id}: ${status} ${text.slice(0, 120)}`;
}

async function faultsOf(
  texts: readonly Hostile[],
  ask: (one: Hostile) => Promise<string | null>,
): Promise<string[]> {
  const faults: string[] = [];
  const waiting = [...texts];
  const worker = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const fault = await ask(one);
      if (fault !== null) faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return faults;
}

const wordsOf = ({ params }: Hostile): Record<string, string> =>
  Object.fromEntries(Object.entries(params ?? {}).map(([name, value]) => [`param_${name}`, String(value)]));

/** Answered from the published rows, or in a format that `/v0/sql` does not have. */
const isAnswered = (sql: string): boolean =>
  PUBLISHED.includes(sql) || CLIENTS_MAY.test(sql) || / FORMAT JSONEachRowWithProgress$/.test(sql);

test('every text that the sandbox refuses is refused here or answered from published tables, and no answer shows internals', async () => {
  expect(REFUSALS.length).toBeGreaterThan(IS_NIGHTLY ? 800 : 30);
  const faults = await faultsOf(REFUSALS, async (one) =>
    faultOf(one, await door.ask(one.sql, wordsOf(one)), isAnswered(one.sql)),
  );
  expect(faults).toEqual([]);
}, 120_000);

test('a bomb ends by its limits with an exception, and the interface answers afterwards', async () => {
  const faults = await faultsOf(BOMBS, async (one) =>
    faultOf(one, await door.ask(one.sql, { ...wordsOf(one), max_execution_time: '5' }), true),
  );
  expect(faults).toEqual([]);
  expect((await door.ask('SELECT count() FROM settlements')).text).toBe(`${DOOR_ROWS}\n`);
}, 120_000);
