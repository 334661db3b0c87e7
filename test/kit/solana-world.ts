import type { KeyPairSigner, Address as SolanaAddress } from '@solana/kit';
import { createLog } from '../../core/log.ts';
import { seededRandom } from '../../demo/random.ts';
import { fundTokens, installMint, type MintOptions } from '../../demo/solana/mints.ts';
import { type SolanaNode, startSolana } from '../../demo/solana/node.ts';
import { caip2Of } from '../../demo/solana/programs.ts';
import {
  signTransaction,
  sponsoredPayment,
  type UnsignedTransaction,
} from '../../demo/solana/transactions.ts';
import { fundLamports, solanaWallet } from '../../demo/solana/wallets.ts';
import { createSolanaSource, type SolanaSource } from '../../ingest/chain/solana/source.ts';

/** A local Solana with wallets that have tokens. Everything is funded before the first block that is read: a real chain has no other way in. */

export interface SolanaWorld {
  readonly node: SolanaNode;
  readonly chain: `solana:${string}`;
  readonly facilitator: KeyPairSigner;
  readonly wallets: readonly KeyPairSigner[];
  readonly mints: ReadonlySet<string>;
  /** Executes a transaction in the slot that is being made; returns its id. */
  send(transaction: UnsignedTransaction): Promise<string>;
  /** A payment of the form of `exact`, of one wallet to another. */
  pay(from: number, to: number, amount: bigint, mint?: SolanaAddress): Promise<string>;
}

const WALLETS = 4;
const GENESIS_TIME = 1_790_000_000;
const LAMPORTS = 1_000_000_000_000n;
export const TOKENS_AT_FIRST = 5_000_000n;

/** A mint with fees of one per cent. */
export const FEE_MINT: MintOptions = {
  mint: 'FeeMint111111111111111111111111111111111111' as SolanaAddress, // base58 of 32 bytes
  transferFee: { basisPoints: 100, max: 1_000_000n },
};

export async function startSolanaWorld(): Promise<SolanaWorld> {
  const node = await startSolana({ genesisTime: GENESIS_TIME });
  const { ledger, network } = node;
  const facilitator = await solanaWallet('facilitator');
  const wallets = await Promise.all(Array.from({ length: WALLETS }, (_, at) => solanaWallet(`wallet ${at}`)));
  installMint(ledger, FEE_MINT);
  fundLamports(ledger, facilitator.address, LAMPORTS);
  for (const { address: owner } of wallets) {
    fundLamports(ledger, owner, LAMPORTS);
    await fundTokens(ledger, { owner, mint: network.usdc, amount: TOKENS_AT_FIRST });
    await fundTokens(ledger, { owner, mint: FEE_MINT.mint, amount: TOKENS_AT_FIRST });
  }
  const send = async (transaction: UnsignedTransaction): Promise<string> => {
    const outcome = ledger.submit(await signTransaction(ledger, transaction));
    if ('refused' in outcome) throw new Error(`refused: ${JSON.stringify(outcome.refused)}`);
    return outcome.signature;
  };
  let notes = 0;
  return {
    ...{ node, facilitator, wallets, send },
    chain: caip2Of(network),
    mints: new Set([network.usdc, FEE_MINT.mint]),
    async pay(from, to, amount, mint = network.usdc) {
      const [payer, payee] = [wallets[from], wallets[to]];
      if (payer === undefined || payee === undefined) throw new Error('there are four wallets');
      const tokenProgram = ledger.accounts.read(mint)?.owner as SolanaAddress; // a mint has one
      const memo = `note ${++notes}`; // two payments alike would have one signature
      return send(
        await sponsoredPayment({
          feePayer: facilitator,
          payer,
          payee: payee.address,
          mint,
          amount,
          tokenProgram,
          memo,
        }),
      );
    },
  };
}

/** Blocks of some payments each, with slots skipped between them; the last ones are not final. */
export async function growPayments(world: SolanaWorld, blocks: number, seed = 1): Promise<void> {
  const random = seededRandom(seed);
  const { ledger } = world.node;
  for (let block = 0; block < blocks; block++) {
    for (let payment = random.below(4); payment > 0; payment--) {
      const from = random.below(WALLETS);
      const mint = random.chance(0.3) ? FEE_MINT.mint : world.node.network.usdc;
      await world.pay(
        from,
        (from + 1 + random.below(WALLETS - 1)) % WALLETS,
        BigInt(1 + random.below(2_000)),
        mint,
      );
    }
    ledger.produce({ skip: random.chance(0.4) ? 1 + random.below(3) : 0 });
  }
}

const LIMITS = { requestTimeoutMs: 2_000, backOffFirstMs: 1, backOffMaxMs: 5 };

export function solanaSource(
  chain: `solana:${string}`,
  rpcUrls: readonly string[],
  signal = new AbortController().signal,
): SolanaSource {
  return createSolanaSource(
    { chain, rpcUrls, requestsPerSecond: 100_000, completeness: 'every-block' },
    { log: createLog('silent', 'test'), signal, limits: LIMITS },
  );
}
