import { expect } from 'vitest';
import { caughtUp, expectTruth, telemetry } from '../kit/catch-up.ts';
import { truthTest as test } from '../kit/fixtures-ingest.ts';
import { IS_NIGHTLY } from '../kit/lengths.ts';
import { type Lie, type LyingRpc, startLyingRpc } from '../kit/lying-rpc.ts';
import type { TestService } from '../kit/service.ts';
import type { TruthWorld } from '../kit/truth-world.ts';

/** Through nodes that answer wrongly or not at all, the API serves the payments in the receipts of an honest one, row for row. */

/** Chances per request; together about every third answer is a lie. */
const LIES_TOLD: Partial<Record<Lie, number>> = {
  'rate-limited': 0.04,
  'server-error': 0.04,
  truncated: 0.04,
  // Each costs a whole time-out of 20 s: `npm test` waits for the one that is insisted on.
  hang: IS_NIGHTLY ? 0.003 : 0,
  'empty-logs': 0.1,
  'other-fork': 0.05,
  'duplicate-logs': 0.08,
  'dropped-block': 0.08,
  'cut-logs': 0.08,
  'too-many-results': 0.05,
  'broken-link': 0.01,
  'stale-head': 0.1,
};
/** Blocks that are mined together, so that some windows have several: only those give occasion to every lie. */
const OCCASION_BLOCKS = 8;
const OCCASIONS_MAX = 30;

/**
 * Insists on every lie while the chain grows by a few blocks at a time, and ends when each was used at least once in the whole
 * run: some need a question that is asked at the tip only, and catching up may have asked few of those. Not once more for
 * all: to a node that has refused several ranges for their size, the index puts no more than one block for a long time.
 */
async function tellEveryLie(made: TruthWorld, service: TestService, liar: LyingRpc): Promise<void> {
  const lies = Object.keys(LIES_TOLD) as Lie[]; // its keys, by its type
  const untold = () => lies.filter((lie) => liar.told[lie] === 0);
  for (const lie of lies) liar.insist(lie);
  let occasions = 0;
  do {
    expect(occasions++, `occasions without ${untold()}`).toBeLessThan(OCCASIONS_MAX);
    await made.grow(OCCASION_BLOCKS);
    // The chain must not outgrow an index that waits for an answer.
    await caughtUp(made, service.url);
  } while (untold().length > 0);
}

test.concurrent('a node that lies in every way it can is found out, and the index is true all the same', async ({
  stage,
  onTestFinished,
}) => {
  const made = await stage.world(5);
  await made.grow(150);
  const liar = await startLyingRpc({ target: made.chain.url, seed: 11, probabilities: LIES_TOLD });
  onTestFinished(() => liar.stop());
  // Small windows: every answer is another occasion to lie.
  const service = await stage.service(made, { chain: { rpcUrls: [liar.url], logWindowMax: 8 } });
  for (let round = 0; round < 6; round++) {
    await made.grow(5);
    await made.reorganise(1 + made.random.below(6));
  }
  await expectTruth(made, service.url);
  await tellEveryLie(made, service, liar);
  await expectTruth(made, service.url);
  expect((await telemetry(service.url)).contradictions).toBeGreaterThan(0);
});

test.concurrent('a second, honest node is enough when the first one is gone', async ({
  stage,
  onTestFinished,
}) => {
  const made = await stage.world(6);
  await made.grow(100);
  const liar = await startLyingRpc({ target: made.chain.url, seed: 1, probabilities: { 'server-error': 1 } });
  onTestFinished(() => liar.stop());
  const service = await stage.service(made, { chain: { rpcUrls: [liar.url, made.chain.url] } });
  await expectTruth(made, service.url);
});
