import type { FacilitatorConfig, PayeeConfig } from '../../../core/config/catalogue.ts';
import type { ChainConfig } from '../../../core/config/chains.ts';
import { loadConfig } from '../../../core/config/load.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { chainIdOf } from '../../../core/domain/chains.ts';
import { type Random, seededRandom } from '../../../demo/random.ts';
import { permit2ProxiesOf } from '../../../ingest/grading/built-in.ts';
import { buildCatalogue, type Catalogue } from '../../../ingest/grading/catalogue.ts';
import type { NaiveCatalogue } from '../oracle/naive-reader.ts';
import { createModelChain, type ModelBlock, type ModelChain } from './model-chain.ts';
import { CONSTANT_PAYEE, PAYEES, RELAYERS, randomBlock } from './traffic.ts';

/** What the simulation indexes: two chains and a catalogue, all changing by seed. */
export interface SimulatedWorld {
  readonly random: Random;
  readonly chains: readonly SimulatedChain[];
  /** Appends one to `blocksMax` blocks to each chain. */
  grow(blocksMax: number): void;
  /** Replaces random newest blocks of one chain. Returns what it did, for messages. */
  reorganise(): string;
  /** Makes one chain's index begin earlier. Returns false when it begins at block 0 already. */
  beginEarlier(): boolean;
  /** Names, renames, dates or forgets a relayer, or catalogues or forgets a payee. Returns what it did. */
  changeCatalogue(): string;
  catalogue(): SimulatedCatalogue;
}

export interface SimulatedChain {
  readonly chain: Chain;
  readonly model: ModelChain;
  /** As it stands now: the first block moves. */
  config(): ChainConfig;
}

/** The same catalogue for the product and for the naive reader. */
export interface SimulatedCatalogue {
  readonly product: Catalogue;
  naive(chain: Chain): NaiveCatalogue;
}

const DAY_SECONDS = 86_400;
const FINALITY_BLOCKS = 8;
/** Days before the month ends, so that partitions are crossed too. */
const GENESIS_TIME = Date.UTC(2026, 0, 28, 5) / 1_000;
const HISTORY_BLOCKS = 45;
const FIRST_START_BLOCK = 30;
const POLL_MS = 1_000;
/** About a day of blocks can be reorganised, so most reorgs of some depth cross midnight. */
const GAPS_SECONDS = [2, 600, 3_600, 2 * 3_600, 7 * 3_600];
const TRANSACTIONS_MAX = 4;
const BUSY_TRANSACTIONS = 25;
const FACILITATORS = ['alpha', 'beta'];

export function createSimulatedWorld(seed: number): SimulatedWorld {
  const random = seededRandom(seed);
  const chains = createChains();
  const catalogue = createChangingCatalogue(random, chains);
  const world: SimulatedWorld = {
    random,
    chains,
    grow(blocksMax) {
      for (const { model, token } of chains)
        for (let count = 1 + random.below(blocksMax); count > 0; count--)
          model.append(nextBlock(random, model.head().time, token));
    },
    reorganise() {
      const { chain, model, token } = random.pick(chains);
      const depth = 1 + random.below(Math.min(FINALITY_BLOCKS, model.head().number));
      const before = model.head().time;
      let firstLost = before;
      model.replace(depth, (lost) => {
        firstLost = lost[0]?.time ?? before;
        return otherFork(random, lost, token);
      });
      const isAcrossMidnight = Math.floor(firstLost / DAY_SECONDS) < Math.floor(before / DAY_SECONDS);
      return `reorg${isAcrossMidnight ? ' across midnight' : ''}: ${depth} blocks on ${chain}`;
    },
    beginEarlier() {
      const late = chains.filter(({ first }) => first.block > 0);
      if (late.length === 0) return false;
      const { first } = random.pick(late);
      first.block = Math.max(0, first.block - 1 - random.below(12));
      return true;
    },
    changeCatalogue: () => catalogue.change(),
    catalogue: () => catalogue.current(),
  };
  for (const { model, token } of chains)
    while (model.head().number < HISTORY_BLOCKS) model.append(nextBlock(random, model.head().time, token));
  return world;
}

interface ChangingChain extends SimulatedChain {
  readonly token: Address;
  readonly first: { block: number };
}

function createChains(): ChangingChain[] {
  return loadConfig({ env: { CHAINS: 'base,polygon' } }).chains.map((config) => {
    const token = config.tokens[0]?.address;
    if (token === undefined) throw new Error(`${config.chain} has no built-in token`);
    const first = { block: FIRST_START_BLOCK };
    const model = createModelChain({
      chainId: chainIdOf(config.chain),
      finalityDepth: FINALITY_BLOCKS,
      genesisTime: GENESIS_TIME,
    });
    return {
      chain: config.chain,
      model,
      token,
      first,
      config: () => ({
        ...config,
        startBlock: first.block,
        pollMs: POLL_MS,
        logWindowMax: 20,
        parallelWindows: 2,
      }),
    };
  });
}

function nextBlock(random: Random, after: number, token: Address): ModelBlock {
  const time = after + random.pick(GAPS_SECONDS);
  const isBusy = random.chance(0.08);
  const transactions = isBusy ? BUSY_TRANSACTIONS : random.below(TRANSACTIONS_MAX);
  return randomBlock(random, { time, token, transactions });
}

