import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { sql, text } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../../core/domain/account.ts';
import { DUST_BELOW_USD_MICROS, type JudgedRole } from '../../../../core/domain/data-quality.ts';
import { saveFeedback } from '../../../../ingest/agents/feedback/row.ts';
import { PASS_LIMITS } from '../../../../ingest/rings/edges.ts';
import { ringPass } from '../../../../ingest/rings/pass.ts';
import { verdictPass } from '../../../../ingest/verdicts/pass.ts';
import { createRollups } from '../../../../src/operations/index-state/rollups.ts';
import { readPaid } from '../../../../src/operations/wallets/read-summary.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import { type TestApi, testApi, testClock } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { emptyIdentityTables } from '../../../kit/identities.ts';
import { payment } from '../../../kit/listings.ts';
import { rankWallets } from '../../../kit/rank-wallets.ts';
import { attestation, insertAttestations } from '../../../kit/registry-rows.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  nextVer,
  POLYGON,
  reportChain,
  wallet,
} from '../../../kit/rows.ts';

/** Payments below the bound count for no signal, no verdict and no reason, whichever surface is asked, from rows and from daily sums. */

const DAY = 86_400;
const DUST = DUST_BELOW_USD_MICROS - 1n;
const ENOUGH = DUST_BELOW_USD_MICROS;
const [SHOP, MIXED, DUSTY, AGENT] = [wallet(0x51), wallet(0x52), wallet(0x53), wallet(0x54)];

let engine: TestEngine;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async () => {
  await emptyTables(engine.writer);
  await emptyIdentityTables(engine.writer);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
});

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** All of it yesterday, so that daily sums can hold it. */
const pay = (payer: Address, payee: Address, amount: bigint, fields: Partial<Settlement> = {}): Settlement =>
  payment({ payer, payee, amount, blockTime: NOON - DAY, ...fields });

interface Judged {
  readonly profile: string;
  readonly verdicts: string;
  readonly ranking: string;
}

/** The verdict on each wallet in the role, as each surface gives it. */
async function verdictsOn(role: JudgedRole, wallets: readonly Address[]): Promise<Judged[]> {
  const { writer, reader } = engine;
  await rankWallets(writer, { windows: ['all'] });
  await judgeAll();
  const api = await testApi(reader);
  const judged = await Promise.all(
    wallets.map(async (of) => {
      const { body } = await api.get(`/v0/${role === 'payee' ? 'merchants' : 'agents'}/${of}`);
      const { rows } = await reader.rows({
        name: 'test-verdicts',
        maxSeconds: 10,
        maxRows: 1,
        sql: sql`SELECT (SELECT any(verdict) FROM wallet_verdicts WHERE wallet = ${text(of)} AND role = ${text(role)} AND gen = (SELECT max(gen) FROM verdict_passes)),
          (SELECT any(verdict) FROM ranked_wallets WHERE wallet = unhex(${text(of.slice(2))}) AND role = ${text(role)} AND chain = ''
            AND gen = (SELECT max(gen) FROM ranking_passes))`,
      });
      const [verdicts, ranking] = rows[0] ?? [];
      return {
        profile: body.data_quality.verdict,
        verdicts: String(verdicts),
        ranking: String(ranking),
      };
    }),
  );
  await api.close();
  return judged;
}

const judgeAll = () =>
  verdictPass({
    writer: engine.writer,
    log: testLog,
    signal: new AbortController().signal,
    clock: testClock(),
  });

const everywhere = (verdict: string): Judged => ({ profile: verdict, verdicts: verdict, ranking: verdict });

