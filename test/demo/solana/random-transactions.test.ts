import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../demo/random.ts';
import type { ExecutedTransaction } from '../../../demo/solana/execute.ts';
import { type NaiveReading, readSolanaNaively } from '../../../demo/solana/naive-reader.ts';
import { type SolanaNode, startSolana } from '../../../demo/solana/node.ts';
import { TOKEN_PROGRAM } from '../../../demo/solana/programs.ts';
import {
  createRandomTransactions,
  SOLANA_KINDS,
  type SolanaKind,
  withheld,
} from '../../../demo/solana/random-transactions.ts';
import { installRandomWorld, type RandomWorld } from '../../../demo/solana/random-world.ts';

interface Executed extends ExecutedTransaction {
  readonly kind: SolanaKind;
}

/** What balances show of each kind, of USDC and of the token that withholds fees. */
const PAYMENTS: Readonly<Record<SolanaKind, { readonly count: number; readonly isSponsored?: false }>> = {
  sponsored: { count: 1 },
  memo: { count: 1 },
  plain: { count: 1, isSponsored: false },
  unchecked: { count: 1 },
  several: { count: 2 },
  severalPayers: { count: 2 },
  batch: { count: 1 },
  newAccount: { count: 1 },
  delegate: { count: 1 },
  multisig: { count: 1 },
  withheldFee: { count: 1 },
  statedFee: { count: 1 },
  lookupTable: { count: 1 },
  inner: { count: 1 },
  smartWallet: { count: 1 },
  smartWallets: { count: 2 },
  failed: { count: 0 },
  otherMint: { count: 0 },
  burn: { count: 0 },
  memoOnly: { count: 0 },
  lamports: { count: 0 },
};
const ROUNDS = 3;

