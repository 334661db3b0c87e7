import { afterAll, describe, expect } from 'vitest';
import { publicDatabaseOf } from '../../../clickhouse/engine/databases.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { REMOTE_MEMORY_BYTES } from '../../../clickhouse/guest/memory.ts';
import { type InspectDeps, inspect } from '../../../sandbox/judge/inspect.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { type AttackCase, attackCases, FAMILY_NAMES, fewAttacks } from '../../kit/attack-cases.ts';
import { type PlantedSecrets, plantSecrets } from '../../kit/attack-stage.ts';
import { test } from '../../kit/fixtures.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/**
 * Every attack of `test/attacks` against the first wall, which judges the text; and a few of each kind, at night all, against the second:
 * what the engine does with the very same text when the guest sends it unread.
 */

/** Engine seconds for one attack; what has not ended by then is ended by its limit. */
const SECONDS = 1;
/** The same for a bomb: a hundred of them take all of it. */
const BOMB_SECONDS = 0.25;
/** When an attack must be over on a machine that others use too. Without its limits each of the bombs runs for minutes. */
const OVER_MS = 20_000;
/** The engine ends a result with the block that is too large, and one row may be most of what a query may hold. The API cuts it. */
const ANSWER_MAX_BYTES = REMOTE_MEMORY_BYTES;

let engine: SandboxEngine;
let deps: InspectDeps;
let planted: PlantedSecrets;
let databasesBefore: string[];

test.beforeAll(async ({ sandbox }) => {
  engine = sandbox;
  deps = { parser: createEngineParser(engine.guest), policy: loadPolicy() };
  planted = await plantSecrets(engine.writer, engine.access.database);
  databasesBefore = await databases();
});
afterAll(() => planted?.uproot());

async function databases(): Promise<string[]> {
  const { rows } = await engine.writer.rows({
    name: 'databases',
    sql: trustedText('SELECT name FROM system.databases ORDER BY name'),
    maxSeconds: 10,
    maxRows: 100,
  });
  return rows.map(([name]) => String(name));
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** The text as it is, over HTTP, as the guest: nothing of ours between it and the engine. */
async function sendRaw(
  sql: string,
  params: Readonly<Record<string, string>> = {},
  seconds = SECONDS,
): Promise<Answer> {
  const url = new URL(engine.access.url);
  url.searchParams.set('database', publicDatabaseOf(engine.access.database));
  url.searchParams.set('default_format', 'JSONCompactEachRow');
  url.searchParams.set('wait_end_of_query', '1');
  url.searchParams.set('max_execution_time', String(seconds));
  for (const [name, value] of Object.entries(params))
    url.searchParams.set(`param_${name}`, escapeValue(value));
  const { user, password } = engine.access.guest;
  const started = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    body: sql,
    headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password },
    signal: AbortSignal.timeout(OVER_MS),
  });
  const text = await response.text();
  return { status: response.status, text, ms: performance.now() - started };
}

/** Values travel in the escapes of TabSeparated, as the engine reads them. */
function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** The mistake in the verdict of the first wall, or null. */
async function faultOfFirstWall({ sql, params, outcome, code }: AttackCase): Promise<string | null> {
  const verdict = await inspect(sql, params, deps);
  if (outcome === 'refused') {
    if (!('refused' in verdict)) return 'is accepted';
    if (verdict.refused.code !== code) return `is refused as ${verdict.refused.code}`;
    return /26\.\d+\.|_public\b|DB::|unhex/.exec(JSON.stringify(verdict))?.[0] ?? null;
  }
  if ('refused' in verdict) return `is refused as ${verdict.refused.code}`;
  if (outcome === 'bounded') return null;
  const { status, text } = await sendRaw(verdict.accepted.text, params);
  return (
    planted.secretIn(text) ??
    (status === 200 ? (/index_of_test|26\.7|\bguest\b/.exec(text)?.[0] ?? null) : null)
  );
}

async function faultOfSecondWall({ sql, params, outcome, raw }: AttackCase): Promise<string | null> {
  const { status, text, ms } = await sendRaw(sql, params, outcome === 'bounded' ? BOMB_SECONDS : SECONDS);
  if (ms > OVER_MS) return `took ${ms} ms`;
  if (text.length > ANSWER_MAX_BYTES) return `answers ${text.length} bytes`;
  if (raw === 'denied' && status === 200) return `answers ${text.slice(0, 200)}`;
  return planted.secretIn(text) ?? null;
}

async function faultsOf(
  cases: readonly AttackCase[],
  faultOf: (one: AttackCase) => Promise<string | null>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const one of cases) {
    const fault = await faultOf(one);
    if (fault !== null) faults.push(`${one.id}, ${one.what}: ${fault}`);
  }
  return faults;
}

test.each(FAMILY_NAMES)('the first wall takes every attack of %s as its line says', async (family) => {
  const cases = attackCases(planted).filter((one) => one.family === family);
  expect(await faultsOf(cases, faultOfFirstWall)).toEqual([]);
});

describe('behind the first wall', () => {
  test.each(FAMILY_NAMES)('the guest gets nothing by attacks of %s, within its limits', async (family) => {
    const cases = fewAttacks(planted).filter((one) => one.family === family && one.raw !== 'unstoppable');
    expect(await faultsOf(cases, faultOfSecondWall)).toEqual([]);
  });

  test('the scalar function file() reads no file of the host', async () => {
    const { status, text } = await sendRaw(`SELECT file('${planted.secretFile}')`);
    expect(status).not.toBe(200);
    expect(planted.secretIn(text)).toBeUndefined();
  });

  test('nothing was written, nothing is left behind, and the engine answers the next question', async () => {
    expect(planted.isWritten()).toBe(false);
    expect(await databases()).toEqual(databasesBefore);
    expect(await sendRaw('SELECT count() FROM settlements')).toMatchObject({ status: 200, text: '["1"]\n' });
  });
});

test('there are at least 1,000 attacks, no two of them the same', () => {
  const texts = attackCases(planted).map(({ sql, params }) => `${sql}\u0000${JSON.stringify(params)}`);
  expect(new Set(texts).size).toBe(texts.length);
  expect(texts.length).toBeGreaterThanOrEqual(1_000);
});
