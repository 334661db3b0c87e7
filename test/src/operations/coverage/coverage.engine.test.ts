import { beforeEach, describe, expect } from 'vitest';
import { addressBytes } from '../../../../clickhouse/engine/account.ts';
import { sql, text, trustedText } from '../../../../clickhouse/engine/sql.ts';
import { DEAD_LETTERS } from '../../../../clickhouse/tables/ingest-state.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { insertRows } from '../../../../clickhouse/tables/table.ts';
import type { Address } from '../../../../core/domain/account.ts';
import type { Chain } from '../../../../core/domain/chains.ts';
import { COVERAGE_METHOD, DEAD_LETTER_REASONS } from '../../../../core/domain/coverage.ts';
import { EVIDENCE_METHODS, SEEN } from '../../../../core/domain/evidence.ts';
import { SETTLEMENT_KINDS } from '../../../../core/domain/settlement.ts';
import { createCheckpoints } from '../../../../ingest/write/checkpoints.ts';
import { closeDays } from '../../../kit/close-days.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  nextVer,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

/** What `/coverage` and `coverage_days` say, next to a recount of the rows that were written. */

const DAY = 86_400;
const MIDNIGHT = NOON - DAY / 2;
/** Base makes a block every two seconds. */
const BLOCKS_A_DAY = DAY / 2;
const NEWEST = 10_000_000;
const blockAt = (time: number): number => NEWEST - Math.floor((NOON - time) / 2);
const dayText = (time: number): string => new Date(time * 1_000).toISOString().slice(0, 10);
const TODAY = dayText(NOON);

let engine: TestEngine;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
beforeEach(async () => {
  await emptyTables(engine.writer);
  const at = { indexed_block: String(NEWEST), head_block: String(NEWEST) };
  await reportChain(engine.writer, BASE, at);
  await reportChain(engine.writer, POLYGON, at);
});

const versions = { next: nextVer, raise: () => undefined };
const checkpointsOf = (chain: Chain, contracts = 'today') =>
  createCheckpoints({ chain, contracts }, engine.writer, versions);
const readBlocks = (from: number, to: number, contracts?: string) =>
  checkpointsOf(BASE, contracts).saveBackfill([{ from, to, endHash: hash(to) }]);

/** Rows of four days on two chains, in every kind and on every rung, some of them without an authorization. */
function mixedRows(): Settlement[] {
  return Array.from({ length: 400 }, (_, at) => {
    const blockTime = NOON - ((at * 7_919) % (4 * DAY));
    return settlement({
      chain: at % 5 === 0 ? POLYGON : BASE,
      blockTime,
      blockNumber: blockAt(blockTime),
      logIndex: at,
      kind: SETTLEMENT_KINDS[at % 9] ?? 'payment',
      method: EVIDENCE_METHODS[at % EVIDENCE_METHODS.length] ?? 'not_examined',
      facilitator: at % 3 === 0 ? 'acme' : '',
      seen: at % 4 === 0 ? SEEN.permit2_settled : SEEN.authorization_used | SEEN.third_party_relay,
    });
  });
}

function lettersOf(): { readonly chain: Chain; readonly blockNumber: number; readonly reason: string }[] {
  return [0, 1, 2, 3, 4, 5, 6].map((at) => ({
    chain: BASE,
    blockNumber: blockAt(NOON - at * (DAY / 3)),
    reason: DEAD_LETTER_REASONS[at % DEAD_LETTER_REASONS.length] ?? 'malformed_log',
  }));
}

const writeLetters = (letters: ReturnType<typeof lettersOf>, del: 0 | 1 = 0) =>
  insertRows(engine.writer, {
    name: 'test-dead-letters',
    table: DEAD_LETTERS,
    rows: letters.map((letter, logIndex) => ({
      ...letter,
      reason: letter.reason as (typeof DEAD_LETTER_REASONS)[number],
      blockHash: hash(letter.blockNumber),
      txHash: hash(letter.blockNumber + 1),
      logIndex,
      rawLog: '{}',
    })),
    fixed: { ver: nextVer(), del },
  });

