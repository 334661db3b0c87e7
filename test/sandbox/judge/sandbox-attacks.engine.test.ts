import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { publicDatabaseOf, snapshotDatabaseOf } from '../../../clickhouse/guest/public-database.ts';
import { GUEST_MEMORY_MAX_BYTES } from '../../../clickhouse/guest/settings.ts';
import { type InspectDeps, inspect } from '../../../sandbox/judge/inspect.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { type AttackCase, attackCases } from '../../kit/attack-cases.ts';
import {
  BASE,
  insertSettlements,
  nameFacilitator,
  reportChain,
  settlement,
  tombstone,
} from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

/**
 * Both walls against every attack of ours: what the inspector says, and what the engine does with the very same text when the
 * guest sends it unread. Secrets are planted where only a hole leads: a row of another database, a row that a view hides, a file.
 */

const SECRET_ROW = 'canary-in-a-row';
const SECRET_HIDDEN = 'canary-in-a-hidden-row';
const SECRET_FILE = 'canary-in-a-file';
const SECRETS = [SECRET_ROW, SECRET_HIDDEN, SECRET_FILE];

const directory = mkdtempSync(join(tmpdir(), 'settlement-index-attacks-'));
const DATABASE = 'index_of_test';
const outFile = join(directory, 'written-by-an-attack');
const secretFile = join(directory, 'secret.txt');
const CASES = attackCases({ secretFile, outFile, database: DATABASE });
const named = (cases: readonly AttackCase[]) => cases.map((one) => [one.id, one.what, one] as const);

/** Engine seconds for one attack; what has not ended by then is ended by its limit. */
const SECONDS = 1;
/** The same for a bomb: a hundred of them take all of it. */
const BOMB_SECONDS = 0.25;
/** When an attack must be over on a machine that others use too. Without its limits each of the bombs runs for minutes. */
const OVER_MS = 20_000;
/** The engine ends a result with the block that is too large, and one row may be most of what a query may hold. The API cuts it. */
const ANSWER_MAX_BYTES = GUEST_MEMORY_MAX_BYTES;

let engine: SandboxEngine;
let deps: InspectDeps;

beforeAll(async () => {
  writeFileSync(secretFile, SECRET_FILE);
  engine = await sandboxEngine();
  expect(engine.access.database).toBe(DATABASE);
  deps = { parser: createEngineParser(engine.guest), policy: loadPolicy() };
  const run = (text: string) => engine.writer.run({ name: 'plant', sql: trustedText(text), maxSeconds: 20 });
  await run('CREATE DATABASE vault');
  await run('CREATE TABLE vault.secrets (s String) ENGINE = MergeTree ORDER BY s');
  await run(`INSERT INTO vault.secrets VALUES ('${SECRET_ROW}')`);
  await reportChain(engine.writer, BASE, { finalized_block: '1000' });
  const hidden = settlement({ blockNumber: 5, facilitator: SECRET_HIDDEN });
  await insertSettlements(engine.writer, [settlement({ blockNumber: 1 }), hidden]);
  await tombstone(engine.writer, [hidden]);
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
});
afterAll(async () => {
  await engine?.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** The text as it is, over HTTP, as the guest: nothing of ours between it and the engine. */
async function sendRaw(
  sql: string,
  params: Readonly<Record<string, string>>,
  seconds = SECONDS,
): Promise<Answer> {
  const url = new URL(engine.access.url);
  url.searchParams.set('database', publicDatabaseOf(DATABASE));
  url.searchParams.set('default_format', 'JSONCompactEachRow');
  url.searchParams.set('wait_end_of_query', '1');
  url.searchParams.set('max_execution_time', String(seconds));
  for (const [name, value] of Object.entries(params))
    url.searchParams.set(`param_${name}`, escapeValue(value));
  const started = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    body: sql,
    headers: {
      'X-ClickHouse-User': engine.access.guest.user,
      'X-ClickHouse-Key': engine.access.guest.password,
    },
    signal: AbortSignal.timeout(OVER_MS),
  });
  const text = await response.text();
  return { status: response.status, text, ms: performance.now() - started };
}

/** Values travel in the escapes of TabSeparated, as the engine reads them. */
function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function expectNoSecret({ text }: Answer): void {
  for (const secret of SECRETS) expect(text.includes(secret), secret).toBe(false);
}

describe('the first wall', () => {
  test.each(named(CASES))('%s: %s', async (_id, _what, { sql, params, expect: wanted }) => {
    const verdict = await inspect(sql, params, deps);
    if (wanted.outcome === 'refused') {
      expect(verdict).toMatchObject({ refused: { code: wanted.code } });
      expect(JSON.stringify(verdict)).not.toMatch(/26\.\d+\.|_public\b|DB::|unhex/);
      return;
    }
    expect(verdict).toHaveProperty('accepted');
    if (wanted.outcome !== 'harmless' || !('accepted' in verdict)) return;
    const answer = await sendRaw(verdict.accepted.text, params);
    expectNoSecret(answer);
    if (answer.status === 200) expect(answer.text).not.toMatch(/index_of_test|26\.7|\bguest\b/);
  });
});

describe('the second wall', () => {
  test.each(named(CASES.filter(({ raw }) => raw !== 'unstoppable')))(
    '%s: %s',
    async (_id, _what, { sql, params, raw, expect: { outcome } }) => {
      const answer = await sendRaw(sql, params, outcome === 'bounded' ? BOMB_SECONDS : SECONDS);
      expect(answer.ms).toBeLessThan(OVER_MS);
      expect(answer.text.length).toBeLessThan(ANSWER_MAX_BYTES);
      if (raw === 'denied') expect(answer.status, answer.text.slice(0, 200)).not.toBe(200);
      expectNoSecret(answer);
    },
  );

  test('the scalar function file() reads no file of the host', async () => {
    const answer = await sendRaw(`SELECT file('${secretFile}')`, {});
    expect(answer.status).not.toBe(200);
    expect(answer.text).not.toContain(SECRET_FILE);
  });
});

describe('after all of it', () => {
  test('nothing was written, and nothing is left behind', async () => {
    expect(existsSync(outFile)).toBe(false);
    const { rows } = await engine.writer.rows({
      name: 'left-behind',
      sql: trustedText(
        "SELECT name FROM system.databases WHERE name NOT IN ('default', 'system') ORDER BY name",
      ),
      maxSeconds: 10,
      maxRows: 100,
    });
    expect(rows.flat().filter((name) => !/information_schema/i.test(String(name)))).toEqual([
      DATABASE,
      publicDatabaseOf(DATABASE),
      snapshotDatabaseOf(DATABASE),
      'vault',
    ]);
  });

  test('the engine still runs, and answers the next question', async () => {
    expect(await sendRaw('SELECT count() FROM settlements', {})).toMatchObject({
      status: 200,
      text: '["1"]\n',
    });
  });
});

test('there are at least 320 attacks, no two of them the same', () => {
  const texts = CASES.map(({ sql, params }) => `${sql}\u0000${JSON.stringify(params)}`);
  expect(new Set(texts).size).toBe(CASES.length);
  expect(CASES.length).toBeGreaterThanOrEqual(320);
});
