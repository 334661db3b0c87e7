import { type Cast, castOf } from './actors.ts';
import { DEMO_CHAIN_ID, type DemoChain, startDemoChain } from './chain/anvil.ts';
import { mintUsdc } from './chain/deploy-usdc.ts';
import { callApprovePermit2 } from './chain/permit2.ts';
import { mine, requireSuccess } from './chain/sender.ts';

export interface WorldOptions {
  /** Decides every address and the plan of payments. */
  readonly seed: number;
  /** Unix seconds of block 0; history is written from there on. */
  readonly genesisTime: number;
  /** Number of the first block. Default 0. */
  readonly genesisNumber?: number;
}

/** A local chain with all actors on it: funded agents, merchants, relayers. It has no payment yet. */
export interface World {
  readonly chain: DemoChain;
  readonly chainId: number;
  /** Number of the chain's first block. */
  readonly firstBlock: number;
  readonly cast: Cast;
  /** Ends the node; resolves once the process is gone. */
  stop(): Promise<void>;
}

/** A million dollars each: no demo ends because an agent is broke. */
const GRANT_ATOMS = 1_000_000_000_000n;
/** 10,000 ETH in wei. */
const GAS_FUNDS = '0x21e19e0c9bab2400000';

/**
 * Starts anvil with Circle's token, Multicall3 and the Permit2 doubles, mints USDC to every agent and lets them approve
 * Permit2. About one second. Catalogued merchants get nothing: a mint to them would itself be a bare transfer to index.
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  const cast = castOf(options.seed);
  const { genesisTime, genesisNumber = 0 } = options;
  const chain = await startDemoChain({ chainId: DEMO_CHAIN_ID, genesisTime, genesisNumber });
  try {
    await endow(chain, cast);
  } catch (cause) {
    await chain.stop();
    throw cause;
  }
  return { chain, chainId: DEMO_CHAIN_ID, firstBlock: genesisNumber, cast, stop: () => chain.stop() };
}

async function endow(chain: DemoChain, cast: Cast): Promise<void> {
  const holders = [...cast.agents, ...cast.x402Agents, cast.visitor];
  const mints = await mintUsdc(
    chain.sender,
    holders.map(({ address }) => ({ to: address, amount: GRANT_ATOMS })),
  );
  const data = callApprovePermit2();
  const approvals = await chain.sender.sendAll(
    holders.map(({ address }) => ({ from: address, to: chain.token.address, data })),
  );
  // They sign real transactions with their own keys, so the sender does not fund them.
  for (const { address } of [cast.x402Relayer, cast.visitor])
    await chain.rpc.call('anvil_setBalance', address, GAS_FUNDS);
  await mine(chain.rpc);
  await requireSuccess(chain.rpc, [...mints, ...approvals]);
}
