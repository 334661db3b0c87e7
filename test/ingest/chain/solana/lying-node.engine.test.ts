import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { SolanaBatch } from '../../../../ingest/chain/solana/block.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { EXCHANGE_LIES } from '../../../kit/lying-proxy.ts';
import {
  type LyingSolana,
  SOLANA_LIES,
  type SolanaLie,
  startLyingSolana,
} from '../../../kit/lying-solana.ts';
import { type SolanaChain, solanaSource, startSolanaChain } from '../../../kit/solana-chain.ts';

/** The source over a node that lies now and then, or always, beside one that does not: what is read is the chain, transaction by transaction. */

let world: SolanaChain;
let final: number;
let truth: SolanaBatch['blocks'];
const liars: LyingSolana[] = [];

beforeAll(async () => {
  world = await startSolanaChain(52);
  await world.grow(25);
  final = world.node.ledger.slot('finalized');
  truth = (await solanaSource(world.chain, [world.node.url]).read(0, final, world.filter)).blocks;
});
afterEach(async () => {
  for (const liar of liars.splice(0)) await liar.stop();
});
afterAll(() => world?.node.stop());

async function readThrough(seed: number, probabilities: Partial<Record<SolanaLie, number>>) {
  const liar = await startLyingSolana({ target: world.node.url, seed, probabilities });
  liars.push(liar);
  const source = solanaSource(world.chain, [liar.url, world.node.url]);
  const { blocks } = await source.read(0, final, world.filter);
  return { blocks, told: Object.values(liar.told).reduce((sum, count) => sum + count, 0) };
}

/** The order of transactions that share no account is nothing that a block shows. */
const FOUND_OUT = SOLANA_LIES.filter((lie) => lie !== 'swapped-transactions');

/** Told once, about accounts that move once, one node shows nothing of these (docs/design/solana.md). */
const UNNOTICED_ONCE = { 'dropped-transaction': 0, 'changed-owner': 0 };

test.each(FOUND_OUT.filter((lie) => lie !== 'stale-tip'))(
  '%s, told by one URL for ever, is never believed',
  async (lie) => {
    const { blocks, told } = await readThrough(1, { [lie]: 1 });
    expect(blocks).toEqual(truth);
    expect(told).toBeGreaterThan(0);
  },
);

test.each([1, 2, 3, 4, 5].slice(0, lengthOf('liarSeeds')))(
  'with seed %i all lies together are never believed',
  async (seed) => {
    const chance = Object.fromEntries(FOUND_OUT.map((lie) => [lie, 0.02]));
    const left = { 'other-chain': 0, ...UNNOTICED_ONCE };
    const exchanges = Object.fromEntries(EXCHANGE_LIES.map((lie) => [lie, 0.005]));
    const { blocks, told } = await readThrough(seed, { ...chance, ...exchanges, ...left });
    expect(blocks).toEqual(truth);
    expect(told).toBeGreaterThan(0);
  },
);