/** The counts of one chain and day, made from the written rows in the plainest way. */
function recounted(
  rows: readonly Settlement[],
  letters: ReturnType<typeof lettersOf>,
  chain: Chain,
  day: string,
) {
  const those = rows.filter((row) => row.chain === chain && dayText(row.blockTime) === day);
  const dead = letters.filter(
    (letter) => letter.chain === chain && dayText(NOON - 2 * (NEWEST - letter.blockNumber)) === day,
  );
  const countBy = <Name extends string>(names: readonly Name[], has: (name: Name) => number) =>
    Object.fromEntries(names.map((name) => [name, has(name)]));
  const payments = those.filter(({ kind }) => kind === 'payment');
  const unpaired = dead.filter(({ reason }) => reason === 'unpaired_authorization').length;
  const named = payments.filter(({ facilitator }) => facilitator !== '').length;
  return {
    authorizations: {
      seen: those.filter(({ seen }) => (seen & SEEN.authorization_used) !== 0).length + unpaired,
      unpaired,
    },
    by_kind: countBy(SETTLEMENT_KINDS, (kind) => those.filter((row) => row.kind === kind).length),
    by_method: countBy(EVIDENCE_METHODS, (method) => those.filter((row) => row.method === method).length),
    by_facilitator: { named, proposed: null, unknown: payments.length - named },
    dead_letters: countBy(
      DEAD_LETTER_REASONS,
      (reason) => dead.filter((letter) => letter.reason === reason).length,
    ),
  };
}

const FIGURES = ['authorizations', 'by_kind', 'by_method', 'by_facilitator', 'dead_letters'] as const;
// biome-ignore lint/suspicious/noExplicitAny: an answer
const figuresOf = (day: any) => Object.fromEntries(FIGURES.map((name) => [name, day[name]]));

describe('the counts of a day', () => {
  test('are those of a recount of its rows, closed or open, after a reorg and without what was taken back', async ({
    fileApi,
  }) => {
    const rows = mixedRows();
    const letters = lettersOf();
    await insertSettlements(engine.writer, rows);
    await writeLetters(letters);
    await closeDays(engine.writer, [NOON - 2 * DAY]);
    await tombstone(engine.writer, rows.slice(0, 40));
    await writeLetters(letters.slice(0, 1), 1);
    const live = rows.slice(40);
    // A letter is its block and its index there, so the first one alone is gone.
    const kept = letters.slice(1);
    const { status, body } = await fileApi.get('/v0/coverage?days=5');
    expect(status).toBe(200);
    expect(body.method_version).toBe(COVERAGE_METHOD);
    const expected = [0, 1, 2, 3, 4].flatMap((back) =>
      [POLYGON, BASE].map((chain) => ({ chain, day: dayText(NOON - back * DAY) })),
    );
    const answered = body.days.map((day: { chain: Chain; day: string }) => [
      { chain: day.chain, day: day.day },
      figuresOf(day),
    ]);
    expect(answered).toEqual(
      expected
        .filter(({ chain, day }) => live.some((row) => row.chain === chain && dayText(row.blockTime) === day))
        .map((key) => [key, recounted(live, kept, key.chain, key.day)]),
    );
    expect(answered.length).toBeGreaterThan(7);
  });

  test('have rows on a rung for every row of a kind, and shares of what is there', async ({ fileApi }) => {
    await insertSettlements(engine.writer, [
      settlement({ facilitator: 'acme', method: 'facilitator_relay', blockNumber: NEWEST, logIndex: 1 }),
      settlement({ facilitator: 'acme', method: 'facilitator_relay', blockNumber: NEWEST, logIndex: 2 }),
      settlement({ blockNumber: NEWEST, logIndex: 3 }),
      settlement({ method: 'channel_move', blockNumber: NEWEST, logIndex: 4, seen: SEEN.channel_move }),
    ]);
    const { body } = await fileApi.get('/v0/coverage?days=1&chain=eip155:8453');
    const [day] = body.days;
    expect(body.days).toHaveLength(1);
    expect(day).toMatchObject({
      chain: BASE,
      day: TODAY,
      by_kind: { payment: 3, deposit: 1 },
      by_method: { facilitator_relay: 2, gasless_authorization: 1, channel_move: 1 },
      by_facilitator: { named: 2, proposed: null, unknown: 1 },
      shares: { paired: 1, named: 0.6666 },
    });
  });
});

