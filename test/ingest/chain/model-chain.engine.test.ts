import { seededRandom } from '../../../demo/random.ts';
import type { LogFilter } from '../../../ingest/chain/block-source.ts';
import { TOPIC } from '../../../ingest/decode/log-kind.ts';
import { PROXY, USDC } from '../../kit/chain-logs.ts';
import { createModelChain } from '../../kit/simulator/model-chain.ts';
import { randomBlock } from '../../kit/simulator/traffic.ts';
import { blockSourceContract } from './block-source.ts';

/** The fault simulation stands on the model chain, so the model is held to the same contract as the real source. */

const filter: LogFilter = {
  addresses: [USDC, PROXY],
  topics: Object.values(TOPIC),
  isCandidate: ({ topics }) => topics[0] === TOPIC.authorizationUsed,
};
const BLOCKS = 40;

function grown() {
  const random = seededRandom(9);
  const chain = createModelChain({ chainId: 8453, finalityDepth: 8, genesisTime: 1_780_000_000 });
  const block = (number: number) =>
    randomBlock(random, { time: 1_780_000_000 + number * 60, token: USDC, transactions: random.below(5) });
  for (let number = 1; number <= BLOCKS; number++) chain.append(block(number));
  return { chain, block };
}

blockSourceContract('model chain', () => ({ ...grown().chain, filter, from: 1, to: BLOCKS }));

blockSourceContract('model chain after a reorg', () => {
  const { chain, block } = grown();
  chain.replace(6, (lost) => lost.map((_, index) => block(BLOCKS - 5 + index)));
  return { ...chain, filter, from: 1, to: BLOCKS };
});
