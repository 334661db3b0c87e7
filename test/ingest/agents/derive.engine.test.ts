import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { AgentEvent, Attestation } from '../../../clickhouse/tables/registries.ts';
import { deriveDue } from '../../../ingest/agents/derive.ts';
import type { Due } from '../../../ingest/agents/statements.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type TestEngine, testEngine, testLog } from '../../kit/engine.ts';
import { lengthOf } from '../../kit/lengths.ts';
import type { NaiveAgent } from '../../kit/oracle/agents.ts';
import { oracle } from '../../kit/oracle/oracle.ts';
import {
  agentEvent,
  attestation,
  insertAgentEvents,
  insertAttestations,
  NO_WALLET,
  registration,
} from '../../kit/registry-rows.ts';
import { BASE, NOON, wallet } from '../../kit/rows.ts';

let engine: TestEngine;
const versions = createVersions(0n);

beforeAll(async () => {
  engine = await testEngine();
});
afterAll(() => engine.close());

async function derive(agentsPerBatch = 5_000, due: Due = 'all'): Promise<number> {
  const deps = { writer: engine.writer, versions, log: testLog, signal: new AbortController().signal };
  let total = 0;
  for (;;) {
    const derived = await deriveDue({ ...deps, limits: { agentsPerBatch } }, due);
    total += derived;
    if (derived === 0) return total;
  }
}

async function cardsDue(): Promise<readonly unknown[][]> {
  const { rows } = await engine.reader.rows({
    name: 'test-cards-due',
    sql: sql`SELECT toString(card_status), toString(card_problem), toUnixTimestamp(card_due_at)
             FROM agents FINAL WHERE del = 0 ORDER BY agent_id`,
    maxSeconds: 10,
    maxRows: 1_000,
  });
  return rows.map((row) => [...row]);
}

async function states(): Promise<NaiveAgent[]> {
  const { rows } = await engine.reader.rows({
    name: 'test-agents',
    sql: sql`SELECT chain, toString(agent_id), concat('0x', lower(hex(owner))), concat('0x', lower(hex(wallet))), agent_uri,
               toUnixTimestamp(registered_at), feedback_count, distinct_clients, toString(score)
             FROM agents FINAL WHERE del = 0 ORDER BY chain, agent_id`,
    maxSeconds: 10,
    maxRows: 10_000,
  });
  return rows.map(([chain, agentId, owner, at, uri, registeredAt, count, clients, score]) => ({
    chain: String(chain),
    agentId: String(agentId),
    owner: owner as NaiveAgent['owner'],
    wallet: at as NaiveAgent['wallet'],
    uri: String(uri),
    registeredAt: Number(registeredAt),
    feedbackCount: Number(count),
    distinctClients: Number(clients),
    score: score === null ? null : String(score),
  }));
}

