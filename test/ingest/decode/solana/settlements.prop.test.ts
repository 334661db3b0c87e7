import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type NaivePayment, readSolanaNaively } from '../../../../demo/solana/naive-reader.ts';
import { NOT_OF_THE_SCHEME } from '../../../../demo/solana/random-transactions.ts';
import { decodeSlots, POSITIONS_PER_TRANSACTION } from '../../../../ingest/decode/solana/settlements.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { type SolanaChain, solanaSource, startSolanaChain } from '../../../kit/solana-chain.ts';

/** Random transactions of a real runtime, read by instructions and, independently, from balances alone. */

const BLOCKS = 20;

async function expectSame(world: SolanaChain): Promise<void> {
  const { node, chain, filter, kinds } = world;
  const final = node.ledger.slot('finalized');
  const tokens = new Map(
    [...filter.mints].map((mint) => {
      const address = mint as never; // base58 of 32 bytes, made by the ledger
      const facts = {
        symbol: 'TOKEN',
        decimals: 6,
        currency: 'USD',
        paidBy: 'spl-token',
        domain: null,
      } as const;
      return [mint, { ...facts, address }] as const;
    }),
  );
  const batch = await solanaSource(chain, [node.url]).read(0, final, filter);
  const { found, deadLetters } = decodeSlots(batch, { chain, tokens, isCataloguedPayee: () => false });
  expect(deadLetters).toEqual([]);
  const naive = await readSolanaNaively(node.url, { mints: [...filter.mints], from: 0, to: final });
  const isOurs = ({ signature, isSponsored }: NaivePayment): boolean =>
    isSponsored && !NOT_OF_THE_SCHEME.has(kinds.get(signature) ?? 'memoOnly');
  expect(
    found
      .map((row) => {
        const index = Math.floor(row.logIndex / POSITIONS_PER_TRANSACTION);
        return `${row.blockNumber} ${row.blockTime} ${index} ${row.txHash} ${row.relayer} ${row.asset} ${row.payer} ${row.payee} ${row.amount}`;
      })
      .sort(),
  ).toEqual(
    naive.payments
      .filter(isOurs)
      .map(
        (paid) =>
          `${paid.slot} ${paid.blockTime} ${paid.transactionIndex} ${paid.signature} ${paid.feePayer} ${paid.mint} ${paid.payer} ${paid.payee} ${paid.amount}`,
      )
      .sort(),
  );
  expect(new Set(found.map(({ blockNumber, logIndex }) => `${blockNumber}/${logIndex}`)).size).toBe(
    found.length,
  );
}

test('whatever happens on the chain, payments by instructions are those that balances show', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 2 ** 31 }), async (seed) => {
      const world = await startSolanaChain(seed);
      try {
        await world.grow(BLOCKS, ['smartWallet', 'smartWallets']);
        await expectSame(world);
      } finally {
        await world.node.stop();
      }
    }),
    { numRuns: lengthOf('solanaChains') },
  );
}, 600_000);