describe('payments of relayers that are proposed', () => {
  /** What a pass writes (ingest/proposals/pass.ts). */
  const propose = async (relayers: readonly Address[]): Promise<void> => {
    for (const relayer of relayers)
      await engine.writer.run({
        name: 'test-propose',
        maxSeconds: 10,
        sql: sql`INSERT INTO proposed_relayers (chain, address, score, gen) SELECT ${text(BASE)}, ${addressBytes(relayer)}, 1, 7`,
      });
    await engine.writer.run({
      name: 'test-proposal-pass',
      maxSeconds: 10,
      sql: sql`INSERT INTO proposal_passes (gen) SELECT 7`,
    });
  };

  test('are counted once a pass has looked for them, and not those of a refused one', async ({ fileApi }) => {
    const [rival, refused] = [wallet(0xe5), wallet(0xe6)];
    const relayed = (relayer: Address, logIndex: number, fields: Partial<Settlement> = {}) =>
      settlement({ relayer, blockNumber: NEWEST, logIndex, ...fields });
    await insertSettlements(engine.writer, [
      relayed(rival, 1),
      relayed(rival, 2),
      relayed(rival, 3, { kind: 'deposit', method: 'channel_move' }),
      relayed(refused, 4),
      relayed(wallet(0xe7), 5),
    ]);
    const proposedOf = async () => {
      const { body } = await fileApi.get('/v0/coverage?days=1&chain=eip155:8453');
      return body.days[0].by_facilitator;
    };
    expect(await proposedOf()).toEqual({ named: 0, proposed: null, unknown: 4 });
    await propose([rival, refused]);
    await engine.writer.run({
      name: 'test-refuse',
      maxSeconds: 10,
      sql: sql`INSERT INTO relayer_decisions (chain, address, decision, score, first_seen, decided_at, ver, del)
        SELECT chain, address, 'refused', score, today(), now(), 1, 0 FROM proposed_relayers WHERE address = ${addressBytes(refused)}`,
    });
    expect(await proposedOf()).toEqual({ named: 0, proposed: 2, unknown: 4 });
  });
});

describe('the blocks of a day', () => {
  const firstOf = (back: number): number => blockAt(MIDNIGHT - back * DAY);

  test('are those between its midnights; what no checkpoint has is missing, and what two have counts once', async ({
    fileApi,
  }) => {
    const [yesterday, before] = [firstOf(1), firstOf(2)];
    // Two overlapping ranges, one inside the other, a gap of 1,000 blocks, and a range of other contracts that promises nothing.
    await readBlocks(before, before + 999, 'other contracts');
    await readBlocks(yesterday, yesterday + 10_000);
    await readBlocks(yesterday + 5_000, yesterday + 20_000);
    await readBlocks(yesterday + 6_000, yesterday + 7_000);
    await checkpointsOf(BASE).saveHead({
      start: yesterday + 21_001,
      end: NEWEST,
      hash: hash(NEWEST),
    });
    const time = MIDNIGHT - DAY + 600;
    await insertSettlements(engine.writer, [settlement({ blockTime: time, blockNumber: blockAt(time) })]);
    const { body } = await fileApi.get('/v0/coverage?days=3&chain=eip155:8453');
    expect(
      body.days.map(({ day, blocks, sources, shares }: Record<string, unknown>) => ({
        day,
        blocks,
        sources,
        shares,
      })),
    ).toEqual([
      {
        day: TODAY,
        blocks: { first: firstOf(0), last: NEWEST, indexed: NEWEST - firstOf(0) + 1, partial: 0, missing: 0 },
        sources: ['rpc'],
        shares: { paired: null, named: null, indexed: 1 },
      },
      {
        day: dayText(NOON - DAY),
        blocks: {
          first: yesterday,
          last: yesterday + BLOCKS_A_DAY - 1,
          indexed: BLOCKS_A_DAY - 1_000,
          partial: 0,
          missing: 1_000,
        },
        sources: ['rpc'],
        shares: { paired: 1, named: 0, indexed: 0.9768 },
      },
    ]);
  });

  test('that were read in part are no read ones, and become read ones when they are read whole', async ({
    fileApi,
  }) => {
    const range = { from: firstOf(0), to: NEWEST, endHash: hash(NEWEST) };
    const partly = { chain: BASE, contracts: 'partial', isPartial: true };
    await createCheckpoints(partly, engine.writer, versions).saveBackfill([
      { ...range, from: range.from + 100 },
    ]);
    const dayNow = async () => {
      const { body } = await fileApi.get('/v0/coverage?days=1&chain=eip155:8453');
      return body.days[0];
    };
    const all = NEWEST - firstOf(0) + 1;
    expect(await dayNow()).toMatchObject({
      blocks: { indexed: 0, partial: all - 100, missing: 100 },
      shares: { indexed: 0 },
    });
    await checkpointsOf(BASE).saveBackfill([range]);
    expect(await dayNow()).toMatchObject({
      blocks: { indexed: all, partial: 0, missing: 0 },
      shares: { indexed: 1 },
    });
  });

  test('are not known where no read of them is recorded, though there are rows', async ({ fileApi }) => {
    await readBlocks(firstOf(0), NEWEST);
    const blockTime = NOON - DAY;
    await insertSettlements(engine.writer, [settlement({ blockTime, blockNumber: blockAt(blockTime) })]);
    const { body } = await fileApi.get('/v0/coverage?days=2&chain=eip155:8453');
    expect(body.days).toMatchObject([
      { day: TODAY, by_kind: { payment: 0 }, blocks: { missing: 0 } },
      { by_kind: { payment: 1 }, blocks: null, shares: { indexed: null } },
    ]);
  });

  test('of a chain that is read from imports alone say so, and end at the newest row', async ({
    fileApi,
  }) => {
    await reportChain(engine.writer, BASE, {
      state: "'imported'",
      indexed_block: String(NEWEST),
      head_block: '0',
      head_seen_at: 'toDateTime(0)',
    });
    await readBlocks(firstOf(0), NEWEST);
    const { body } = await fileApi.get('/v0/coverage?days=1&chain=eip155:8453');
    expect(body.days).toMatchObject([
      { sources: ['import'], blocks: { last: NEWEST, missing: 0 }, by_kind: { payment: 0 } },
    ]);
  });
});