/**
 * Another history in the place of the lost one. Most blocks keep their time, so that other wallets take the very places
 * (time, chain, block, log index) of lost events; some forks are empty, so that nothing but the retraction touches their hours.
 */
function otherFork(random: Random, lost: readonly ModelBlock[], token: Address): ModelBlock[] {
  const isEmpty = random.chance(0.25);
  const keepsTimes = random.chance(0.7);
  const blocks: ModelBlock[] = [];
  for (const { time, transactions } of lost) {
    const count = random.chance(0.5) ? transactions.length : random.below(TRANSACTIONS_MAX);
    const earliest = (blocks.at(-1)?.time ?? time - 1) + 1;
    const at = keepsTimes ? Math.max(time, earliest) : earliest + random.pick(GAPS_SECONDS);
    blocks.push(randomBlock(random, { time: at, token, transactions: isEmpty ? 0 : count }));
  }
  for (let more = random.below(3); more > 0; more--)
    blocks.push(nextBlock(random, blocks.at(-1)?.time ?? GENESIS_TIME, token));
  return blocks;
}

interface Named {
  readonly facilitator: string;
  readonly firstSeen: string;
}

/** Relayers and payees by `chain address`. */
function createChangingCatalogue(random: Random, chains: readonly SimulatedChain[]) {
  const relayers = new Map<string, Named>();
  const payees = new Set<string>();
  const keyOf = (chain: Chain, of: Address): string => `${chain} ${of}`;
  let built: SimulatedCatalogue | null = null;

  const randomDay = (): string => {
    const newest = Math.max(...chains.map(({ model }) => model.head().time));
    const time = GENESIS_TIME + random.below(newest - GENESIS_TIME + 1);
    return new Date(time * 1_000).toISOString().slice(0, 10);
  };
  const changeRelayer = (chain: Chain): string => {
    const key = keyOf(chain, random.pick(RELAYERS));
    const now = relayers.get(key);
    if (now !== undefined && random.chance(0.4)) {
      relayers.delete(key);
      return `${key} is unnamed`;
    }
    const facilitator = now !== undefined && random.chance(0.6) ? now.facilitator : random.pick(FACILITATORS);
    const named = { facilitator, firstSeen: randomDay() };
    relayers.set(key, named);
    return `${key} is ${named.facilitator}'s since ${named.firstSeen}`;
  };
  const changePayee = (chain: Chain): string => {
    const key = keyOf(chain, random.pick(PAYEES));
    const forgotten = payees.delete(key);
    if (!forgotten) payees.add(key);
    return `payee ${key} is ${forgotten ? 'forgotten' : 'catalogued'}`;
  };
  const build = (): SimulatedCatalogue => ({
    product: buildCatalogue({
      facilitators: FACILITATORS.map((id) => facilitatorConfig(id, chains, relayers, keyOf)),
      payees: chains.flatMap(({ chain }) =>
        [CONSTANT_PAYEE, ...PAYEES.filter((payee) => payees.has(keyOf(chain, payee)))].map(
          (payee): PayeeConfig => ({ chain, address: payee, name: '', resource: '' }),
        ),
      ),
    }),
    naive: naiveCatalogues(chains, relayers, payees, keyOf),
  });
  return {
    change(): string {
      built = null;
      const { chain } = random.pick(chains);
      return random.chance(0.7) ? changeRelayer(chain) : changePayee(chain);
    },
    current(): SimulatedCatalogue {
      built ??= build();
      return built;
    },
  };
}

type KeyOf = (chain: Chain, of: Address) => string;

function facilitatorConfig(
  id: string,
  chains: readonly SimulatedChain[],
  relayers: ReadonlyMap<string, Named>,
  keyOf: KeyOf,
): FacilitatorConfig {
  return {
    id,
    name: id,
    builderCodes: [],
    relayers: chains.flatMap(({ chain }) =>
      RELAYERS.flatMap((address) => {
        const named = relayers.get(keyOf(chain, address));
        return named?.facilitator === id ? [{ chain, address, firstSeen: named.firstSeen }] : [];
      }),
    ),
  };
}

/** Copied out at once: the maps go on changing. */
function naiveCatalogues(
  chains: readonly SimulatedChain[],
  relayers: ReadonlyMap<string, Named>,
  payees: ReadonlySet<string>,
  keyOf: KeyOf,
): (chain: Chain) => NaiveCatalogue {
  const byChain = new Map(
    chains.map((one): [Chain, NaiveCatalogue] => {
      const named = RELAYERS.flatMap((relayer) => {
        const entry = relayers.get(keyOf(one.chain, relayer));
        return entry ? [[relayer, entry] as const] : [];
      });
      return [
        one.chain,
        {
          tokens: one.config().tokens.map(({ address }) => address),
          proxies: [...permit2ProxiesOf(one.chain)],
          relayers: Object.fromEntries(named.map(([relayer, { facilitator }]) => [relayer, facilitator])),
          relayersSince: Object.fromEntries(
            named.map(([relayer, { firstSeen }]) => [relayer, Date.parse(`${firstSeen}T00:00:00Z`) / 1_000]),
          ),
          payees: [CONSTANT_PAYEE, ...PAYEES.filter((payee) => payees.has(keyOf(one.chain, payee)))],
        },
      ];
    }),
  );
  return (chain) => {
    const catalogue = byChain.get(chain);
    if (catalogue === undefined) throw new Error(`no such chain: ${chain}`);
    return catalogue;
  };
}
