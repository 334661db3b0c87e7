import { expect } from 'vitest';
import { castOf } from '../../../demo/actors.ts';
import { planPayments } from '../../../demo/history/sample-payments.ts';
import { sampleChains } from '../../../demo/history/sample-world.ts';
import { seededRandom } from '../../../demo/random.ts';
import { PASS_LIMITS } from '../../../ingest/rings/edges.ts';
import { ringPass } from '../../../ingest/rings/pass.ts';
import { test } from '../../kit/fixtures.ts';
import { rankWallets } from '../../kit/rank-wallets.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement } from '../../kit/rows.ts';

const [, whole] = sampleChains(castOf(1));
if (whole === undefined) throw new Error('there are three sample chains');
const base = { ...whole, payments: 6_000, payers: whole.payers.slice(0, 400) };

test('the wallets of the demo that pay themselves or each other in circles are in no first hundred', async ({
  engine,
  api,
}) => {
  await reportChain(engine.writer, BASE);
  const payments = planPayments(base, NOON, seededRandom(7));
  await insertSettlements(
    engine.writer,
    payments.map(({ time, payer, payee, amount, relayer }, at) =>
      settlement({
        blockTime: time,
        blockNumber: 1_000_000 + at,
        payer,
        payee,
        relayer,
        amount,
        amountUsdMicros: amount,
      }),
    ),
  );
  const pass = await ringPass(engine.writer, { nowMs: NOON * 1_000, limits: PASS_LIMITS });
  expect(pass.rings).toBeGreaterThanOrEqual(base.rings.length);
  await rankWallets(engine.writer, { windows: ['30d'] });
  const planted = [...base.selfPayers, ...base.rings.flat()];
  const grossOf = (wallet: string) =>
    payments.filter(({ payee }) => payee === wallet).reduce((sum, { amount }) => sum + amount, 0n);
  const honest = base.sellers.map(({ address }) => grossOf(address)).sort((a, b) => Number(a - b));
  // By what they received, the members of rings would stand among the sellers.
  for (const member of base.rings.flat()) expect(grossOf(member)).toBeGreaterThan(honest[0] ?? 0n);
  for (const by of ['organic_usd', 'settlements', 'counterparties', 'growth']) {
    for (const flags of ['', '&include_flagged=true']) {
      const { body } = await api.get(`/v0/merchants?limit=100&by=${by}${flags}`);
      const top = body.merchants.map(({ wallet }: { wallet: string }) => wallet);
      expect(top).toContain(base.sellers[0]?.address);
      expect(top.filter((wallet: string) => planted.some((one) => one === wallet))).toEqual([]);
    }
  }
});
