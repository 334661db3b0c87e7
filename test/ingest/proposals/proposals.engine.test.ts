import { afterEach, describe, expect } from 'vitest';
import { RELAYER_FUNDERS } from '../../../clickhouse/tables/catalogues.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { insertRows } from '../../../clickhouse/tables/table.ts';
import type { Address } from '../../../core/domain/account.ts';
import { SEEN } from '../../../core/domain/evidence.ts';
import { PROPOSAL_DAYS, proposalScore } from '../../../core/domain/relayer-proposal.ts';
import { saveSigners } from '../../../ingest/grading/supported.ts';
import {
  createProposalWatch,
  loadAccepted,
  type ProposalWatch,
  readProposals,
  saveDecisions,
} from '../../../ingest/proposals/decisions.ts';
import { proposalPass } from '../../../ingest/proposals/pass.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { closeDays } from '../../kit/close-days.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { NAMED, proposalWorld, RIVAL } from '../../kit/proposal-world.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  nextVer,
  SOLANA,
  settlement,
  tombstone,
  wallet,
} from '../../kit/rows.ts';
import { account } from '../../kit/solana-json.ts';
import { waitUntil } from '../../kit/wait-until.ts';

let engine: TestEngine;
const DAY = 86_400;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async () => {
  await emptyTables(engine.writer);
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
});

const pass = (scoreMin?: number) =>
  proposalPass({
    writer: engine.writer,
    chains: [BASE, SOLANA],
    clock: { nowMs: () => NOON * 1_000 },
    ...(scoreMin === undefined ? {} : { scoreMin }),
  });

/** One relayer after the other, over all rows that are there. */
function recount(rows: readonly Settlement[]) {
  const from = Math.floor(NOON / DAY - PROPOSAL_DAYS) * DAY;
  const payments = rows.filter(({ kind, blockTime }) => kind === 'payment' && blockTime >= from);
  const named = payments.filter(({ relayer }) => relayer === NAMED);
  const payersOf = (payee: Address) =>
    new Set(named.filter((row) => row.payee === payee).map((row) => row.payer));
  const payersNamed = new Set(named.map(({ payer }) => payer));
  const isShared = (payee: Address): boolean => payersOf(payee).size >= 3;
  const relayers = [...new Set(payments.map(({ relayer }) => relayer))].filter((one) => one !== NAMED).sort();
  return relayers.flatMap((address) => {
    const mine = payments.filter(({ relayer }) => relayer === address);
    const payers = [...new Set(mine.map(({ payer }) => payer))];
    const payees = [...new Set(mine.map(({ payee }) => payee))];
    if (mine.length < 10 || payers.length < 3) return [];
    const squares = payers.map((one) => mine.filter(({ payer }) => payer === one).length ** 2);
    const figures = {
      settlementCount: mine.length,
      relayedCount: mine.filter(
        ({ seen }) => (seen & SEEN.third_party_relay) !== 0 && (seen & SEEN.no_marker) === 0,
      ).length,
      payerCount: payers.length,
      payerSpread: mine.length ** 2 / squares.reduce((sum, square) => sum + square, 0),
      sharedPayerCount: payers.filter((payer) => payersNamed.has(payer)).length,
      payeeCount: payees.length,
      sharedPayeeCount: payees.filter(isShared).length,
      sharedSettlementCount: mine.filter(({ payee }) => isShared(payee)).length,
      supportedBy: [],
      fundedWith: '',
    };
    const ever = rows.filter(({ relayer, kind }) => relayer === address && kind === 'payment');
    return [
      {
        ...{ chain: BASE, address, ...figures, score: proposalScore(figures) },
        sharedWith: payees.some(isShared) ? ['coinbase'] : [],
        firstSeen: Math.min(...ever.map(({ blockTime }) => blockTime)),
        lastSeen: Math.max(...mine.map(({ blockTime }) => blockTime)),
      },
    ];
  });
}

