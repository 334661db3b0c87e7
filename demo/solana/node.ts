import { createSolanaLedger, type LedgerOptions, type SolanaLedger } from './ledger.ts';
import { installMint } from './mints.ts';
import { SOLANA_DEVNET, type SolanaNetwork, TOKEN_2022_PROGRAM } from './programs.ts';
import { type SolanaRpc, serveSolana } from './rpc.ts';

/** A local Solana with its JSON-RPC and the dollars of the network that it plays. */
export interface SolanaNode extends SolanaRpc {
  readonly ledger: SolanaLedger;
  readonly network: SolanaNetwork;
}

export interface NodeOptions extends Omit<LedgerOptions, 'genesisHash'> {
  /** Default: devnet. */
  readonly network?: SolanaNetwork;
  /** Default: a free port. */
  readonly port?: number;
  /** Milliseconds between blocks. Without it, `ledger.produce` makes them. */
  readonly blockEveryMs?: number;
}

/** Starts it within this process. */
export async function startSolana(options: NodeOptions = {}): Promise<SolanaNode> {
  const { network = SOLANA_DEVNET, port, blockEveryMs, ...rest } = options;
  const ledger = createSolanaLedger({ ...rest, genesisHash: network.genesisHash });
  installMint(ledger, { mint: network.usdc });
  for (const mint of network.otherDollars) installMint(ledger, { mint, program: TOKEN_2022_PROGRAM });
  const rpc = await serveSolana(ledger, port === undefined ? {} : { port });
  const stopProducing = blockEveryMs === undefined ? undefined : produceEvery(ledger, blockEveryMs);
  return {
    ...rpc,
    ledger,
    network,
    async stop() {
      stopProducing?.();
      await rpc.stop();
    },
  };
}

/** Makes a block every so often, of the present second, until the returned function is called. */
export function produceEvery(ledger: SolanaLedger, everyMs: number): () => void {
  const timer = setInterval(() => ledger.produce({ time: Math.floor(Date.now() / 1_000) }), everyMs);
  return () => clearInterval(timer);
}
