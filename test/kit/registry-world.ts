import type { Hex } from 'viem';
import type { Address } from '../../core/domain/account.ts';
import { type DemoChain, reorg, startDemoChain } from '../../demo/chain/anvil.ts';
import { installHastyOwner, TESTNET_REGISTRIES } from '../../demo/chain/registries.ts';
import {
  type AgentView,
  createRegistryViews,
  type FeedbackView,
  type RegistryViews,
} from '../../demo/chain/registry-views.ts';
import { mine } from '../../demo/chain/sender.ts';
import { type FeedbackSummary, summaryOf } from './oracle/agents.ts';
import { type ReceiptLog, readReceipts } from './oracle/receipts.ts';
import {
  HASTY_OWNER,
  type RegistryMoment,
  type RegistryOperation,
  transactionOf,
} from './registry-operations.ts';

/**
 * A chain with ERC-8004 registries, random use of them, and what the contracts' own views say afterwards: the truth that a
 * derivation from events must equal.
 *
 * Two traps that the real contracts set and that `registerAndPass` springs: a contract may pass its agent on within the mint,
 * so that `Registered` and the wallet of the registration are logged after the Transfer that made them untrue. Hence an
 * agent's owner is its newest Transfer's, never `Registered`'s when there is a Transfer; and the MetadataSet(agentWallet)
 * right after `Registered` (its log index + 1) only repeats what held before the mint's Transfer.
 */
export interface RegistryWorld {
  readonly chain: DemoChain;
  readonly views: RegistryViews;
  /** Mines a block with these; the contracts refuse some. Owners are the owners in the block before. */
  block(operations: readonly RegistryOperation[]): Promise<void>;
  /** Undoes the newest `depth` blocks (fewer when the registries are younger) and mines `depth + 1`, the first with these. */
  reorg(depth: number, operations: readonly RegistryOperation[]): Promise<void>;
  /** Number of the newest block. */
  head(): Promise<number>;
  /** Every surviving log of the three registries, in the order of the chain. */
  logs(): Promise<ReceiptLog[]>;
  /** Every agent by the views, in the order of ids. */
  truth(): Promise<AgentTruth[]>;
  stop(): Promise<void>;
}

export interface AgentTruth extends AgentView, FeedbackSummary {
  /** By client, then index; revoked ones too. */
  readonly feedback: readonly FeedbackView[];
  /** Mean of the values that stand, in units of 10^-18, whatever they measure, truncated toward zero; null without feedback. */
  readonly meanE18: bigint | null;
}

/** Block 1 initialises the token. */
const FIXED_BLOCKS = 1;
const DECIMALS_MAX = 18;
const REGISTRIES = new Set<string>(Object.values(TESTNET_REGISTRIES));

export async function startRegistryWorld(): Promise<RegistryWorld> {
  const chain = await startDemoChain();
  await installHastyOwner(chain.rpc, HASTY_OWNER);
  const views = createRegistryViews(chain.url);
  const head = async (): Promise<number> => Number(await chain.rpc.call<Hex>('eth_blockNumber'));
  const send = async (operations: readonly RegistryOperation[]): Promise<void> => {
    const moment = await readMoment(chain, views);
    const made = await Promise.all(operations.map((operation) => transactionOf(operation, moment)));
    await chain.sender.sendAll(made.filter((transaction) => transaction !== null));
  };
  return {
    chain,
    views,
    head,
    async block(operations) {
      await send(operations);
      await mine(chain.rpc);
    },
    async reorg(depth, operations) {
      const possible = Math.min(depth, (await head()) - FIXED_BLOCKS);
      if (possible === 0) return;
      const fill = (position: number): Promise<void> => send(position === 0 ? operations : []);
      await reorg(chain, { depth: possible, blocks: possible + 1, fill });
    },
    async logs() {
      const receipts = await readReceipts(chain.rpc, 0, await head());
      return receipts.flatMap((receipt) => receipt.logs.filter(({ address }) => REGISTRIES.has(address)));
    },
    truth: () => readTruth(views),
    stop: () => chain.stop(),
  };
}

async function readMoment(chain: DemoChain, views: RegistryViews): Promise<RegistryMoment> {
  const block = await chain.rpc.call<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
  const owners: Address[] = (await allAgents(views)).map(({ owner }) => owner);
  return { chainId: chain.chainId, time: Number(block.timestamp), owners };
}

/** Ids run from 0 without gaps, and the registry has no count: the first that reverts ends the list. */
async function allAgents(views: RegistryViews): Promise<AgentView[]> {
  const agents: AgentView[] = [];
  for (;;) {
    const next = await views.agent(BigInt(agents.length)).catch(() => null);
    if (next === null) return agents;
    agents.push(next);
  }
}

async function readTruth(views: RegistryViews): Promise<AgentTruth[]> {
  const agents = await allAgents(views);
  return Promise.all(
    agents.map(async (agent) => {
      const feedback = await views.allFeedback(agent.agentId);
      const standing = feedback.filter(({ revoked }) => !revoked);
      return {
        ...agent,
        feedback,
        ...summaryOf(feedback),
        meanE18: meanE18(standing),
      };
    }),
  );
}

/** BigInt division truncates toward zero. */
function meanE18(standing: readonly FeedbackView[]): bigint | null {
  if (standing.length === 0) return null;
  const sum = standing.reduce(
    (total, { value, valueDecimals }) => total + value * 10n ** BigInt(DECIMALS_MAX - valueDecimals),
    0n,
  );
  return sum / BigInt(standing.length);
}
