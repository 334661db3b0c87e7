import type { Address, KeyPairSigner } from '@solana/kit';
import { createRpc, type Rpc } from '../../demo/chain/json-rpc.ts';
import type { ExecutedTransaction } from '../../demo/solana/execute.ts';
import { fundTokens } from '../../demo/solana/mints.ts';
import { type NodeOptions, type SolanaNode, startSolana } from '../../demo/solana/node.ts';
import { type SponsoredPayment, signTransaction, sponsoredPayment } from '../../demo/solana/transactions.ts';
import { fundLamports, solanaWallet } from '../../demo/solana/wallets.ts';

/** A local Solana with one who pays, one who is paid, and one who pays the fees. */
export interface SolanaWorld {
  readonly node: SolanaNode;
  readonly rpc: Rpc;
  readonly facilitator: KeyPairSigner;
  readonly payer: KeyPairSigner;
  readonly payee: Address;
  readonly usdc: Address;
  /** Signs a payment that the facilitator sponsors. */
  sign(amount: bigint, changes?: Partial<SponsoredPayment>): Promise<Uint8Array>;
  /** The same, executed; it waits for its block. Throws where the chain refuses it. */
  pay(amount: bigint, changes?: Partial<SponsoredPayment>): Promise<ExecutedTransaction>;
  stop(): Promise<void>;
}

const GRANT_LAMPORTS = 10_000_000_000n;
/** What the payer has at first. */
export const GRANT_ATOMS = 5_000_000n;

export async function startSolanaWorld(options: NodeOptions = {}): Promise<SolanaWorld> {
  const node = await startSolana({ genesisTime: 1_790_000_000, ...options });
  const { ledger, network } = node;
  const [facilitator, payer, payee] = [
    await solanaWallet('facilitator'),
    await solanaWallet('payer'),
    (await solanaWallet('payee')).address,
  ];
  const mint = network.usdc;
  fundLamports(ledger, facilitator.address, GRANT_LAMPORTS);
  await fundTokens(ledger, { owner: payer.address, mint, amount: GRANT_ATOMS });
  await fundTokens(ledger, { owner: payee, mint, amount: 0n });
  const sign: SolanaWorld['sign'] = async (amount, changes = {}) => {
    const payment = { feePayer: facilitator, payer, payee, mint, amount, ...changes };
    return signTransaction(ledger, await sponsoredPayment(payment));
  };
  return {
    node,
    rpc: createRpc(node.url),
    facilitator,
    payer,
    payee,
    usdc: mint,
    sign,
    async pay(amount, changes) {
      const outcome = ledger.submit(await sign(amount, changes));
      if ('refused' in outcome) throw new Error(`refused: ${JSON.stringify(outcome.refused)}`);
      return outcome;
    },
    stop: () => node.stop(),
  };
}