describe('an agent is what its events say', () => {
  test('a registration has its owner as wallet until the registry says otherwise', async () => {
    await insertAgentEvents(engine.writer, [
      ...registration({ agentId: 1n, text: 'https://one.example/card.json' }),
      // Older registries log no wallet at registration.
      agentEvent({ agentId: 2n, account: wallet(0xa2), logIndex: 10 }),
    ]);
    await derive();
    expect(await states()).toMatchObject([
      { agentId: '1', owner: wallet(0xa1), wallet: wallet(0xa1), uri: 'https://one.example/card.json' },
      { agentId: '2', owner: wallet(0xa2), wallet: wallet(0xa2), uri: '' },
    ]);
  });

  test('a transfer clears the wallet, and a wallet set later counts', async () => {
    const blockNumber = 1_010;
    const cleared = [
      agentEvent({ agentId: 1n, kind: 'wallet_set', account: NO_WALLET, blockNumber, logIndex: 4 }),
      agentEvent({ agentId: 1n, kind: 'transferred', account: wallet(0xb1), blockNumber, logIndex: 5 }),
    ];
    await insertAgentEvents(engine.writer, cleared);
    await derive();
    expect((await states())[0]).toMatchObject({ owner: wallet(0xb1), wallet: NO_WALLET });
    const later = { agentId: 1n, kind: 'wallet_set', account: wallet(0xb9), blockNumber: 1_011 } as const;
    await insertAgentEvents(engine.writer, [agentEvent(later)]);
    await derive();
    expect((await states())[0]).toMatchObject({ owner: wallet(0xb1), wallet: wallet(0xb9) });
  });

  test('an agent that was sold within its mint belongs to the buyer and has no wallet, whatever is logged after', async () => {
    const at = { agentId: 9n, blockNumber: 1_015 };
    const [seller, buyer] = [wallet(0xa7), wallet(0xb7)];
    await insertAgentEvents(engine.writer, [
      agentEvent({ ...at, kind: 'transferred', account: seller, logIndex: 0 }),
      agentEvent({ ...at, kind: 'wallet_set', account: NO_WALLET, logIndex: 1 }),
      agentEvent({ ...at, kind: 'transferred', account: buyer, logIndex: 2 }),
      agentEvent({ ...at, kind: 'registered', account: seller, logIndex: 4 }),
      agentEvent({ ...at, kind: 'wallet_set', account: seller, logIndex: 5 }),
    ]);
    await derive();
    expect((await states()).at(-1)).toMatchObject({ agentId: '9', owner: buyer, wallet: NO_WALLET });
    const later = { agentId: 9n, kind: 'wallet_set', account: wallet(0xb8), blockNumber: 1_016 } as const;
    await insertAgentEvents(engine.writer, [agentEvent(later)]);
    await derive();
    expect((await states()).at(-1)).toMatchObject({ owner: buyer, wallet: wallet(0xb8) });
  });

  test('what a reorg takes back is gone, and an agent whose registration went is no agent', async () => {
    await insertAgentEvents(engine.writer, registration({ agentId: 3n, blockNumber: 1_020 }));
    await derive();
    expect((await states()).map(({ agentId }) => agentId)).toEqual(['1', '2', '3', '9']);
    await insertAgentEvents(engine.writer, registration({ agentId: 3n, blockNumber: 1_020 }), 1);
    await derive();
    expect((await states()).map(({ agentId }) => agentId)).toEqual(['1', '2', '9']);
  });

  test('an agent without a readable file is named by its metadata on chain, as far as that is safe to show', async () => {
    const hex = (text: string): `0x${string}` => `0x${Buffer.from(text).toString('hex')}`;
    const packed = (text: string): `0x${string}` => {
      const word = (value: number): string => value.toString(16).padStart(64, '0');
      const bytes = Buffer.from(text);
      return `0x${word(32)}${word(bytes.length)}${bytes.toString('hex').padEnd(64, '0')}`;
    };
    const said = (agentId: bigint, entries: readonly (readonly [key: string, data: `0x${string}`])[]) =>
      entries.map(([key, data], at) =>
        agentEvent({
          agentId,
          kind: 'metadata_set',
          text: key,
          data,
          blockNumber: 1_030,
          logIndex: Number(agentId) * 10 + at,
        }),
      );
    await insertAgentEvents(engine.writer, [
      ...registration({ agentId: 20n, blockNumber: 1_029 }),
      ...said(20n, [
        ['name', hex('Old name')],
        ['name', hex('天気エージェント')],
        ['endpoint/mcp', hex('https://weather.example/mcp')],
        ['endpoint/a2a', packed('https://weather.example/a2a')],
        ['endpoint/evil', hex('javascript:alert(1)')],
        ['model', hex('secret')],
      ]),
      ...registration({ agentId: 21n, blockNumber: 1_029 }),
      ...said(21n, [
        ['name', hex('Pаypal')], // a Cyrillic letter among Latin ones
        ['endpoint/m\u202ecp', hex('https://weather.example/')],
      ]),
    ]);
    await derive();
    const { rows } = await engine.reader.rows({
      name: 'test-metadata',
      sql: sql`SELECT toString(agent_id), name, services FROM agents FINAL WHERE agent_id IN (20, 21) ORDER BY agent_id`,
      maxSeconds: 10,
      maxRows: 10,
    });
    const service = (name: string) => ({
      name,
      endpoint: `https://weather.example/${name}`,
      version: '',
      skills: [],
      domains: [],
    });
    expect(rows.map(([id, name]) => [id, name])).toEqual([
      ['20', '天気エージェント'],
      ['21', ''],
    ]);
    expect(JSON.parse(String(rows[0]?.[2]))).toEqual([service('a2a'), service('mcp')]);
    expect(rows[1]?.[2]).toBe('');
    const gone = [20n, 21n].flatMap((agentId) => registration({ agentId, blockNumber: 1_029 }));
    await insertAgentEvents(engine.writer, gone, 1);
    await derive();
  });

  test('an agent that nothing was written about is not derived again', async () => {
    expect(await derive()).toBe(0);
    await insertAttestations(engine.writer, [attestation({ agentId: 2n })]);
    expect(await derive(5_000, { changedWithinSeconds: 60 })).toBe(1);
    expect(await derive(5_000, { changedWithinSeconds: 60 })).toBe(0);
  });

  test('a card is due when its URI was never tried; without a URI there is nothing to fetch', async () => {
    expect(await cardsDue()).toEqual([
      ['none', '', 0],
      ['none', 'empty_uri', 4_294_967_295],
      ['none', 'empty_uri', 4_294_967_295],
    ]);
  });
});

