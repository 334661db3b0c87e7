import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRpc } from '../../../demo/chain/json-rpc.ts';
import { type LyingSolana, SOLANA_LIES, type SolanaLie, startLyingSolana } from '../../kit/lying-solana.ts';
import { type SolanaWorld, startSolanaWorld } from '../../kit/solana-world.ts';

const FULL = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' };

describe('the Solana node that lies', () => {
  let world: SolanaWorld;
  let liar: LyingSolana;
  let slot: number;

  beforeAll(async () => {
    world = await startSolanaWorld();
    for (let blocks = 0; blocks < 3; blocks++) world.node.ledger.produce();
    await world.pay(1n);
    await world.pay(10n ** 15n);
    slot = world.node.ledger.produce().slot;
    liar = await startLyingSolana({ target: world.node.url, seed: 3 });
  });
  afterAll(async () => {
    await liar.stop();
    await world.stop();
  });

  const ask = async (url: string, lie: SolanaLie): Promise<unknown> => {
    const [method, ...params] = questionFor(lie);
    try {
      return await createRpc(url).call(method, ...params);
    } catch (error) {
      return String(error);
    }
  };
  const questionFor = (lie: SolanaLie): readonly [string, ...unknown[]] => {
    if (lie === 'other-chain') return ['getGenesisHash'];
    if (lie === 'stale-tip') return ['getSlot', { commitment: 'confirmed' }];
    if (lie === 'shorter-list') return ['getBlocks', 0, slot, { commitment: 'confirmed' }];
    return ['getBlock', slot, FULL];
  };

  test.each(SOLANA_LIES)('%s is told once, and then the truth', async (lie) => {
    const truth = await ask(world.node.url, lie);
    liar.insist(lie);
    // A lie about one transaction needs the right one, which is drawn.
    let answer = truth;
    for (let asked = 0; liar.told[lie] === 0 && asked < 50; asked++) answer = await ask(liar.url, lie);
    expect(liar.told[lie]).toBe(1);
    expect(answer).not.toEqual(truth);
    expect(await ask(liar.url, lie)).toEqual(truth);
  });
});