describe.each(['rows', 'daily sums'])('from %s', (from) => {
  const insert = async (rows: readonly Settlement[]): Promise<void> => {
    await insertSettlements(engine.writer, rows);
    if (from === 'daily sums') await rollUp(engine.writer);
  };

  test('dust does not count towards a verdict, not even with larger payments of the same payer on the same day', async () => {
    await insert([
      ...times(12, (at) => pay(wallet(0x100 + at), DUSTY, DUST)),
      ...times(9, (at) => pay(wallet(0x200 + at), MIXED, at === 0 ? 1_000_000n : ENOUGH)),
      ...times(20, () => pay(wallet(0x200), MIXED, DUST)),
      ...times(10, (at) => pay(wallet(0x300 + at), SHOP, ENOUGH)),
    ]);
    expect(await verdictsOn('payee', [DUSTY, MIXED, SHOP])).toEqual([
      everywhere('insufficient'),
      everywhere('insufficient'),
      everywhere('clean'),
    ]);
  });

  test('dust that a payee sends back makes no agent suspect', async () => {
    await insert([
      // Organic payments, which rank; the others are not organic.
      ...[AGENT, SHOP].map((payer) => pay(payer, wallet(0x600), 1_000_000n)),
      ...times(12, (at) => pay(AGENT, wallet(0x400 + at), 1_000_000n)),
      ...times(12, (at) => pay(wallet(0x400 + at), AGENT, DUST)),
      ...times(12, (at) => pay(SHOP, wallet(0x500 + at), 1_000_000n)),
      ...times(12, (at) => pay(wallet(0x500 + at), SHOP, ENOUGH)),
    ]);
    expect(await verdictsOn('payer', [AGENT, SHOP])).toEqual([everywhere('clean'), everywhere('suspect')]);
  });

  test('what others paid a wallet is the same without dust, by count, payers and dollars', async () => {
    await insert([
      ...times(5, (at) => pay(wallet(0x600 + at), SHOP, ENOUGH)),
      ...times(3, () => pay(wallet(0x600), SHOP, DUST, { method: 'gasless_authorization' })),
      ...times(30, (at) => pay(wallet(0x600 + at), SHOP, DUST, { blockTime: NOON - 200 * DAY })),
      pay(SHOP, SHOP, 5_000_000n),
    ]);
    const coverage = await createRollups({ reader: engine.reader, clock: testClock() }).coverage();
    const scope = { wallet: SHOP, chain: undefined, final: undefined, coverage };
    const paid = await readPaid(engine.reader, {
      ...scope,
      ...(from === 'daily sums' ? { wholeRowsReadMax: 1 } : {}),
    });
    expect(paid).toEqual({
      payers: 5,
      settlements: 5,
      usdMicros: 5n * ENOUGH,
      provenUsdMicros: 5n * ENOUGH,
      firstSeen: NOON - DAY,
      lastSeen: NOON - DAY,
    });
  });
});

describe('the reasons of a summary', () => {
  const summaryOf = async (api: TestApi, of: Address, query = '') =>
    (await api.get(`/v0/entities/${of}/summary${query}`)).body;

  test('a wallet that was paid dust alone has no reason for it, and was never paid', async ({ api }) => {
    await insertSettlements(engine.writer, [
      ...times(12, (at) => pay(wallet(0x100 + at), DUSTY, DUST, { blockTime: NOON - 100 * DAY })),
    ]);
    expect(await summaryOf(api, DUSTY)).toMatchObject({
      verdict: 'insufficient',
      reasons_for: [],
      reasons_against: ['never_paid', 'few_settlements', 'no_identity'],
      received: { settlement_count: 12, counterparties: 12 },
    });
  });

  test('dust on another chain is no payment there', async ({ api }) => {
    await insertSettlements(engine.writer, [
      pay(wallet(0x100), DUSTY, DUST, { chain: POLYGON }),
      pay(wallet(0x100), SHOP, ENOUGH, { chain: POLYGON }),
    ]);
    const onBase = (of: Address) => summaryOf(api, of, `?chain=${BASE}`);
    expect((await onBase(DUSTY)).reasons_against).toEqual(['never_paid', 'no_identity']);
    expect((await onBase(SHOP)).reasons_against).toEqual(['not_paid_on_chain', 'no_identity']);
  });

  test('dollars of dust are neither proven nor unproven', async ({ api }) => {
    await insertSettlements(engine.writer, [
      pay(wallet(0x100), SHOP, ENOUGH, { method: 'gasless_authorization' }),
      ...times(40, () => pay(wallet(0x101), SHOP, DUST)),
    ]);
    const { reasons_for, reasons_against } = await summaryOf(api, SHOP);
    expect(reasons_for).toEqual([]);
    expect(reasons_against).toContain('mostly_unproven');
  });

  test('a rating whose proof is dust counts in no paid score', async ({ api }) => {
    await registerAgent(engine.writer, { agentId: 1n, owner: SHOP, card: { name: 'Weather by the call' } });
    const paid = [
      ...times(5, (at) => pay(wallet(0x700 + at), SHOP, DUST)),
      ...times(2, (at) => pay(wallet(0x800 + at), SHOP, ENOUGH)),
    ];
    await insertSettlements(engine.writer, paid);
    for (const [at, row] of paid.entries()) await rateWithProof(1n, row, 4_000 + at);
    await deriveAll(engine.writer);
    const body = await summaryOf(api, SHOP);
    expect(body.identity).toMatchObject({ paid_rating_clients: 2 });
    expect(body.reasons_for).not.toContain('well_rated');
  });
});

