import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Attestation } from '../../../../clickhouse/tables/registries.ts';
import { ATTESTATION_KINDS } from '../../../../core/domain/agent.ts';
import type { TestApi } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { emptyIdentityTables } from '../../../kit/identities.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { attestation, insertAttestations } from '../../../kit/registry-rows.ts';
import { BASE, hash, NOON, POLYGON, reportChain, wallet } from '../../../kit/rows.ts';

/** Truth: the logs that stand, filtered and sorted here. */

let engine: TestEngine;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyIdentityTables(engine.writer);
});

type Answer = Record<string, unknown>;

interface Walk {
  readonly limit: number;
  readonly query?: string;
  readonly between?: (page: number) => Promise<void>;
}

async function walkAll({ limit, query = '', between }: Walk): Promise<Answer[]> {
  const rows: Answer[] = [];
  let before = '';
  for (let page = 1; page < 200; page++) {
    const { status, body, text } = await api.get(`/v0/attestations?limit=${limit}${query}${before}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    expect(body.attestations.length).toBeLessThanOrEqual(limit);
    rows.push(...body.attestations);
    if (body.next_before === null) return rows;
    before = `&before=${body.next_before}`;
    await between?.(page);
  }
  throw new Error('a walk without an end');
}

function newestFirst(rows: readonly Attestation[]): Attestation[] {
  return rows.toSorted(
    (one, other) =>
      other.blockTime - one.blockTime ||
      (one.chain < other.chain ? 1 : -Number(one.chain > other.chain)) ||
      other.blockNumber - one.blockNumber ||
      other.logIndex - one.logIndex,
  );
}

const placeOf = ({ chain, blockNumber, logIndex }: Attestation): string =>
  `${chain} ${blockNumber} ${logIndex}`;
const shownPlace = (row: Answer): string => `${row['chain']} ${row['block_number']} ${row['log_index']}`;
/** What a caller tells a row by: its place, what it says and in which transaction. */
const markOf = (row: Attestation): string =>
  [placeOf(row), row.kind, row.agentId, row.client, row.tag1, row.txHash].join(' ');
const shownMark = (row: Answer): string =>
  [
    shownPlace(row),
    row['kind'],
    row['agent_id'],
    row['client'] ?? wallet(0),
    row['tag1'] ?? '',
    row['tx_hash'],
  ].join(' ');

const CLIENTS = [wallet(0xc1), wallet(0xc2), wallet(0xc3)] as const;
const TAGS = ['', 'starred', 'uptime', 'rare'] as const;

interface Slot {
  readonly slot: number;
  readonly kind: Attestation['kind'];
  readonly agent: number;
  readonly client: number;
  readonly tag1: number;
  readonly tag2: number;
  readonly fate: 'stands' | 'rewritten' | 'taken_back' | 'replaced';
}

const slots = fc.uniqueArray(
  fc.record<Slot>({
    slot: fc.integer({ min: 0, max: 99 }),
    kind: fc.constantFrom(...ATTESTATION_KINDS),
    agent: fc.integer({ min: 0, max: 2 }),
    client: fc.integer({ min: 0, max: 2 }),
    tag1: fc.integer({ min: 0, max: 3 }),
    tag2: fc.integer({ min: 0, max: 3 }),
    fate: fc.constantFrom('stands', 'stands', 'rewritten', 'taken_back', 'replaced'),
  }),
  { minLength: 5, maxLength: 60, selector: ({ slot }) => slot },
);

/** Several logs share a second, some of them a block. */
function rowOf({ slot, kind, agent, client, tag1, tag2 }: Slot): Attestation {
  const isValidation = kind.startsWith('validation');
  return attestation({
    chain: slot % 3 === 0 ? POLYGON : BASE,
    kind,
    agentId: BigInt(agent),
    author: CLIENTS[client] ?? wallet(0),
    client: isValidation ? wallet(0) : (CLIENTS[client] ?? wallet(0)),
    feedbackIndex: isValidation ? 0n : BigInt(slot + 1),
    blockNumber: 2_000 + Math.floor(slot / 4),
    blockTime: NOON - 1_000 + Math.floor(slot / 8) * 2,
    logIndex: slot % 4,
    tag1: TAGS[tag1] ?? '',
    tag2: TAGS[tag2] ?? '',
  });
}

/** Another log at the same place: what a reorg can leave there. */
function replacementOf(one: Slot): Attestation {
  const other = rowOf({
    ...one,
    agent: (one.agent + 1) % 3,
    client: (one.client + 1) % 3,
    tag1: (one.tag1 + 1) % 4,
  });
  return { ...other, txHash: hash(9_000_000 + one.slot), blockHash: hash(77) };
}

/** Writes what a source, its crashes and reorgs would; returns what stands. */
async function write(history: readonly Slot[]): Promise<Attestation[]> {
  const when = (...fates: Slot['fate'][]) => history.filter(({ fate }) => fates.includes(fate));
  await insertAttestations(engine.writer, history.map(rowOf));
  await insertAttestations(engine.writer, when('rewritten').map(rowOf));
  await insertAttestations(engine.writer, when('taken_back', 'replaced').map(rowOf), 1);
  await insertAttestations(engine.writer, when('replaced').map(replacementOf));
  return [...when('stands', 'rewritten').map(rowOf), ...when('replaced').map(replacementOf)];
}

interface Filter {
  readonly chain: 'all' | typeof BASE | typeof POLYGON;
  readonly agent: number | undefined;
  readonly client: number | undefined;
  readonly tag: string | undefined;
  readonly kind: Attestation['kind'] | undefined;
}

function queryOf({ chain, agent, client, tag, kind }: Filter): string {
  return [
    `&chain=${chain}`,
    agent === undefined ? '' : `&agent_id=${agent}`,
    client === undefined ? '' : `&client=${CLIENTS[client]}`,
    tag === undefined ? '' : `&tag=${tag}`,
    kind === undefined ? '' : `&kind=${kind}`,
  ].join('');
}

function matches(row: Attestation, { chain, agent, client, tag, kind }: Filter): boolean {
  return (
    (chain === 'all' || row.chain === chain) &&
    (agent === undefined || row.agentId === BigInt(agent)) &&
    (client === undefined || row.client === CLIENTS[client]) &&
    (tag === undefined || row.tag1 === tag || row.tag2 === tag) &&
    (kind === undefined || row.kind === kind)
  );
}

const filters = fc.record<Filter>({
  chain: fc.constantFrom('all', BASE, POLYGON),
  agent: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
  client: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined, freq: 2 }),
  tag: fc.option(fc.constantFrom('starred', 'rare', 'unheard'), { nil: undefined, freq: 2 }),
  kind: fc.option(fc.constantFrom(...ATTESTATION_KINDS), { nil: undefined, freq: 2 }),
});

describe('a walk', () => {
  test('meets every log that stands exactly once, newest first, under any filter', async () => {
    await fc.assert(
      fc.asyncProperty(
        slots,
        fc.array(filters, { minLength: 4, maxLength: 6 }),
        fc.constantFrom(1, 2, 7, 100),
        async (history, asked, limit) => {
          await emptyIdentityTables(engine.writer);
          const standing = await write(history);
          for (const filter of asked) {
            const rows = await walkAll({ limit, query: queryOf(filter) });
            const truth = newestFirst(standing.filter((row) => matches(row, filter)));
            expect(rows.map(shownMark)).toEqual(truth.map(markOf));
          }
        },
      ),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 120_000);

  test('skips and repeats nothing that survives reorgs between its pages', async () => {
    const history: Slot[] = Array.from({ length: 40 }, (_, slot) => ({
      slot,
      kind: 'feedback',
      agent: slot % 2,
      client: slot % 3,
      tag1: slot % 4,
      tag2: 0,
      fate: 'stands',
    }));
    for (const query of ['&chain=all', '&chain=all&agent_id=1', '&chain=all&tag=starred']) {
      await emptyIdentityTables(engine.writer);
      await insertAttestations(engine.writer, history.map(rowOf));
      const gone = new Set<string>();
      const rows = await walkAll({
        limit: 3,
        query,
        between: async (page) => {
          // The newest ones, the one that the cursor names among them, and new logs above.
          const taken = history.filter(({ slot }) => slot % 7 === page % 7).map(rowOf);
          for (const row of taken) gone.add(placeOf(row));
          await insertAttestations(engine.writer, taken, 1);
          await insertAttestations(engine.writer, [attestation({ blockNumber: 5_000 + page, agentId: 1n })]);
        },
      });
      const places = rows.map(shownPlace);
      expect(new Set(places).size).toBe(places.length);
      const survivors = history
        .map(rowOf)
        .filter((row) => !gone.has(placeOf(row)))
        .filter((row) => !query.includes('agent_id') || row.agentId === 1n)
        .filter((row) => !query.includes('tag=') || row.tag1 === 'starred');
      expect(survivors.map(placeOf).filter((place) => !places.includes(place))).toEqual([]);
    }
  });

  test('ends a page early, with a cursor to go on from, where thousands of rows were retracted', async () => {
    const logs = Array.from({ length: 9_000 }, (_, at) =>
      attestation({
        blockNumber: 2_001 + Math.floor(at / 100),
        logIndex: at % 100,
        feedbackIndex: BigInt(at + 1),
      }),
    );
    const oldest = attestation({ blockNumber: 2_000 });
    await insertAttestations(engine.writer, [oldest, ...logs]);
    await insertAttestations(engine.writer, logs, 1);
    const first = await api.get('/v0/attestations?limit=2');
    expect(first.body).toMatchObject({ attestations: [], next_before: expect.any(String) });
    expect((await walkAll({ limit: 2 })).map(shownPlace)).toEqual([placeOf(oldest)]);
  });

  test('of every chain unless one is asked for', async () => {
    await insertAttestations(engine.writer, [
      attestation({ chain: BASE, blockNumber: 2_001 }),
      attestation({ chain: POLYGON, blockNumber: 2_002 }),
    ]);
    const chainsOf = (rows: Answer[]) => rows.map(({ chain }) => chain);
    expect(chainsOf(await walkAll({ limit: 5, query: `&chain=${BASE}` }))).toEqual([BASE]);
    expect(chainsOf(await walkAll({ limit: 5, query: `&chain=${POLYGON}` }))).toEqual([POLYGON]);
    expect(chainsOf(await walkAll({ limit: 5 }))).toEqual([POLYGON, BASE]);
    expect((await api.get('/v0/attestations?kind=response')).body).toMatchObject({
      attestations: [],
      next_before: null,
      meta: { chain: null, dataset_row_count: 2 },
    });
  });
});

test('400 names the parameter that is wrong', async () => {
  for (const [parameter, query] of [
    ['agent_id', 'agent_id=-1'],
    ['agent_id', `agent_id=${2n ** 256n}`],
    ['client', 'client=0x12'],
    ['tag', 'tag='],
    ['tag', `tag=${'x'.repeat(257)}`],
    ['kind', 'kind=praise'],
    ['chain', 'chain=eip155:1'],
    ['before', 'before=abc'],
  ]) {
    const { status, body } = await api.get(`/v0/attestations?${query}`);
    expect({ query, status, parameter: body.parameter }).toEqual({ query, status: 400, parameter });
  }
});

test('a cursor of another list is refused', async () => {
  await insertAttestations(engine.writer, [attestation({ logIndex: 1 }), attestation({ logIndex: 2 })]);
  const { body } = await api.get('/v0/attestations?limit=1');
  expect((await api.get(`/v0/flows?before=${body.next_before}`)).status).toBe(400);
  expect((await api.get(`/v0/attestations?limit=1&before=${body.next_before}`)).status).toBe(200);
});
