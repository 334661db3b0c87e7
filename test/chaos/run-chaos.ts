import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import type { Wallet } from '../../demo/chain/sender.ts';
import { type Random, seededRandom } from '../../demo/random.ts';
import { createEar, type Ear } from './answers.ts';
import {
  type Account,
  type CallerDeps,
  type Customer,
  callForMoney,
  callOnUnits,
  callRepeatedly,
  openCustomer,
  type Patience,
} from './callers.ts';
import { checkAccounts, checkRows } from './checks.ts';
import { type Fault, type FaultKind, lengthOf, makeFault, possibleKinds, suffer } from './faults.ts';
import type { Role } from './member.ts';
import { type Stage, startStage } from './stage.ts';

/**
 * Real processes, real faults: a chain is written and reorganised, callers buy, and by the seed processes are killed, stopped, cut off
 * and given wrong clocks. After each round all is put right, and everything must be as if nothing had happened.
 */
export interface ChaosOptions {
  /** Each has its rounds, all on one stage: its start is the larger part of a short run. */
  readonly seeds: readonly number[];
  readonly counts: Readonly<Record<Role, number>>;
  /** Rounds of a seed go on while this says so; it is asked before each with the number of those that are over. */
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
/** Good answers that each wants when all is quiet. */
const CALM_ANSWERS = 2;
const CALM: Patience = { ms: 240_000, mustBeAnswered: true };
const BLOCK_PAUSE_MS = 120;
const BLOCKS_AFTER = 3;
const REORG_DEPTH_MAX = 8;
const REORG_CHANCE = 0.1;
/** Two things go wrong at once. */
const PAIR_CHANCE = 0.3;
const BETWEEN_FAULTS_MS = 800;

/** What the whole run has gathered. */
interface Gathered {
  readonly ear: Ear;
  readonly accounts: Account[];
  readonly faults: Record<string, number>;
  rounds: number;
  settlements: number;
}

/** Throws, with each fault and the place of the logs, when there is one; they are kept then. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const [first = 0] = options.seeds;
  const stage = await startStage({ ...options, seed: first });
  let keepLogs = true;
  try {
    for (const line of possibleKinds(stage).missing) options.say(line);
    const ear = createEar(stage.members, seededRandom(first + 1), options.patience.ms);
    const gathered: Gathered = { ear, accounts: [], faults: {}, rounds: 0, settlements: 0 };
    for (const seed of options.seeds) {
      await runSeed(seed, stage, gathered, options).catch((cause: unknown) => {
        throw new Error(`chaos with seed ${seed} found something; logs: ${stage.directory}`, { cause });
      });
    }
    keepLogs = false;
    const { accounts, faults, rounds, settlements } = gathered;
    const ends = Object.fromEntries(stage.members.map(({ name, ends: count }) => [name, count()]));
    return { rounds, faults, answers: ear.counts(), ends, accounts: accounts.length, settlements };
  } finally {
    await stage.stop({ keepLogs });
  }
}

async function runSeed(seed: number, stage: Stage, gathered: Gathered, options: ChaosOptions): Promise<void> {
  const { ear, accounts, faults } = gathered;
  const random = seededRandom(seed);
  const { kinds } = possibleKinds(stage);
  for (let rounds = 0; options.goesOn(rounds); rounds++) {
    const round = { stage, random, ear, kinds, options, withMoney: rounds % 2 === 0 };
    accounts.push(...(await runRound(round, faults)));
    const found = await checkRows(stage, options.log);
    const wrong = [...ear.wrong(), ...(await checkAccounts(stage, accounts))];
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    gathered.rounds += 1;
    gathered.settlements = found.settlements;
    options.say(
      `round ${rounds + 1}: ${found.settlements} settlements as on the chain, ${found.closedSlices} slices closed, ${accounts.length} accounts in order`,
    );
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
  const { stage, withMoney, ear, random } = round;
  const { patience } = round.options;
  const deps = { ear, random, patience };
  const [stormy, calm] = [await openBuyers(stage, withMoney), await openBuyers(stage, withMoney)];
  const over = { faults: false, calls: false };
  const calls = buy(stormy, deps, () => over.faults);
  const chain = writeChain(round, () => over.calls);
  // The first failure is reported at the end; the others must not go on for ever.
  calls.catch(() => undefined);
  chain.catch(() => undefined);
  try {
    try {
      await sufferFaults(round, faults);
    } finally {
      over.faults = true;
    }
    for (const member of stage.members) member.start(0);
    const accounts = await calls;
    await stage.ready();
    const deadline = performance.now() + CALM.ms;
    const isServed = (good: number): boolean => good >= CALM_ANSWERS || performance.now() > deadline;
    const served = await buy(calm, { ...deps, patience: CALM }, isServed);
    requireServed(served);
    accounts.push(...served);
    over.calls = true;
    await chain;
    await stage.world.grow(BLOCKS_AFTER);
    return accounts;
  } finally {
    over.calls = true;
  }
}

interface Buyers {
  readonly once: readonly Customer[];
  readonly again: readonly Customer[];
  readonly payers: readonly Wallet[];
}

async function openBuyers(stage: Stage, withMoney: boolean): Promise<Buyers> {
  const customers = (count: number) =>
    Promise.all(Array.from({ length: count }, () => openCustomer(stage.store)));
  return {
    payers: withMoney ? await stage.payers(PAYING_CALLERS) : [],
    once: await customers(UNIT_CALLERS),
    again: await customers(REPEATED_CALLERS),
  };
}

function buy(buyers: Buyers, deps: CallerDeps, isOver: (good: number) => boolean): Promise<Account[]> {
  return Promise.all([
    ...buyers.once.map((customer) => callOnUnits(deps, customer, isOver)),
    ...buyers.again.map((customer) => callRepeatedly(deps, customer)),
    ...buyers.payers.map((payer) => callForMoney(deps, payer)),
  ]);
}

/** When all is quiet every caller is served: a run without a served caller would have checked nothing. */
function requireServed(accounts: readonly Account[]): void {
  const good = (account: Account): boolean => {
    switch (account.kind) {
      case 'units':
        return account.good > 0;
      case 'repeated':
        return account.charged === 1;
      case 'paid':
        return account.served;
    }
  };
  const unserved = accounts.filter((account) => !good(account));
  if (unserved.length > 0)
    throw new Error(`all is quiet, and not served were ${unserved.map(({ kind }) => kind).join(', ')}`);
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