test('the table and the operation say the same, and a condition on the day reads the rows of that day alone', async ({
  fileApi,
}) => {
  const rows = Array.from({ length: 40_000 }, (_, at) => {
    const blockTime = NOON - at * 200;
    return settlement({ blockTime, blockNumber: blockAt(blockTime) });
  });
  await insertSettlements(engine.writer, rows);
  await readBlocks(blockAt(NOON - 2 * DAY), NEWEST);
  const columns = 'toString(day), authorization_count, payment_count, named_count, missing_blocks';
  const table = `${engine.database}_public.coverage_days`;
  const { rows: shown } = await engine.writer.rows({
    name: 'test',
    sql: trustedText(
      `SELECT ${columns} FROM ${table} WHERE day >= '${dayText(NOON - 6 * DAY)}' ORDER BY day DESC`,
    ),
    maxSeconds: 10,
    maxRows: 100,
  });
  const { body } = await fileApi.get('/v0/coverage');
  expect(
    // biome-ignore lint/suspicious/noExplicitAny: an answer
    body.days.map(({ day, authorizations, by_kind, by_facilitator, blocks }: any) => [
      day,
      authorizations.seen,
      by_kind.payment,
      by_facilitator.named,
      blocks?.missing ?? null,
    ]),
  ).toEqual(
    shown.map(([day, ...figures]) => [
      day,
      ...figures.map((figure) => (figure === null ? null : Number(figure))),
    ]),
  );
  expect(shown).toHaveLength(7);
  const granulesOf = async (where: string): Promise<number> => {
    const { rows: plan } = await engine.writer.rows({
      name: 'test',
      sql: trustedText(`EXPLAIN indexes = 1 SELECT payment_count FROM ${table} ${where}`),
      maxSeconds: 10,
      maxRows: 1_000,
    });
    const text = plan.map(([line]) => String(line)).join('\n');
    const ofSettlements = text.slice(text.indexOf(`${engine.database}.settlements`));
    return Number(/Granules: (\d+)\/\d+/.exec(ofSettlements)?.[1]);
  };
  const all = await granulesOf('');
  expect(await granulesOf(`WHERE day = '${dayText(NOON - 6 * DAY)}'`)).toBeLessThan(all);
});

test.for(['0', '91', 'week'])('`days=%s` is refused', async (days, { fileApi }) => {
  const { status, body } = await fileApi.get(`/v0/coverage?days=${days}`);
  expect([status, body.code]).toEqual([400, 'invalid_parameter']);
});
