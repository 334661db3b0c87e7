import type { Hash } from '../../core/domain/account.ts';
import type { Cast } from '../actors.ts';
import { requireSuccess, type Transaction } from '../chain/sender.ts';
import { seededRandom } from '../random.ts';
import type { ServiceConfig } from '../service.ts';
import type { Traffic } from '../traffic.ts';
import type { World } from '../world.ts';
import { type BazaarUrls, publishBazaars, publishWellKnown } from './bazaar.ts';
import type { CardHost } from './card-host.ts';
import { createLiveRegistry, type LiveRegistry } from './live-registry.ts';
import { registryCast } from './registry-cast.ts';
import { createRegistryStory, overratedAgent, type RegistryStory } from './registry-story.ts';

/** ERC-8004 and the bazaars of the demo: the registrations, their files, and the changes that follow. */
export interface Identities {
  readonly story: RegistryStory;
  readonly live: LiveRegistry;
  readonly bazaars: BazaarUrls;
  /** Agents that are registered before the service starts. */
  readonly registered: number;
  /** The agent with invented ratings. */
  readonly overrated: bigint;
  readonly host: CardHost;
}

/** A seed of its own: payments stay the same whatever agents do. */
const SEED_STEP = 8_004;

export function createIdentities(
  cast: Cast,
  options: {
    readonly seed: number;
    readonly host: CardHost;
    /** On another chain, by the names of merchants (CAIP-10). */
    readonly accounts?: ReadonlyMap<string, string>;
  },
): Identities {
  const { host } = options;
  const random = seededRandom(options.seed + SEED_STEP);
  const registry = registryCast(cast, host, options.accounts);
  publishWellKnown(host, cast);
  return {
    host,
    registered: registry.sellers.length + registry.others.length,
    overrated: overratedAgent(registry).agentId,
    bazaars: publishBazaars(host, cast, Math.floor(Date.now() / 1_000), options.accounts),
    story: createRegistryStory({ registry, host, random }),
    live: createLiveRegistry({ registry, host, random, owners: cast.agents }),
  };
}

/** Blocks that `playBefore` and `playAfter` mine, together. */
export const STORY_BLOCKS = 4;

/** Before the first payment: agents register, and some change their registration. */
export async function playBefore(story: RegistryStory, stage: StoryStage): Promise<void> {
  await storyBlock(story.registrations(), stage);
  await storyBlock(await story.changes(stage.traffic.head.time), stage);
}

/** After payments of history: clients rate, revoke and validate. */
export async function playAfter(story: RegistryStory, stage: StoryStage): Promise<void> {
  await storyBlock(story.ratings(stage.traffic.ledger.rows()), stage);
  await storyBlock(story.aftermath(), stage);
}

export interface StoryStage {
  readonly world: World;
  readonly traffic: Traffic;
  readonly secondsApart: number;
}

async function storyBlock(transactions: readonly Transaction[], stage: StoryStage): Promise<void> {
  const { traffic, world, secondsApart } = stage;
  const hashes: Hash[] = [];
  // One by one: the node takes what comes together in any order, and ids are given in the order of the block.
  for (const transaction of transactions) hashes.push(...(await traffic.send([transaction])));
  await traffic.block(0, traffic.head.time + secondsApart);
  await requireSuccess(world.chain.rpc, hashes);
}

/** The configuration with which an operator would have all this read. The host is on loopback. */
export function identitiesConfig({ origin }: CardHost): NonNullable<ServiceConfig['identities']> {
  return { allowPrivateHosts: true, ipfsGateways: [origin] };
}
