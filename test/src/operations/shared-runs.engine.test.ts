import { expect } from 'vitest';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import { testApi } from '../../kit/api.ts';
import { test } from '../../kit/fixtures.ts';
import { attestation, insertAttestations } from '../../kit/registry-rows.ts';
import { BASE, insertSettlements, reportChain, settlement, wallet } from '../../kit/rows.ts';

/** Fewer than the calls of one caller that have a place at once. */
const AT_ONCE = 6;
const JOINED_MAX_MS = 100;
const PAYEE = settlement().payee;

const PATHS = [
  `/v0/entities/${PAYEE}/settlements`,
  `/v0/entities/${PAYEE}/summary`,
  `/v0/entities/${PAYEE}/counterparties`,
  `/v0/merchants/${PAYEE}`,
  `/v0/agents/${settlement().payer}`,
  `/v0/pairs/${settlement().payer}/${PAYEE}`,
  `/v0/transactions/${settlement().txHash}`,
  '/v0/flows?min_usd=0.001',
  '/v0/endpoints?limit=7',
  '/v0/capabilities/web-search',
  '/v0/leaderboard?limit=7',
];

/** Holds every statement back until the test lets them go, so that the calls of a test are surely under way together. */
function createHeldReader(engine: Reader) {
  const names: string[] = [];
  let release = (): void => undefined;
  let gate = Promise.resolve();
  return {
    names,
    hold(): void {
      names.length = 0;
      gate = new Promise((resolve) => {
        release = resolve;
      });
    },
    letGo: () => release(),
    reader: {
      ...engine,
      rows: async (...[statement, signal]: Parameters<Reader['rows']>) => {
        names.push(statement.name);
        await gate;
        return engine.rows(statement, signal);
      },
    } satisfies Reader,
  };
}

test.beforeAll(async ({ engine }) => {
  await insertSettlements(engine.writer, [settlement(), settlement({ logIndex: 1, payer: wallet(0xa7) })]);
  await reportChain(engine.writer, BASE);
  // For an empty ranking no row is read.
  await registerAgent(engine.writer, { agentId: 1n });
  await insertAttestations(engine.writer, [attestation({ agentId: 1n, value: 90n })]);
  await deriveAll(engine.writer);
});

test.for(PATHS)(
  'identical calls of %s at once are one run, and each of them counts',
  async (path, { engine }) => {
    const held = createHeldReader(engine.reader);
    const api = await testApi(held.reader, { config: {} });
    // Facts that are kept for all routes are read before.
    await api.get(path);
    await api.get(path);
    held.hold();
    const alone = api.get(path);
    await settled();
    held.letGo();
    const { text } = await alone;
    const statements = held.names.length;
    held.hold();
    const begunMs = performance.now();
    const calls = Array.from({ length: AT_ONCE }, () => api.get(path));
    await settled();
    const runsMax = 1 + Math.ceil((performance.now() - begunMs) / JOINED_MAX_MS);
    expect(runsMax).toBeLessThan(AT_ONCE);
    held.letGo();
    const answers = await Promise.all(calls);
    await api.close();
    expect(statements).toBeGreaterThan(0);
    // A run is joined for a tenth of a second, and a busy machine takes longer to let all calls in.
    expect(held.names.length).toBeLessThanOrEqual(statements * runsMax);
    expect(new Set(answers.map((answer) => answer.text))).toEqual(new Set([text]));
    const remaining = answers.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    expect(new Set(remaining).size).toBe(AT_ONCE);
  },
);

/** Until every call that can go on without the engine waits for it. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('callers of other inputs, and callers one after the other, have runs of their own', async ({
  engine,
}) => {
  const held = createHeldReader(engine.reader);
  const api = await testApi(held.reader);
  const [first] = PATHS;
  await Promise.all([api.get(`${first}?limit=1`), api.get(`${first}?limit=2`)]);
  expect(held.names.filter((name) => name === 'wallet-slice')).toHaveLength(2);
  await api.get(`${first}?limit=1`);
  expect(held.names.filter((name) => name === 'wallet-slice')).toHaveLength(3);
  await api.close();
});
