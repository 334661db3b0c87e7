import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { waitWhileItProgresses } from '../../core/process/standstill.ts';
import { seededRandom } from '../../demo/random.ts';
import { readServed } from '../kit/catch-up.ts';
import { lengthOf } from '../kit/lengths.ts';
import { killLive, startTestService } from '../kit/service.ts';
import { owedPayments, placed, solanaTokens, startSolanaChain } from '../kit/solana-chain.ts';

const SEED = 31;
/** The kill that follows hits any moment of the work. */
const MOMENT_MAX_MS = 400;

test('kill -9 of the worker, the engine and both in the middle of traffic and forks loses and doubles nothing', async ({
  onTestFinished,
}) => {
  const world = await startSolanaChain(SEED);
  onTestFinished(() => world.node.stop());
  await world.grow(60);
  const [, { address, symbol, decimals, paidBy }] = solanaTokens(world);
  const service = await startTestService({
    chains: [
      {
        ...{ chain: 'solana-devnet', rpcUrls: [world.node.url], startBlock: 0, pollMs: 50, logWindowMax: 5 },
        tokens: [{ address, symbol, decimals, paidBy }],
      },
    ],
  });
  onTestFinished(() => service.remove());
  const served = async (): Promise<string[]> =>
    (await readServed(service.url))
      .map(({ block_number: slot, tx_hash: id, ...row }) => placed({ slot, id, ...row }))
      .sort();
  const expectTruth = async (): Promise<void> => {
    const owed = await owedPayments(world);
    await waitWhileItProgresses('the served rows are those of the chain', async () => {
      const rows = await served();
      return { done: JSON.stringify(rows) === JSON.stringify(owed), at: `${rows.length} of ${owed.length}` };
    }).catch(async (standstill: unknown) => {
      expect(await served()).toEqual(owed);
      throw standstill;
    });
  };

  const random = seededRandom(SEED);
  const rounds = [[service.ingestPid], [service.enginePid], [service.ingestPid, service.enginePid]];
  for (let round = 0; round < lengthOf('solanaKills'); round++) {
    const traffic = world.grow(4);
    await delay(random.below(MOMENT_MAX_MS));
    for (const pidOf of rounds[round % rounds.length] ?? []) await killLive(pidOf);
    await traffic;
    // Its blocks are not final. What fits no more on the new fork is gone.
    for (const wire of world.node.ledger.fork(1)) world.node.ledger.submit(wire);
    await world.grow(3);
  }
  await expectTruth();
  expect((await owedPayments(world)).length).toBeGreaterThan(60);
});