describe('scores', () => {
  test('are exact where floats are not, and NULL once all feedback is revoked', async () => {
    const hundred = 100n * 10n ** 18n;
    const given = [
      attestation({ agentId: 1n, value: hundred, valueDecimals: 18, feedbackIndex: 1n }),
      attestation({ agentId: 1n, value: 1n, valueDecimals: 18, feedbackIndex: 2n, logIndex: 1 }),
      attestation({ agentId: 1n, value: 1n, valueDecimals: 1, feedbackIndex: 3n, logIndex: 2 }),
      // Off the scale by the smallest step there is, and by the largest.
      attestation({ agentId: 1n, value: hundred + 1n, valueDecimals: 18, feedbackIndex: 4n, logIndex: 3 }),
      attestation({ agentId: 1n, value: 2n ** 127n - 1n, feedbackIndex: 5n, logIndex: 4 }),
    ];
    await insertAttestations(engine.writer, given);
    await derive();
    expect((await states())[0]?.score).toBe('47.227777777777777777');
    const revoked = given.map((row, index) => ({
      ...row,
      kind: 'revocation' as const,
      blockNumber: 2_100,
      logIndex: index,
    }));
    await insertAttestations(engine.writer, revoked);
    await derive();
    expect((await states())[0]).toMatchObject({ score: null, feedbackCount: 0 });
  });
});

describe('derived agents equal a naive fold', () => {
  test('after random registrations, changes, feedback, revocations and reorgs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArbitrary, { minLength: 25, maxLength: 60, size: 'max' }),
        async (steps) => {
          const fresh = await testEngine();
          const outer = engine;
          engine = fresh;
          try {
            await play(steps);
          } finally {
            engine = outer;
            await fresh.close();
          }
        },
      ),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 120_000);
});

type Step =
  | { readonly do: 'register' | 'uri' | 'wallet' | 'transfer'; readonly agent: bigint; readonly who: number }
  | {
      readonly do: 'rate';
      readonly agent: bigint;
      readonly who: number;
      readonly value: bigint;
      readonly decimals: number;
      readonly tag: string;
    }
  | { readonly do: 'revoke'; readonly pick: number }
  | { readonly do: 'reorg'; readonly depth: number }
  | { readonly do: 'derive' };

