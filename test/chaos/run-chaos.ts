import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, seededRandom } from '../../demo/random.ts';
import type { Log } from '../../src/log.ts';
import { createEar, type Ear } from './answers.ts';
import { type Account, callForMoney, callOnUnits, callRepeatedly, type Patience } from './callers.ts';
import { checkAccounts, checkRows } from './checks.ts';
import { type Fault, type FaultKind, lengthOf, makeFault, possibleKinds, suffer } from './faults.ts';
import type { Role } from './member.ts';
import { type Stage, startStage } from './stage.ts';

/**
 * Real processes, real faults: a chain is written and reorganised, callers buy, and by the seed processes are killed, stopped, cut off
 * and given wrong clocks. After each round all is put right, and everything must be as if nothing had happened.
 */
export interface ChaosOptions {
  readonly seed: number;
  readonly counts: Readonly<Record<Role, number>>;
  /** Rounds go on while this says so; it is asked before each with the number of those that are over. */
  goesOn(rounds: number): boolean;
  readonly faultsPerRound: number;
  /** How long the long faults last: above every lease, so that others take over and the old one comes back. */
  readonly longMs: number;
  readonly patience: Patience;
  /** Makes the program that the processes run, in a directory that is not there yet; answers its `main.js`. */
  program(directory: string): string;
  readonly log: Log;
  say(line: string): void;
}

export interface ChaosReport {
  readonly rounds: number;
  /** Kinds of faults that happened, with how often. */
  readonly faults: Readonly<Record<string, number>>;
  /** Answers that callers heard, with how often. */
  readonly answers: Readonly<Record<string, number>>;
  /** How often processes ended by themselves, by name. */
  readonly ends: Readonly<Record<string, number>>;
  readonly accounts: number;
  readonly settlements: number;
}

const UNIT_CALLERS = 3;
const REPEATED_CALLERS = 3;
const PAYING_CALLERS = 3;
const BLOCK_PAUSE_MS = 120;
const BLOCKS_AFTER = 3;
const REORG_DEPTH_MAX = 8;
const REORG_CHANCE = 0.1;
/** Two things go wrong at once. */
const PAIR_CHANCE = 0.3;
const BETWEEN_FAULTS_MS = 800;

/** Throws, with what is wrong and where the logs are, when anything is; they are kept then. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, say, log } = options;
  const stage = await startStage(options);
  let keepLogs = true;
  try {
    const { kinds, missing } = possibleKinds(stage);
    for (const line of missing) say(line);
    const random = seededRandom(seed);
    const faults: Record<string, number> = {};
    const ear = createEar(stage.members, seededRandom(seed + 1), options.patience.ms);
    const accounts: Account[] = [];
    let rounds = 0;
    let settlements = 0;
    for (; options.goesOn(rounds); rounds++) {
      const round = { stage, random, ear, kinds, options, withMoney: rounds % 2 === 0 };
      accounts.push(...(await runRound(round, faults)));
      const found = await checkRows(stage, log);
      settlements = found.settlements;
      const wrong = [...ear.wrong(), ...(await checkAccounts(stage, accounts))];
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
      say(
        `round ${rounds + 1}: ${found.settlements} settlements as on the chain, ${found.closedSlices} slices closed, ${accounts.length} accounts in order`,
      );
    }
    keepLogs = false;
    const ends = Object.fromEntries(stage.members.map(({ name, ends: count }) => [name, count()]));
    return { rounds, faults, answers: ear.counts(), ends, accounts: accounts.length, settlements };
  } catch (error) {
    throw new Error(`chaos with --seed ${seed} found something; logs: ${stage.directory}`, { cause: error });
  } finally {
    await stage.stop({ keepLogs });
  }
}

interface Round {
  readonly stage: Stage;
  readonly random: Random;
  readonly ear: Ear;
  readonly kinds: readonly FaultKind[];
  readonly options: Pick<ChaosOptions, 'say' | 'faultsPerRound' | 'longMs' | 'patience'>;
  /** Rounds with payments have no reorgs: one that undoes a settlement gives the buyer the money back. */
  readonly withMoney: boolean;
}

async function runRound(round: Round, faults: Record<string, number>): Promise<Account[]> {
  const { stage, withMoney } = round;
  const payers = withMoney ? await stage.payers(PAYING_CALLERS) : [];
  const over = { faults: false, calls: false };
  const { patience } = round.options;
  const deps = { ear: round.ear, store: stage.store, random: round.random, patience };
  const calls = Promise.all([
    ...Array.from({ length: UNIT_CALLERS }, () => callOnUnits(deps, () => over.faults)),
    ...Array.from({ length: REPEATED_CALLERS }, () => callRepeatedly(deps)),
    ...payers.map((payer) => callForMoney(deps, payer)),
  ]).finally(() => {
    over.calls = true;
  });
  const chain = writeChain(round, () => over.calls);
  // Whoever fails first is told of at the end; the others must not go on for ever meanwhile.
  calls.catch(() => undefined);
  chain.catch(() => undefined);
  try {
    await sufferFaults(round, faults);
  } finally {
    over.faults = true;
  }
  for (const member of stage.members) member.start(0);
  const accounts = await calls;
  await chain;
  await stage.ready();
  await stage.world.grow(BLOCKS_AFTER);
  return accounts;
}

/** A block after the other; in rounds without payments some take the place of others. */
async function writeChain({ stage, random, withMoney }: Round, isOver: () => boolean): Promise<void> {
  const { world } = stage;
  for (let grown = 0; !isOver(); ) {
    await world.grow(1);
    grown += 1;
    if (!withMoney && random.chance(REORG_CHANCE)) {
      await world.reorganise(Math.min(grown, 1 + random.below(REORG_DEPTH_MAX)));
    }
    await sleep(BLOCK_PAUSE_MS);
  }
}

async function sufferFaults(round: Round, counts: Record<string, number>): Promise<void> {
  const { stage, random, kinds, options } = round;
  const make = (): { readonly fault: Fault; readonly ms: number } => {
    const kind = random.pick(kinds);
    counts[kind] = (counts[kind] ?? 0) + 1;
    return { fault: makeFault(kind, stage, random), ms: lengthOf(kind, random, options.longMs) };
  };
  for (let done = 0; done < options.faultsPerRound; ) {
    await sleep(random.below(BETWEEN_FAULTS_MS));
    const [first, second] = [make(), random.chance(PAIR_CHANCE) ? make() : null];
    const together =
      second === null || second.fault.target === first.fault.target ? [first] : [first, second];
    options.say(together.map(({ fault, ms }) => `${fault.name} (${ms} ms)`).join(', and '));
    await Promise.all(together.map(({ fault, ms }) => suffer(fault, ms)));
    done += together.length;
  }
}
