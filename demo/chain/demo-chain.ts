import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
import { type ChainToken, deployUsdc } from './deploy-usdc.ts';
import { installMulticall3 } from './multicall3.ts';
import { installDoubles } from './permit2.ts';
import { installRegistries } from './registries.ts';
import { createSender, type Sender } from './sender.ts';

/** A running local chain with Circle's token, Multicall3, the Permit2 doubles and the ERC-8004 registries on it. */
export interface DemoChain extends Anvil {
  readonly sender: Sender;
  readonly token: ChainToken;
}

/** Starts it; about a second. Block 1 initialises the token; nothing else is mined. Stop it, or end: it dies with us. */
export async function startDemoChain(options: AnvilOptions = {}): Promise<DemoChain> {
  const anvil = await startAnvil(options);
  const sender = createSender(anvil.rpc);
  await installMulticall3(anvil.rpc);
  await installDoubles(anvil.rpc);
  await installRegistries(anvil.rpc);
  return { ...anvil, sender, token: await deployUsdc(anvil.rpc, sender) };
}