const agent = fc.bigInt({ min: 0n, max: 2n });
const who = fc.integer({ min: 1, max: 4 });
const value = fc.oneof(
  fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }),
  fc.bigInt({ min: 0n, max: 120n }),
);
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('register' as const), agent, who }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('uri' as const, 'wallet' as const, 'transfer' as const),
      agent,
      who,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('rate' as const),
      agent,
      who,
      value,
      decimals: fc.constantFrom(0, 0, 1, 9, 18),
      tag: fc.constantFrom('', 'starred', 'RATING', 'uptime'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revoke' as const), pick: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'derive' as const }) },
);

/** One block a step; a reorg takes the newest blocks back and their heights are used again. */
async function play(steps: readonly Step[]): Promise<void> {
  let events: AgentEvent[] = [];
  let attestations: Attestation[] = [];
  let blockNumber = 1_000;
  for (const step of steps) {
    blockNumber += 1;
    if (step.do === 'derive') await derive(3);
    else if (step.do === 'reorg') {
      blockNumber -= step.depth;
      const isGone = (row: { readonly blockNumber: number }): boolean => row.blockNumber > blockNumber;
      await insertAgentEvents(engine.writer, events.filter(isGone), 1);
      await insertAttestations(engine.writer, attestations.filter(isGone), 1);
      events = events.filter((row) => !isGone(row));
      attestations = attestations.filter((row) => !isGone(row));
    } else {
      const logged = logsOf(step, blockNumber, events, attestations);
      await insertAgentEvents(engine.writer, logged.events);
      await insertAttestations(engine.writer, logged.attestations);
      events = [...events, ...logged.events];
      attestations = [...attestations, ...logged.attestations];
    }
  }
  await derive();
  expect(await states()).toEqual(oracle.agents.derived(events, attestations));
}

function logsOf(
  step: Exclude<Step, { readonly do: 'derive' | 'reorg' }>,
  blockNumber: number,
  events: readonly AgentEvent[],
  attestations: readonly Attestation[],
): { readonly events: AgentEvent[]; readonly attestations: Attestation[] } {
  const at = { chain: BASE, blockNumber, blockTime: NOON + blockNumber };
  if (step.do === 'revoke') {
    const given = attestations.filter(({ kind }) => kind === 'feedback');
    const taken = given[step.pick % Math.max(1, given.length)];
    return { events: [], attestations: taken === undefined ? [] : [{ ...taken, ...at, kind: 'revocation' }] };
  }
  const { agent: agentId } = step;
  const isRegistered = events.some((event) => event.agentId === agentId && event.kind === 'registered');
  if (step.do === 'rate') {
    const client = wallet(0xc0 + step.who);
    const before = attestations.filter(
      (row) => row.kind === 'feedback' && row.agentId === agentId && row.client === client,
    );
    const feedbackIndex = BigInt(before.length + 1);
    const { value, decimals: valueDecimals, tag: tag1 } = step;
    return {
      events: [],
      attestations: [
        attestation({ ...at, agentId, client, author: client, feedbackIndex, value, valueDecimals, tag1 }),
      ],
    };
  }
  const account = wallet(0xa0 + step.who);
  if (step.do === 'register') {
    if (isRegistered) return { events: [], attestations: [] };
    return {
      events: registration({ ...at, agentId, account, text: `data:,${blockNumber}` }),
      attestations: [],
    };
  }
  if (!isRegistered) return { events: [], attestations: [] };
  return { events: changesOf(step.do, { ...at, agentId }, account), attestations: [] };
}

function changesOf(
  change: 'uri' | 'wallet' | 'transfer',
  at: Partial<AgentEvent>,
  account: AgentEvent['account'],
): AgentEvent[] {
  if (change === 'uri')
    return [agentEvent({ ...at, kind: 'uri_updated', account, text: `https://${account}` })];
  if (change === 'wallet') return [agentEvent({ ...at, kind: 'wallet_set', account })];
  return [
    agentEvent({ ...at, kind: 'wallet_set', account: NO_WALLET }),
    agentEvent({ ...at, kind: 'transferred', account, logIndex: 1 }),
  ];
}