async function rateWithProof(agentId: bigint, row: Settlement, blockNumber: number): Promise<void> {
  const { payer, payee, txHash } = row;
  const log = attestation({ agentId, client: payer, blockNumber, uri: 'ipfs://file', fileHash: hash(5) });
  await insertAttestations(engine.writer, [log]);
  const proof = { chain: BASE, txHash, from: payer, to: payee };
  const file = { status: 'good', problem: '', failures: 0, nextTryAt: 0, hashMatches: true } as const;
  await saveFeedback(engine.writer, [
    [
      { ...log, failures: 0, ver: nextVer() },
      { ...file, comment: '', commentRule: 1, proof },
    ],
  ]);
}

test('dust is no part of a ring: neither its second payment nor its dollar', async () => {
  const [a, b, c, d] = [wallet(0xa), wallet(0xb), wallet(0xc), wallet(0xd)];
  const rows = [
    pay(a, b, 2_000_000n),
    pay(a, b, 2_000_000n),
    pay(b, a, 2_000_000n),
    pay(b, a, DUST),
    pay(c, d, 600_000n),
    pay(c, d, 600_000n),
    pay(d, c, 600_000n),
    pay(d, c, 600_000n),
  ];
  await insertSettlements(engine.writer, rows);
  const rings = () => ringPass(engine.writer, { nowMs: NOON * 1_000, limits: PASS_LIMITS });
  expect(await rings()).toMatchObject({ rings: 1, wallets: 2 });
  await insertSettlements(engine.writer, [pay(b, a, ENOUGH)]);
  expect(await rings()).toMatchObject({ rings: 2 });
});

describe('whatever dust is sent between wallets that paid and were paid', () => {
  const WALLETS = times(8, (at) => wallet(0x900 + at));
  const party = fc.constantFrom(...WALLETS);
  const payments = (amounts: readonly bigint[]) =>
    fc.array(
      fc.record({
        payer: party,
        payee: party,
        amount: fc.constantFrom(...amounts),
        method: fc.constantFrom('facilitator_relay' as const, 'gasless_authorization' as const),
        chain: fc.constantFrom(BASE, POLYGON),
        blockTime: fc.constantFrom(NOON - DAY, NOON - 3 * DAY, NOON - 40 * DAY, NOON - 120 * DAY),
      }),
      { minLength: 60, maxLength: 90 },
    );
  const histories = fc.sample(fc.tuple(payments([ENOUGH, 10_000n, 2_000_000n]), payments([0n, 1n, DUST])), {
    seed: 40,
    numRuns: 2,
  });

  /** Everything that is judged of every wallet. */
  async function judgements(): Promise<unknown> {
    await ringPass(engine.writer, { nowMs: NOON * 1_000, limits: PASS_LIMITS });
    const ranked = await Promise.all((['payee', 'payer'] as const).map((role) => verdictsOn(role, WALLETS)));
    const api = await testApi(engine.reader);
    const reasons = await Promise.all(
      WALLETS.flatMap((of) =>
        ['', `?chain=${BASE}`].map(async (query) => {
          const { body } = await api.get(`/v0/entities/${of}/summary${query}`);
          return [of, query, body.verdict, body.reasons_for, body.reasons_against];
        }),
      ),
    );
    await api.close();
    const { rows } = await engine.reader.rows({
      name: 'test-verdicts',
      maxSeconds: 10,
      maxRows: 100,
      sql: sql`SELECT * EXCEPT (gen, judged_at) FROM wallet_verdicts WHERE gen = (SELECT max(gen) FROM verdict_passes) ORDER BY wallet, role`,
    });
    return { ranked, reasons, rows };
  }

  /** Shows every wallet in both roles on both chains, with organic payments to rank by. */
  const seen = WALLETS.flatMap((of, at) =>
    [BASE, POLYGON].flatMap((chain) => [
      pay(of, wallet(0x2000 + at), ENOUGH, { chain }),
      pay(wallet(0x3000 + at), of, ENOUGH, { chain }),
    ]),
  );

  test.each(histories)('no verdict and no reason changes: history %#', async (trade, dust) => {
    await insertSettlements(engine.writer, [...seen, ...trade.map((one) => payment(one))]);
    const before = await judgements();
    await insertSettlements(
      engine.writer,
      dust.map((one) => payment(one)),
    );
    expect(await judgements()).toEqual(before);
  });
});
