import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type EngineAccess,
  EngineError,
  type Guest,
  type Reader,
} from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { nodesOf } from '../../../clickhouse/engine/nodes.ts';
import { createGuest } from '../../../clickhouse/guest/engine.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { inspect } from '../../../sandbox/judge/inspect.ts';
import { parametersAsSent } from '../../../sandbox/judge/literals/parameters.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { openSandbox } from '../../../sandbox/open.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { createFreshness } from '../../../src/operations/index-state/freshness.ts';
import { createRollups } from '../../../src/operations/index-state/rollups.ts';
import { createSnapshots } from '../../../src/operations/index-state/snapshots.ts';
import { createNames } from '../../../src/operations/names.ts';
import { sqlTierSeconds } from '../../../src/operations/prices.ts';
import { answerProfile } from '../../../src/operations/wallets/merchant.ts';
import { type TestApi, testApi, testClock } from '../../kit/api.ts';
import { startCluster, type TestCluster } from '../../kit/cluster.ts';
import { seedConsole } from '../../kit/console-seed.ts';
import { testLog } from '../../kit/engine.ts';
import { IS_NIGHTLY } from '../../kit/lengths.ts';
import { BUYER, SHOP } from '../../kit/market.ts';
import { rollUp } from '../../kit/roll-up.ts';
import { BASE, NOON, POLYGON } from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';
import { watchSecret } from '../../kit/secrets-watch.ts';

/** Two shards and one engine hold the same rows, written and rolled up by the same code, and answer the same. In the long run only. */

const DATABASE = 'index_of_test';
const DAY = 86_400;

interface Side {
  readonly api: TestApi;
  readonly reader: Reader;
  readonly guest: Guest;
  close(): Promise<void>;
}

let cluster: TestCluster;
let one: SandboxEngine;
let sides: readonly [Side, Side];

beforeAll(async () => {
  // Both are written at the same moment: names made of the time are then equal.
  vi.useFakeTimers({ toFake: ['Date'], now: NOON * 1_000 });
  [cluster, one] = await Promise.all([
    startCluster({ shards: 2, database: DATABASE, log: testLog }),
    sandboxEngine(),
  ]);
  for (const secret of cluster.secrets) watchSecret(secret);
  await migrate(cluster.access, testLog);
  sides = [await fill(one.access, [one.access]), await fill(cluster.access, nodesOf(cluster.access))];
});
afterAll(async () => {
  vi.useRealTimers();
  await Promise.all((sides ?? []).map((side) => side.close()));
  await Promise.all([one?.close(), cluster?.close()]);
});

/** `parts`: where slices are rolled up. The newest days stay open, and a busy one is closed by hours. */
async function fill(access: EngineAccess, parts: readonly EngineAccess[]): Promise<Side> {
  const writer = createWriter(access, testLog);
  await seedConsole(writer);
  for (const part of parts) {
    const own = createWriter(part, testLog);
    await rollUp(own, { below: NOON - 4 * DAY, splitAboveRows: 11 });
    await own.close();
  }
  await writer.close();
  const reader = createReader(access, testLog);
  const sandbox = openSandbox({
    access,
    log: testLog,
    cores: 2,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  const api = await testApi(reader, { sandbox });
  const guest = createGuest(access);
  return {
    api,
    reader,
    guest,
    close: async () => {
      await api.close();
      await Promise.all([sandbox.close(), reader.close(), guest.close()]);
    },
  };
}

/** What a moment has in it, and which engine it was. */
const PASSING = /^(uptime_seconds|engine|as_of|generated_at|elapsed_ms|request_id|query_id|instance)$/;

function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !PASSING.test(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, lasting(inner)]));
}

/** Every reading route, with what its filters and orders do. */
const PATHS: readonly string[] = [
  '/v0/flows?limit=100',
  '/v0/flows?chain=eip155:8453',
  '/v0/flows?finality=finalized',
  '/v0/transactions?limit=100',
  '/v0/transactions?facilitator=coinbase',
  '/v0/transactions?tier=proven&chain=eip155:8453',
  `/v0/entities/${SHOP}/settlements?limit=100`,
  `/v0/entities/${BUYER}/settlements?role=payer`,
  '/v0/wallets?limit=100',
  '/v0/facilitators?limit=50',
  `/v0/merchants/${SHOP}`,
  `/v0/agents/${BUYER}`,
  '/v0/agents',
  '/v0/agents?q=weather',
  '/v0/leaderboard?include_spam=1',
  '/v0/attestations',
  '/v0/graph?days=30',
  `/v0/graph?days=30&wallet=${SHOP}`,
  '/v0/endpoints',
  '/v0/endpoints?q=weather',
  '/v0/capabilities',
  '/v0/capabilities/weather',
  '/v0/telemetry',
  '/v0/sql/schema',
  '/readyz',
];

