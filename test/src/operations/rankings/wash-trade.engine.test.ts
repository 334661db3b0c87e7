import { describe, expect } from 'vitest';
import { saveFeedback } from '../../../../ingest/agents/feedback/row.ts';
import { PASS_LIMITS } from '../../../../ingest/rings/edges.ts';
import { ringPass } from '../../../../ingest/rings/pass.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import type { TestApi } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { emptyIdentityTables } from '../../../kit/identities.ts';
import { rankWallets } from '../../../kit/rank-wallets.ts';
import { attestation, insertAttestations } from '../../../kit/registry-rows.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  nextVer,
  reportChain,
  settlement,
  wallet,
} from '../../../kit/rows.ts';

/** What invented trade and invented ratings can make of a rank: nothing. */

let engine: TestEngine;
let api: TestApi;

const DAY = 86_400;
const HONEST = 120;
const honestMerchant = (at: number) => wallet(0x1000 + at);

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await emptyTables(engine.writer);
  await emptyIdentityTables(engine.writer);
  await reportChain(engine.writer, BASE);
  await insertSettlements(engine.writer, honestTrade());
});

let nextBlock = 5_000;

function payment(payer: number, payee: number, dollars: number, age = 2 * DAY) {
  nextBlock += 1;
  return settlement({
    payer: wallet(payer),
    payee: wallet(payee),
    amountUsdMicros: BigInt(dollars * 1_000_000),
    blockNumber: nextBlock,
    blockTime: NOON - age,
    method: 'facilitator_relay',
    facilitator: 'coinbase',
  });
}

/** Each of 120 merchants is paid by twelve wallets of its own, a few dollars. */
function honestTrade() {
  return Array.from({ length: HONEST }, (_, at) =>
    Array.from({ length: 12 }, (_unused, client) => payment(0x9_0000 + at * 100 + client, 0x1000 + at, 1)),
  ).flat();
}

const ORDERS = ['organic_usd', 'proven_usd', 'settlements', 'counterparties', 'growth'] as const;

async function firstHundred(query: string): Promise<string[]> {
  const { status, body, text } = await api.get(`/v0/leaderboard?${query}&limit=100`);
  if (status !== 200) throw new Error(text);
  return body.leaderboard.map((row: { wallet?: string; agent_id?: string }) => row.agent_id ?? row.wallet);
}

describe('invented payments', () => {
  const SELF = 0xd001;
  const SEES_SAW = [0xd101, 0xd102];
  const RING = [0xd201, 0xd202, 0xd203];
  /** A shop that fifty wallets of its own keep paying, with money that it sends back to them. */
  const PUPPETEER = 0xd301;
  const PUPPETS = Array.from({ length: 50 }, (_, at) => 0xd400 + at);
  const INVENTED = [SELF, ...SEES_SAW, ...RING, PUPPETEER].map(wallet);

  test.beforeEach(async () => {
    const times = <Item>(count: number, make: (time: number) => Item): Item[] =>
      Array.from({ length: count }, (_, time) => make(time));
    await insertSettlements(engine.writer, [
      ...times(40, () => payment(SELF, SELF, 1_000)),
      ...times(40, (time) => payment(SEES_SAW[time % 2] ?? 0, SEES_SAW[(time + 1) % 2] ?? 0, 1_000)),
      ...times(40, () => RING.map((payer, at) => payment(payer, RING[(at + 1) % 3] ?? 0, 1_000))).flat(),
      ...PUPPETS.flatMap((puppet) => [payment(puppet, PUPPETEER, 1_000), payment(PUPPETEER, puppet, 999)]),
    ]);
    await ringPass(engine.writer, { nowMs: NOON * 1_000, limits: PASS_LIMITS });
    await rankWallets(engine.writer);
  });

  test.each(['merchants', 'payers'])('fall out of the first hundred %s by every order', async (of) => {
    for (const by of ORDERS) {
      const top = await firstHundred(`of=${of}&by=${by}&window=7d`);
      expect([by, top.length, top.filter((one) => INVENTED.includes(one as never))]).toEqual([by, 100, []]);
    }
  });

  test('lift no one even where flagged wallets stay: the ranked volume is organic', async () => {
    for (const by of ORDERS) {
      const top = await firstHundred(`of=merchants&by=${by}&window=7d&include_flagged=true`);
      expect(top.filter((one) => INVENTED.includes(one as never))).toEqual([]);
    }
  });

  test('hide a wallet with honest trade too, until include_flagged shows it with its verdict', async () => {
    await insertSettlements(
      engine.writer,
      Array.from({ length: 20 }, (_, at) => payment(0xe000 + at, SELF, 50)),
    );
    await rankWallets(engine.writer);
    expect(await firstHundred('of=merchants&window=7d')).not.toContain(wallet(SELF));
    const { body } = await api.get('/v0/merchants?window=7d&include_flagged=true&limit=1');
    expect(body.merchants).toMatchObject([
      {
        rank: 1,
        wallet: wallet(SELF),
        data_quality: 'suspect',
        figures: { organic_usd: 1_000, settled_usd: 41_000, distinct_counterparties: 20 },
      },
    ]);
  });

  test('do not lift an agent whose wallet receives them', async () => {
    await registerAgent(engine.writer, { agentId: 1n, owner: wallet(SELF) });
    await registerAgent(engine.writer, { agentId: 2n, owner: honestMerchant(0) });
    await registerAgent(engine.writer, { agentId: 3n, owner: honestMerchant(0) });
    await deriveAll(engine.writer);
    await rankWallets(engine.writer);
    const { body } = await api.get('/v0/leaderboard?of=agents&by=organic_usd&window=7d');
    expect(body.leaderboard).toMatchObject([
      { rank: 1, agent_id: '2', chain: BASE, wallet: honestMerchant(0), value: 12 },
    ]);
  });
});

