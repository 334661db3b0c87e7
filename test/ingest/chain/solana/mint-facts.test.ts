import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import type { TokenFacts } from '../../../../core/domain/chains.ts';
import { tokenFaults } from '../../../../ingest/chain/token-facts.ts';
import { checkRpc } from '../../../../src/operate/doctor/chains.ts';
import { type SolanaChain, startSolanaChain } from '../../../kit/solana-chain.ts';

/** What a start and the doctor say of a configured Solana. */

let world: SolanaChain;
beforeAll(async () => {
  world = await startSolanaChain(3);
  world.node.ledger.produce();
});
afterAll(() => world?.node.stop());

const configOf = (slug: string) => {
  const [config] = loadConfig({ env: { CHAINS: slug } }).chains;
  if (config === undefined) throw new Error(`${slug} is built in`);
  return { ...config, rpcUrls: [world.node.url] };
};

const faultsOf = (change: Partial<TokenFacts>) => {
  const { facts, rpcUrls, tokens } = configOf('solana-devnet');
  const usdc = tokens.filter(({ symbol }) => symbol === 'USDC').map((token) => ({ ...token, ...change }));
  return tokenFaults({ chain: facts, rpcUrls, tokens: usdc }, new AbortController().signal);
};

test('a mint that is configured rightly shows no fault', async () => {
  expect(await faultsOf({})).toEqual([]);
});

test.each([
  [{ decimals: 9 }, /has 6 decimals, not 9/],
  [{ paidBy: 'token-2022' }, /belongs to spl-token, not to token-2022/],
  [{ address: 'So11111111111111111111111111111111111111112' as TokenFacts['address'] }, /is no mint/],
] as const)('a mint that is configured as %j shows it', async (change, said) => {
  const [fault] = await faultsOf(change);
  expect(fault?.detail).toMatch(said);
  expect(fault?.stopsPayment).toBe(true);
});

test('the doctor compares the genesis hash, and asks how old the newest final block is', async () => {
  const now = () => (world.node.ledger.block(world.node.ledger.slot('finalized'))?.blockTime ?? 0) * 1_000;
  const [right] = await checkRpc(configOf('solana-devnet'), now);
  expect(right).toMatchObject({ verdict: 'ok' });
  const [wrong] = await checkRpc(configOf('solana'), now);
  expect(wrong).toMatchObject({ verdict: 'failure' });
  expect(wrong?.says).toContain('serves chain solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1');
  const [stalled] = await checkRpc(configOf('solana-devnet'), () => now() + 300_000);
  expect(stalled).toMatchObject({ verdict: 'warning' });
});