describe.runIf(IS_NIGHTLY)('every route', () => {
  test.each(PATHS)('%s', async (path) => {
    const [single, many] = await Promise.all(sides.map(({ api }) => api.get(path)));
    expect([single?.status, many?.status], many?.text).toEqual([200, 200]);
    expect(lasting(many?.body)).toEqual(lasting(single?.body));
  });

  test('is among these, but for the account, which asks no engine', () => {
    const reading = OPERATIONS.filter(({ method, price }) => method === 'GET' && price.class !== 'sold');
    const missing = reading.filter(({ path }) => {
      const form = new RegExp(`^/v0${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
      return !PATHS.some((one) => form.test(one));
    });
    expect(missing.map(({ id }) => id)).toEqual(['getAccount']);
  });

  test.each(['/v0/flows', '/v0/transactions', `/v0/entities/${SHOP}/settlements`])(
    'a walk through %s goes on where it was, also on the other side',
    async (path) => {
      const [single, many] = sides;
      const page = (await many.api.get(`${path}?limit=7`)).body;
      const next = `${path}?limit=100&before=${encodeURIComponent(page.next_before)}`;
      const [here, there] = [await single.api.get(next), await many.api.get(next)];
      expect(there.status).toBe(200);
      expect(lasting(there.body)).toEqual(lasting(here.body));
    },
  );
});

/** So that nothing is read whole: the newest rows are scanned, and rollups tell the rest. */
const CUT = { scanRowsMax: 6, wholeRowsReadMax: 1 } as const;

test.runIf(IS_NIGHTLY).each([
  [SHOP, 'payee'],
  [BUYER, 'payer'],
] as const)('the profile of a wallet that is too large to be read whole: %s', async (wallet, role) => {
  const request = { wallet, role, chain: undefined, finality: 'any', bounds: CUT } as const;
  const answers = sides.map(({ reader }) => {
    const clock = testClock();
    const kept = {
      freshness: createFreshness({ reader, clock }),
      rollups: createRollups({ reader, clock }),
      names: createNames({ reader, clock }),
      snapshots: createSnapshots({ reader, clock, chains: [BASE, POLYGON] }),
    };
    return answerProfile(request, {
      reader,
      clock,
      deployment: { chains: [BASE, POLYGON] },
      index: kept,
    });
  });
  const [single, many] = await Promise.all(answers);
  expect(single?.coverage).toMatchObject({ known: true, scan_truncated: true });
  expect(lasting(many)).toEqual(lasting(single));
});

/** A PASTE JOIN puts rows side by side as they arrive, and ends with the shorter side of what has. */
const PAIRED = 'legit-more-042';

interface Case {
  readonly id: string;
  readonly sql: string;
  readonly params?: Readonly<Record<string, string>>;
}

const casesOf = (name: string): Case[] =>
  readFileSync(new URL(`../../fixtures/sql/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const CASES = [...casesOf('clickbench-shaped'), ...casesOf('legit-more')];

async function answer(guest: Guest, { sql, params = {} }: Case): Promise<string[]> {
  const verdict = await inspect(sql, params, { parser: createEngineParser(guest), policy: loadPolicy() });
  if (!('accepted' in verdict)) throw new Error(JSON.stringify(verdict));
  const { text } = verdict.accepted;
  const parameters = parametersAsSent(verdict.accepted.parameters, params);
  try {
    const rows = await guest.explain({ name: 'case', text, parameters, maxSeconds: 60 });
    return rows.map((row) => JSON.stringify(row));
  } catch (error) {
    if (!(error instanceof EngineError) || error.problem !== 'engine_refused') throw error;
    return [`refused with code ${error.engineCode}`]; // the rows are not made for it: no sample, no such value
  }
}

/**
 * Examples that SQL leaves the answer of open, so that only the number of rows can be compared: LIMIT without an order, an order with ties,
 * functions that give any value or the order of reading.
 */
const LEFT_OPEN = new Set(
  [
    ...[12, 27, 32, 36, 49, 55, 56, 57, 58, 61, 74, 76, 82, 84, 85, 86, 87, 111, 128, 134, 135],
    ...[48, 52, 94, 95, 102],
  ].map((number) => `legit-more-${String(number).padStart(3, '0')}`),
);

/** Asks for the time of day: two sides answer alike only within one second. */
const ASKS_THE_CLOCK = /\b(now|today|yesterday)\s*\(/i;
const CLOCK_TRIES = 5;

describe.runIf(IS_NIGHTLY)('every SQL example', () => {
  test.each(CASES.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
    const ask = () => Promise.all(sides.map(async ({ guest }) => (await answer(guest, one)).toSorted()));
    let [single, many] = await ask();
    for (
      let tries = 1;
      ASKS_THE_CLOCK.test(one.sql) && !isDeepStrictEqual(many, single) && tries < CLOCK_TRIES;
      tries++
    )
      [single, many] = await ask();
    if (one.id === PAIRED) return expect(many?.length).toBeGreaterThan(0);
    if (LEFT_OPEN.has(one.id)) expect(many?.length).toBe(single?.length);
    else expect(many).toEqual(single);
  });
});
