import type { KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRpc, type Rpc } from '../../../demo/chain/json-rpc.ts';
import { fundTokens } from '../../../demo/solana/mints.ts';
import { type SolanaNode, startSolana } from '../../../demo/solana/node.ts';
import { signTransaction, sponsoredPayment } from '../../../demo/solana/transactions.ts';
import { fundLamports, solanaWallet, tokenAccountOf } from '../../../demo/solana/wallets.ts';

const FULL = {
  encoding: 'json',
  transactionDetails: 'full',
  rewards: false,
  maxSupportedTransactionVersion: 0,
  commitment: 'confirmed',
};

describe('the local Solana', () => {
  let node: SolanaNode;
  let rpc: Rpc;
  let facilitator: KeyPairSigner;
  let payer: KeyPairSigner;
  let payee: KeyPairSigner;

  beforeAll(async () => {
    node = await startSolana({ genesisTime: 1_790_000_000 });
    rpc = createRpc(node.url);
    [facilitator, payer, payee] = (await Promise.all(
      (['facilitator', 'payer', 'payee'] as const).map(solanaWallet),
    )) as [KeyPairSigner, KeyPairSigner, KeyPairSigner]; // three names
    const mint = node.network.usdc;
    fundLamports(node.ledger, facilitator.address, 1_000_000_000n);
    await fundTokens(node.ledger, { owner: payer.address, mint, amount: 5_000_000n });
    await fundTokens(node.ledger, { owner: payee.address, mint, amount: 0n });
  });
  afterAll(() => node.stop());

  const pay = async (amount: bigint) => {
    const payment = { feePayer: facilitator, payer, payee: payee.address, mint: node.network.usdc, amount };
    const outcome = node.ledger.submit(
      await signTransaction(node.ledger, await sponsoredPayment({ ...payment, memo: 'order 1' })),
    );
    if ('refused' in outcome) throw new Error(`refused: ${JSON.stringify(outcome.refused)}`);
    return outcome;
  };

  test('a sponsored payment is in its block with both owners and their balances', async () => {
    const { signature } = await pay(1_000n);
    const { slot } = node.ledger.produce();
    const block = await rpc.call<{
      transactions: { meta: unknown; transaction: { signatures: string[] } }[];
    }>('getBlock', slot, FULL);
    expect(block.transactions).toHaveLength(1);
    expect(block.transactions[0]?.transaction.signatures[0]).toBe(signature);
    const balance = (owner: KeyPairSigner, amount: string) =>
      expect.objectContaining({
        owner: owner.address,
        mint: node.network.usdc,
        programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
        uiTokenAmount: expect.objectContaining({ amount, decimals: 6 }),
      });
    expect(block.transactions[0]?.meta).toMatchObject({
      err: null,
      fee: 10_001,
      preTokenBalances: expect.arrayContaining([balance(payer, '5000000'), balance(payee, '0')]),
      postTokenBalances: expect.arrayContaining([balance(payer, '4999000'), balance(payee, '1000')]),
    });
    const account = await tokenAccountOf(payee.address, node.network.usdc);
    expect(await rpc.call('getTokenAccountBalance', account)).toMatchObject({
      value: { uiAmountString: '0.001' },
    });
  });
});