/** Few parties, so that they meet; times over more than the days that count. */
function randomRows(count: number): Settlement[] {
  let state = 7;
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * limit);
  };
  const sights = [
    SEEN.authorization_used | SEEN.third_party_relay,
    SEEN.permit2_settled | SEEN.third_party_relay,
    SEEN.authorization_used | SEEN.relayed_by_payer,
    SEEN.no_marker | SEEN.third_party_relay,
  ];
  return Array.from({ length: count }, (_, at) =>
    settlement({
      relayer: [NAMED, wallet(0x51), wallet(0x52), wallet(0x53), wallet(0x54)][below(5)] ?? NAMED,
      payer: wallet(0x100 + below(12)),
      payee: wallet(0x200 + below(14)),
      seen: sights[below(6)] ?? SEEN.authorization_used | SEEN.third_party_relay,
      kind: below(10) === 0 ? 'refund' : 'payment',
      blockNumber: 1_000 + at,
      blockTime: NOON - below(38 * DAY),
    }),
  );
}

describe('a pass', () => {
  test('equals a naive recount: days closed and open, rows retracted, kinds that do not count', async () => {
    const rows = randomRows(600);
    const days = [...new Set(rows.map(({ blockTime }) => blockTime - (blockTime % DAY)))].sort();
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, days.slice(0, -3));
    const gone = rows.slice(0, 40);
    await tombstone(engine.writer, gone);
    for (const isClosedAgain of [false, true]) {
      if (isClosedAgain) await closeDays(engine.writer, days.slice(0, -1));
      await pass(0);
      const found = [...(await readProposals(engine.writer))].sort((one, other) =>
        one.address < other.address ? -1 : 1,
      );
      expect(found).toEqual(recount(rows.slice(gone.length)));
      expect(found).toHaveLength(4);
    }
  });

  test('proposes the relayer that does what a named one does, and no payroll', async () => {
    await insertSettlements(engine.writer, proposalWorld());
    expect(await pass()).toMatchObject({ lookedAt: 2, proposed: 1 });
    const [only, ...others] = await readProposals(engine.writer);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ address: RIVAL, score: 1, sharedWith: ['coinbase'], supportedBy: [] });
  });

  test('proposes a fee payer of Solana by payments of the form of the scheme, and by no others', async () => {
    const accountOf = (one: Address): Address => account(one.slice(-8));
    await nameFacilitator(engine.writer, 'coinbase', 'Coinbase', accountOf(NAMED), SOLANA);
    const rows = proposalWorld().map(({ payer, payee, relayer, ...row }) => ({
      ...{ ...row, chain: SOLANA, seen: SEEN.sponsored_exact | SEEN.third_party_relay },
      ...{ payer: accountOf(payer), payee: accountOf(payee), relayer: accountOf(relayer) },
    }));
    await insertSettlements(engine.writer, rows);
    await pass();
    const proposed = { chain: SOLANA, address: accountOf(RIVAL), score: 1, relayedCount: 108 };
    expect(await readProposals(engine.writer)).toMatchObject([proposed]);
    const others = rows.map((row) => ({ ...row, seen: SEEN.sponsored_transfer | SEEN.third_party_relay }));
    await insertSettlements(engine.writer, others);
    await pass();
    expect(await readProposals(engine.writer)).toEqual([]);
  });

  test.each<[string, readonly [string, Address][], string]>([
    [
      'two relayers of one facilitator',
      [
        ['coinbase', NAMED],
        ['coinbase', wallet(0x71)],
      ],
      'coinbase',
    ],
    ['a single one', [['coinbase', NAMED]], ''],
    [
      'relayers of two facilitators, as an exchange does',
      [
        ['coinbase', NAMED],
        ['coinbase', wallet(0x71)],
        ['payAI', wallet(0x72)],
      ],
      '',
    ],
  ])('a sender of gas money in common with %s is evidence or none', async (_whose, named, expected) => {
    const [treasury, other] = [wallet(0x7a), wallet(0x7b)];
    await insertSettlements(engine.writer, proposalWorld());
    for (const [facilitator, relayer] of named)
      await nameFacilitator(engine.writer, facilitator, facilitator, relayer);
    const rows = [RIVAL, ...named.map(([, relayer]) => relayer)].map((relayer) => ({
      address: relayer,
      funder: treasury,
    }));
    const table = RELAYER_FUNDERS;
    await insertRows(engine.writer, { name: 'test', table, rows, fixed: { chain: BASE, ver: 1n } });
    const fundedWith = async () => {
      await pass();
      return (await readProposals(engine.writer)).map((proposal) => proposal.fundedWith);
    };
    expect(await fundedWith()).toEqual([expected]);
    const moved = [{ address: RIVAL, funder: other }];
    await insertRows(engine.writer, { name: 'test', table, rows: moved, fixed: { chain: BASE, ver: 2n } });
    expect(await fundedWith()).toEqual(['']);
  });

  test('shows who lists the address in /supported', async () => {
    await insertSettlements(engine.writer, proposalWorld());
    await saveSigners(engine.writer, [
      { facilitator: 'gone', chain: BASE, address: RIVAL, firstSeen: '2026-01-01' },
    ]);
    await pass();
    expect((await readProposals(engine.writer)).map(({ supportedBy }) => supportedBy)).toEqual([['gone']]);
  });

  test('replaces the list of the one before, and looks at nobody whom a catalogue names', async () => {
    await insertSettlements(engine.writer, proposalWorld());
    await pass();
    await tombstone(
      engine.writer,
      proposalWorld().filter(({ relayer }) => relayer === RIVAL),
    );
    expect(await pass()).toMatchObject({ lookedAt: 1, proposed: 0 });
    expect(await readProposals(engine.writer)).toEqual([]);
  });
});