describe('invented ratings', () => {
  /** An agent rated a hundred by many wallets that never paid it, and one whose raters it paid itself. */
  const [UNPAID, BOUGHT, HONEST_AGENT] = [1n, 2n, 3n];
  const BOUGHT_WALLET = 0xf001;
  const raters = Array.from({ length: 60 }, (_, at) => 0xf100 + at);

  test.beforeEach(async () => {
    await registerAgent(engine.writer, { agentId: UNPAID, owner: wallet(0xf000) });
    await registerAgent(engine.writer, { agentId: BOUGHT, owner: wallet(BOUGHT_WALLET) });
    await registerAgent(engine.writer, { agentId: HONEST_AGENT, owner: honestMerchant(0) });
    await insertAttestations(
      engine.writer,
      raters.map((client, at) =>
        attestation({ agentId: UNPAID, client: wallet(client), blockNumber: 3_000 + at }),
      ),
    );
    const bought = raters.map((client) => payment(client, BOUGHT_WALLET, 2));
    await insertSettlements(engine.writer, [
      ...bought,
      ...raters.map((client) => payment(BOUGHT_WALLET, client, 2)),
    ]);
    for (const [at, row] of bought.entries()) await rateWithProof(BOUGHT, row, 4_000 + at);
    const [sale] = honestTrade();
    if (sale === undefined) throw new Error('no sale');
    await insertSettlements(engine.writer, [sale]);
    await rateWithProof(HONEST_AGENT, sale, 4_900);
    await deriveAll(engine.writer);
    await rankWallets(engine.writer);
  });

  async function rateWithProof(
    agentId: bigint,
    { payer, payee, txHash }: ReturnType<typeof payment>,
    blockNumber: number,
  ): Promise<void> {
    const log = attestation({ agentId, client: payer, blockNumber, uri: 'ipfs://file', fileHash: hash(5) });
    await insertAttestations(engine.writer, [log]);
    await saveFeedback(engine.writer, [
      [
        { ...log, failures: 0, ver: nextVer() },
        {
          status: 'good',
          problem: '',
          failures: 0,
          nextTryAt: 0,
          hashMatches: true,
          comment: '',
          commentRule: 1,
          proof: { chain: BASE, txHash, from: payer, to: payee },
        },
      ],
    ]);
    nextVer();
  }

  test('by=paid_score ranks neither raters who paid nothing nor raters whose money came back', async () => {
    expect(await firstHundred('by=paid_score')).toEqual(['3']);
    expect(await firstHundred('of=agents&by=paid')).toEqual(['3']);
    expect(await firstHundred('by=paid_score&include_flagged=1')).toEqual(['2', '3']);
  });

  test('min_counterparties counts the clients of ratings', async () => {
    expect(await firstHundred('min_counterparties=2')).toEqual(['1', '2']);
    expect(await firstHundred('by=paid_score&include_flagged=1&min_counterparties=2')).toEqual(['2']);
  });
});
