import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../core/process/free-port.ts';
import { castOf } from '../../../demo/actors.ts';
import { type Facilitator, startFacilitator } from '../../../demo/facilitator.ts';
import { createSolanaLive } from '../../../demo/solana/live.ts';
import { type SolanaMarket, startSolanaMarket } from '../../../demo/solana/market.ts';
import { watchedLog } from '../../kit/secrets-watch.ts';

const SEED = 11;
const GENESIS = 1_790_000_000;
const BLOCK_EVERY_MS = 100;
/** Two purchases and a fork are due within them. */
const STEPS = 28;
const STEPS_BETWEEN_WAITS = 4;

describe('the market on Solana', () => {
  const cast = castOf(SEED);
  let market: SolanaMarket;
  let facilitator: Facilitator;

  beforeAll(async () => {
    const { merchants, facilitators } = cast;
    market = await startSolanaMarket({ seed: SEED, genesisTime: GENESIS, merchants, facilitators });
    await market.history(300, 20);
    facilitator = await startFacilitator({
      rpcUrl: `http://127.0.0.1:${await freePort()}`, // no EVM chain is asked for anything here
      chainId: 84_532,
      privateKey: cast.x402Relayer.privateKey,
      builderCode: 'none',
      solana: market.facilitator,
      log: watchedLog('facilitator-process'),
    });
    market.run(BLOCK_EVERY_MS);
  });
  afterAll(async () => {
    await facilitator?.stop();
    await market?.stop();
  });

  test('its sellers and facilitators are those of the EVM chain, with other accounts', () => {
    const names = new Set(cast.merchants.map(({ name }) => name));
    for (const { name, address } of market.sellers) {
      expect(names).toContain(name);
      expect(address).not.toMatch(/^0x/);
    }
    expect(market.feePayers.map(({ facilitator: id }) => id)).toEqual([
      'northwind',
      'meridian',
      null,
      'local-x402',
    ]);
  });

  test('history has payments of every fee payer but the local one, in blocks one slot apart', async () => {
    const { payments, slots } = await market.truth();
    const sponsors = new Set(payments.map(({ feePayer }) => feePayer));
    for (const { address, facilitator: id } of market.feePayers)
      expect(sponsors.has(address)).toBe(id !== 'local-x402');
    expect(slots.length).toBeGreaterThan(10);
    expect((slots.at(-1) ?? 0) - (slots[0] ?? 0)).toBeGreaterThanOrEqual(slots.length - 1);
  });

  test('what goes on has purchases that the local facilitator settles, and forks lose none of them', async () => {
    const live = createSolanaLive(market, [() => market.buy(facilitator.url)]);
    for (let step = 1; step <= STEPS; step++) {
      await live.step();
      // A purchase under way keeps forks away, and the other way round.
      if (step % STEPS_BETWEEN_WAITS === 0) await live.settleDown();
    }
    await live.settleDown();
    const { owed, purchases, failed } = await live.outcome();
    expect(failed).toEqual([]);
    expect(purchases).toBeGreaterThanOrEqual(2);
    const { payments: paid } = await market.truth();
    expect(owed.length).toBeGreaterThan(purchases);
    expect(owed.length).toBeLessThan(paid.length);
    const settled = paid.filter(({ feePayer }) => feePayer === market.feePayers.at(-1)?.address);
    expect(settled).toHaveLength(purchases);
    for (const { payee, isSponsored } of settled)
      expect([payee, isSponsored]).toEqual([market.sellers[0]?.address, true]);
  });
});