describe('decisions', () => {
  const ending = new Set<AbortController>();
  afterEach(() => {
    for (const controller of ending) controller.abort();
    ending.clear();
  });

  async function watch(acceptProposalsAbove: number | null): Promise<ProposalWatch> {
    const controller = new AbortController();
    ending.add(controller);
    const watching = await createProposalWatch({
      config: { catalogue: { acceptProposalsAbove } },
      writer: engine.writer,
      versions: createVersions(0n),
      log: testLog,
      signal: controller.signal,
      lookEveryMs: 20,
    });
    watching.watch().catch(() => undefined);
    return watching;
  }

  const RIVAL_ACCEPTED = { chain: BASE, address: RIVAL, firstSeen: '2026-11-17' };

  test('above the configured score a proposal counts from its first payment on, also after a restart', async () => {
    await insertSettlements(engine.writer, proposalWorld());
    const watching = await watch(0.9);
    await pass();
    await waitUntil('the proposal is accepted', () => watching.accepted().length > 0);
    expect(watching.accepted()).toEqual([RIVAL_ACCEPTED]);
    expect(await loadAccepted(engine.writer, { acceptProposalsAbove: 0.9 })).toEqual([RIVAL_ACCEPTED]);
    expect((await watch(0.9)).accepted()).toEqual([RIVAL_ACCEPTED]);
    // The score is 1, which is not above 1, and nothing is above null.
    expect((await watch(1)).accepted()).toEqual([]);
    expect((await watch(null)).accepted()).toEqual([]);
  });

  test('a refusal ends an acceptance and the proposal', async () => {
    await insertSettlements(engine.writer, proposalWorld());
    await pass();
    const watching = await watch(0.9);
    await waitUntil('the proposal is accepted', () => watching.accepted().length > 0);
    const refusal = { chain: BASE, address: RIVAL, decision: 'refused', score: 1 } as const;
    const ver = nextVer() + createVersions(0n).next();
    await saveDecisions(engine.writer, [{ ...refusal, firstSeen: '2026-11-17', decidedAt: NOON }], ver);
    await waitUntil('the acceptance has ended', () => watching.accepted().length === 0);
    await pass();
    expect(await readProposals(engine.writer)).toEqual([]);
  });
});
