import { base58 } from '@scure/base';
import { createSolanaRpc, type Signature } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSolanaLedger } from '../../../demo/solana/ledger.ts';
import { caip2Of, SOLANA_MAINNET, TOKEN_PROGRAM } from '../../../demo/solana/programs.ts';
import { tokenAccountOf } from '../../../demo/solana/wallets.ts';
import { GRANT_ATOMS, type SolanaWorld, startSolanaWorld } from '../../kit/solana-world.ts';

const FULL = {
  encoding: 'json',
  transactionDetails: 'full',
  rewards: false,
  maxSupportedTransactionVersion: 0,
  commitment: 'confirmed',
} as const;

interface WireBlock {
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
  readonly blockHeight: number;
  readonly transactions: readonly {
    readonly version: number;
    readonly transaction: { readonly signatures: readonly string[] };
    readonly meta: { readonly preTokenBalances: readonly object[] };
  }[];
}

describe('the local Solana', () => {
  let world: SolanaWorld;
  let left = GRANT_ATOMS;

  beforeAll(async () => {
    world = await startSolanaWorld();
  });
  afterAll(() => world.stop());

  const block = (slot: number, options: object = FULL) =>
    world.rpc.call<WireBlock>('getBlock', slot, options);
  const pay = async (amount: bigint, memo?: string) => {
    left -= amount;
    return world.pay(amount, memo === undefined ? {} : { memo });
  };
  const produced = () => world.node.ledger.produce().slot;

  test('a sponsored payment is in its block with both owners and their balances', async () => {
    const before = left;
    const { signature } = await pay(1_000n, 'order 1');
    const [only, ...others] = (await block(produced())).transactions;
    expect(others).toEqual([]);
    expect(only?.version).toBe(0);
    expect(only?.transaction.signatures[0]).toBe(signature);
    const balance = (owner: string, amount: bigint) =>
      expect.objectContaining({
        owner,
        mint: world.usdc,
        programId: TOKEN_PROGRAM,
        uiTokenAmount: expect.objectContaining({ amount: String(amount), decimals: 6 }),
      });
    expect(only?.meta).toMatchObject({
      err: null,
      fee: 10_001, // two signatures, and a micro-lamport for each of 20,000 units
      preTokenBalances: expect.arrayContaining([
        balance(world.payer.address, before),
        balance(world.payee, 0n),
      ]),
      postTokenBalances: expect.arrayContaining([
        balance(world.payer.address, before - 1_000n),
        balance(world.payee, 1_000n),
      ]),
      logMessages: expect.arrayContaining([expect.stringContaining('order 1')]),
    });
    const account = await tokenAccountOf(world.payee, world.usdc);
    expect(await world.rpc.call('getTokenAccountBalance', account)).toMatchObject({
      value: { amount: '1000', uiAmountString: '0.001', uiAmount: 0.001 },
    });
  });

  test('each block names the slot and the hash of the block before it, also over skipped slots', async () => {
    const from = world.node.ledger.slot('confirmed');
    world.node.ledger.produce({ skip: 3 });
    await pay(1n);
    world.node.ledger.produce();
    world.node.ledger.produce({ skip: 1 });
    const slots = await world.rpc.call<number[]>('getBlocks', from, null, { commitment: 'confirmed' });
    expect(slots.map((slot) => slot - from)).toEqual([0, 4, 5, 7]);
    const blocks = await Promise.all(slots.map((slot) => block(slot)));
    for (const [at, { parentSlot, previousBlockhash, blockHeight }] of blocks.entries()) {
      const parent = blocks[at - 1];
      if (parent === undefined) continue;
      expect([parentSlot, previousBlockhash]).toEqual([slots[at - 1], parent.blockhash]);
      expect(blockHeight).toBe(parent.blockHeight + 1);
    }
  });

  test('a failed transaction is in its block with its error and its fee, and moves nothing', async () => {
    const { signature, err } = await world.pay(10n ** 15n);
    expect(err).toEqual({ InstructionError: [2, { Custom: 1 }] });
    const [failed] = (await block(produced())).transactions;
    expect(failed?.transaction.signatures[0]).toBe(signature);
    expect(failed?.meta).toMatchObject({
      err,
      fee: 10_001,
      postTokenBalances: failed?.meta.preTokenBalances,
    });
  });

  test('what no block can take is refused and leaves nothing', async () => {
    const wire = await world.sign(1n);
    left -= 1n;
    world.node.ledger.submit(wire);
    expect(world.node.ledger.submit(wire)).toEqual({ refused: 'AlreadyProcessed' });
    const stale = await world.sign(1n);
    for (let blocks = 0; blocks < 151; blocks++) world.node.ledger.produce();
    expect(world.node.ledger.submit(stale)).toEqual({ refused: 'BlockhashNotFound' });
    const penniless = await world.sign(1n, { feePayer: world.payer });
    expect(world.node.ledger.submit(penniless)).toEqual({ refused: 'AccountNotFound' });
    expect(world.node.ledger.produce().transactions).toEqual([]);
  });

  test.each<[string, string, (tip: number) => readonly unknown[], number]>([
    ['a skipped slot', 'getBlock', (tip) => [tip - 1, FULL], -32_007],
    ['a slot above the tip', 'getBlock', (tip) => [tip + 1, FULL], -32_004],
    [
      'a block that is not final yet',
      'getBlock',
      (tip) => [tip, { ...FULL, commitment: 'finalized' }],
      -32_004,
    ],
    ['a block of versioned transactions', 'getBlock', (tip) => [tip, { commitment: 'confirmed' }], -32_015],
    ['no slot', 'getBlock', () => ['1', FULL], -32_602],
    ['an unknown commitment', 'getSlot', () => [{ commitment: 'soon' }], -32_602],
    ['blocks that are only processed', 'getBlocks', () => [0, 1, { commitment: 'processed' }], -32_602],
    ['no method', 'getMoon', () => [], -32_601],
  ])('%s has the code of Solana: %s', async (_, method, params, code) => {
    await pay(1n);
    const { slot } = world.node.ledger.produce({ skip: 1 });
    await expect(world.rpc.call(method, ...params(slot))).rejects.toThrow(`(${code})`);
  });

  test('it plays devnet or mainnet, by genesis hash and by the address of USDC', async () => {
    expect(await world.rpc.call('getGenesisHash')).toMatch(/^EtWTRABZaYq6iMfeYKouRu166VU2xqa1/);
    const mainnet = await startSolanaWorld({ network: SOLANA_MAINNET });
    expect(caip2Of(mainnet.node.network)).toBe('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp');
    expect(await mainnet.rpc.call('getGenesisHash')).toBe(SOLANA_MAINNET.genesisHash);
    expect(base58.decode(SOLANA_MAINNET.genesisHash)).toHaveLength(32);
    expect((await mainnet.pay(1n)).accounts).toContain('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
    await mainnet.stop();
  });

  test('pruned blocks are told from skipped ones', async () => {
    const ledger = createSolanaLedger({ genesisTime: 0 });
    for (let blocks = 0; blocks < 10; blocks++) ledger.produce();
    ledger.prune(5);
    expect([ledger.firstAvailable, ledger.block(4), ledger.block(5)?.slot]).toEqual([5, undefined, 5]);
    ledger.prune(100);
    expect(ledger.firstAvailable).toBe(ledger.slot('finalized'));
  });

  test('the same seed skips the same slots', () => {
    const slotsOf = (seed: number) => {
      const ledger = createSolanaLedger({ genesisTime: 0, skippedShare: 0.3, seed });
      return Array.from({ length: 20 }, () => ledger.produce().slot);
    };
    expect(slotsOf(1)).toEqual(slotsOf(1));
    expect(slotsOf(1)).not.toEqual(slotsOf(2));
    expect(slotsOf(1).at(-1)).toBeGreaterThan(20);
  });

  test('a transaction is processed, then confirmed, then final', async () => {
    const { signature } = await pay(1n);
    const seen: unknown[] = [];
    for (let blocks = 0; blocks < 4; blocks++) {
      const { value } = await world.rpc.call<{ value: { confirmationStatus: string }[] }>(
        'getSignatureStatuses',
        [signature],
      );
      seen.push(value[0]?.confirmationStatus);
      world.node.ledger.produce();
    }
    expect(seen).toEqual(['processed', 'confirmed', 'confirmed', 'finalized']);
  });

  test('signatures of an account come newest first and in pages', async () => {
    const made: string[] = [];
    for (let payments = 0; payments < 5; payments++) {
      made.unshift((await pay(1n)).signature);
      world.node.ledger.produce();
    }
    const page = async (options: object) =>
      (
        await world.rpc.call<{ signature: string }[]>('getSignaturesForAddress', world.facilitator.address, {
          commitment: 'confirmed',
          ...options,
        })
      ).map(({ signature }) => signature);
    expect(await page({ limit: 3 })).toEqual(made.slice(0, 3));
    expect(await page({ limit: 2, before: made[2] })).toEqual(made.slice(3, 5));
    expect(await page({ until: made[2] })).toEqual(made.slice(0, 2));
  });

  test('the official client reads blocks, accounts and transactions', async () => {
    const { signature } = await pay(7n);
    const slot = produced();
    const client = createSolanaRpc(world.node.url);
    const read = await client.getBlock(BigInt(slot), FULL).send();
    expect(read?.transactions.map(({ transaction }) => transaction.signatures[0])).toEqual([signature]);
    const one = await client
      .getTransaction(signature as Signature, { ...FULL, commitment: 'confirmed' })
      .send();
    expect([one?.slot, one?.meta?.fee]).toEqual([BigInt(slot), 10_001n]);
    const { value: account } = await client.getAccountInfo(world.usdc, { encoding: 'base64' }).send();
    expect(account?.owner).toBe(TOKEN_PROGRAM);
  });

  test('numbers beyond 2^53 are written in full', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params: [world.usdc] });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(world.node.url, { method: 'POST', headers, body });
    expect(await answer.text()).toContain('"rentEpoch":18446744073709551615');
  });

  test('a transaction that would fail is refused before it is sent, unless its sender asks for none of that', async () => {
    const wire = Buffer.from(await world.sign(10n ** 15n)).toString('base64');
    const encoding = 'base64';
    await expect(world.rpc.call('sendTransaction', wire, { encoding })).rejects.toThrow('(-32002)');
    const signature = await world.rpc.call('sendTransaction', wire, { encoding, skipPreflight: true });
    expect((await block(produced())).transactions[0]?.transaction.signatures[0]).toBe(signature);
  });

  test('a simulation names the error and changes nothing', async () => {
    const simulate = async (wire: Uint8Array) =>
      world.rpc.call<{ value: { err: unknown } }>(
        'simulateTransaction',
        Buffer.from(wire).toString('base64'),
        {
          encoding: 'base64',
          sigVerify: false,
          innerInstructions: true,
        },
      );
    expect(await simulate(await world.sign(1n))).toMatchObject({
      value: { err: null, innerInstructions: [] },
    });
    const { err } = (await simulate(await world.sign(10n ** 15n))).value;
    expect(err).toEqual({ InstructionError: [2, { Custom: 1 }] });
    expect(world.node.ledger.produce().transactions).toEqual([]);
  });

  describe('a fork', () => {
    const payeeHas = async () => {
      const account = await tokenAccountOf(world.payee, world.usdc);
      const { value } = await world.rpc.call<{ value: { amount: string } }>(
        'getTokenAccountBalance',
        account,
      );
      return BigInt(value.amount);
    };

    test.each([
      ['in the same slot', true],
      ['in a later slot', false],
    ])('replaces a block %s, and takes back what it did', async (_, sameSlots) => {
      const had = await payeeHas();
      await world.pay(11n);
      const undone = world.node.ledger.produce();
      expect(await payeeHas()).toBe(had + 11n);
      const transactions = world.node.ledger.fork(1, { sameSlots });
      expect(transactions).toHaveLength(1);
      expect(await payeeHas()).toBe(had);
      left -= 5n;
      await world.pay(5n);
      const other = world.node.ledger.produce();
      expect(other.slot === undone.slot).toBe(sameSlots);
      expect(other.blockhash).not.toBe(undone.blockhash);
      expect([other.parentSlot, other.previousBlockhash]).toEqual([
        undone.parentSlot,
        undone.previousBlockhash,
      ]);
      expect(await payeeHas()).toBe(had + 5n);
    });

    test('returns transactions that another block can take', async () => {
      const had = await payeeHas();
      await pay(3n);
      world.node.ledger.produce();
      const [wire = new Uint8Array()] = world.node.ledger.fork(1);
      expect(world.node.ledger.submit(wire)).toMatchObject({ err: null });
      world.node.ledger.produce();
      expect(await payeeHas()).toBe(had + 3n);
    });

    test('replaces no final block, and what was final stays so', () => {
      for (let blocks = 0; blocks < 4; blocks++) world.node.ledger.produce();
      const final = world.node.ledger.slot('finalized');
      expect(() => world.node.ledger.fork(3)).toThrow('is final');
      world.node.ledger.fork(2, { sameSlots: true });
      world.node.ledger.produce();
      expect(world.node.ledger.slot('finalized')).toBe(final);
    });
  });
});