describe('random transactions of a local Solana', () => {
  let node: SolanaNode;
  let world: RandomWorld;
  let reading: NaiveReading;
  const made: Executed[] = [];

  beforeAll(async () => {
    node = await startSolana({ genesisTime: 1_790_000_000, skippedShare: 0.2, seed: 5 });
    world = await installRandomWorld(node.ledger, { usdc: node.network.usdc, seed: 5 });
    const random = seededRandom(5);
    const transactions = createRandomTransactions(node.ledger, world, random);
    for (let round = 0; round < ROUNDS; round++) {
      for (const kind of Object.keys(SOLANA_KINDS) as SolanaKind[]) {
        const outcome = node.ledger.submit((await transactions.next(kind)).wire);
        if ('refused' in outcome) throw new Error(`${kind} is refused: ${JSON.stringify(outcome.refused)}`);
        made.push({ ...outcome, kind });
        if (random.chance(0.3)) node.ledger.produce();
      }
    }
    node.ledger.produce();
    const mints = [world.mints.usdc, world.mints.withFee];
    reading = await readSolanaNaively(node.url, { mints, from: 0, commitment: 'confirmed' });
  });
  afterAll(() => node.stop());

  const paymentsOf = (signature: string) =>
    reading.payments.filter((payment) => payment.signature === signature);
  const recordOf = ({ json }: Executed) =>
    JSON.parse(json) as {
      readonly transaction: { readonly message: { readonly addressTableLookups: readonly unknown[] } };
      readonly meta: {
        readonly err: unknown;
        readonly loadedAddresses: { readonly readonly: readonly string[] };
        readonly innerInstructions: readonly {
          readonly instructions: readonly { readonly stackHeight: number; readonly data: string }[];
        }[];
        readonly preTokenBalances: readonly { readonly owner: string }[];
        readonly postTokenBalances: readonly { readonly owner: string }[];
      };
    }; // written by the ledger

  test.each(Object.entries(PAYMENTS) as [SolanaKind, (typeof PAYMENTS)[SolanaKind]][])(
    '%s shows as the payments that it makes',
    (kind, { count, isSponsored = true }) => {
      const own = made.filter((one) => one.kind === kind);
      expect(own).toHaveLength(ROUNDS);
      for (const { signature, err } of own) {
        expect(err === null).toBe(kind !== 'failed');
        const payments = paymentsOf(signature);
        if (kind === 'several') expect([2, 3]).toContain(payments.length);
        else expect(payments).toHaveLength(count);
        for (const payment of payments) expect(payment.isSponsored).toBe(isSponsored);
      }
    },
  );

  test('balances tell who paid whom in every transaction', () => {
    expect(reading.unclear).toEqual([]);
  });

  test('what owners lose and get of a token adds up, but for what is burnt or withheld', () => {
    for (const { signature, kind } of made) {
      const own = reading.changes.filter((change) => change.signature === signature);
      const sum = own.reduce((total, { change }) => total + change, 0n);
      if (kind === 'burn') expect(sum).toBeLessThan(0n);
      else if (kind === 'withheldFee' || kind === 'statedFee') {
        const lost = -(own.find(({ change }) => change < 0n)?.change ?? 0n);
        expect(sum).toBe(-withheld(lost));
        expect(sum).toBeLessThan(0n);
      } else expect(sum).toBe(0n);
    }
  });

  test('the payer is the owner, also where a delegate or a multisig moves the tokens', () => {
    for (const { signature, kind } of made) {
      const [payment] = paymentsOf(signature);
      if (kind === 'multisig') expect(payment?.payer).toBe(world.multisig.address);
      if (kind === 'delegate') expect(world.agents.map(({ address }) => address)).toContain(payment?.payer);
      if (kind === 'smartWallet')
        expect(world.smartWallets.map(({ vault }) => vault)).toContain(payment?.payer);
      if (kind === 'inner') expect(world.agents.map(({ address }) => address)).toContain(payment?.payee);
    }
  });

  test('an account that is made in the transaction is only in the balances after it', () => {
    for (const one of made.filter(({ kind }) => kind === 'newAccount')) {
      const { preTokenBalances, postTokenBalances } = recordOf(one).meta;
      const payee = paymentsOf(one.signature)[0]?.payee;
      expect(preTokenBalances.map(({ owner }) => owner)).not.toContain(payee);
      expect(postTokenBalances.map(({ owner }) => owner)).toContain(payee);
    }
  });

  test('a transfer within another instruction is among the inner instructions', () => {
    for (const one of made.filter(({ kind }) => kind === 'inner' || kind === 'smartWallet')) {
      const inner = recordOf(one).meta.innerInstructions.flatMap(({ instructions }) => instructions);
      expect(inner.map(({ stackHeight }) => stackHeight)).toContain(2);
      expect(one.accounts).toContain(TOKEN_PROGRAM);
    }
  });

  test('addresses from a lookup table are shown as loaded', () => {
    for (const one of made.filter(({ kind }) => kind === 'lookupTable')) {
      const { meta, transaction } = recordOf(one);
      expect(transaction.message.addressTableLookups).toHaveLength(1);
      expect(meta.loadedAddresses.readonly).toContain(world.mints.usdc);
    }
  });

  test('no two transactions of a block are the same', async () => {
    const transactions = createRandomTransactions(node.ledger, world, seededRandom(7));
    for (let count = 0; count < 300; count++) {
      const outcome = node.ledger.submit(
        (await transactions.next(count % 2 === 0 ? 'memoOnly' : 'plain')).wire,
      );
      expect(outcome).not.toHaveProperty('refused');
    }
    node.ledger.produce();
  });

  test('the same seed makes the same transactions', async () => {
    const sample = async () => {
      const own = await startSolana({ genesisTime: 1_790_000_000 });
      const cast = await installRandomWorld(own.ledger, { usdc: own.network.usdc, seed: 9 });
      const transactions = createRandomTransactions(own.ledger, cast, seededRandom(9));
      const kinds: [SolanaKind, string][] = [];
      for (let count = 0; count < 5; count++) {
        const { kind, wire } = await transactions.next();
        kinds.push([kind, Buffer.from(wire).toString('hex')]);
      }
      await own.stop();
      return kinds;
    };
    expect(await sample()).toEqual(await sample());
  });
});
