import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';

export interface DemoOptions {
  /** How many settlements to index before ending with a verdict; null runs until stopped. */
  readonly once: number | null;
  /** How long to run before ending with a verdict; null runs until stopped. */
  readonly minutes: number | null;
  /** Whether 120 days of sample data lie below the live blocks. */
  readonly history: boolean;
  readonly seed: number;
  /** Of the API. 0 picks a free one. */
  readonly port: number;
  /** Whether demo-data/ stays after the end. */
  readonly keep: boolean;
}

/** The channels of the cast alone are some rows before the first block at the tip. */
const ONCE_MIN = 100;
const ONCE_MAX = 1_000_000;
const MINUTES_MAX = 10_000;
const SEED_MAX = 2 ** 32 - 1;
const PORT_MAX = 65_535;
export const DEFAULT_PORT = 8402;

/** Reads the command line. Prints and ends the process on --help and on a mistake, naming the nearest right option. */
export function parseOptions(argv: readonly string[]): DemoOptions {
  const command = new Command('npm run demo --')
    .description(
      'Runs a whole x402 world on this machine, offline: a real chain node with Circle’s token, a local x402 facilitator, agents that pay each other, and the index and its API over it.',
    )
    .option(
      '--once <settlements>',
      'index that many settlements (100 or more), check every row, print a table and end',
      whole(ONCE_MIN, ONCE_MAX),
    )
    .addOption(
      new Option(
        '--minutes <minutes>',
        'run that long, check every live row and every purchase, print a table and end',
      )
        .argParser(whole(1, MINUTES_MAX))
        .conflicts('once'),
    )
    .option('--no-history', 'leave out the 120 days of sample data on three chains (--once always does)')
    .option('--seed <number>', 'another number makes other actors and payments', whole(0, SEED_MAX), 1)
    .addOption(
      new Option('--port <port>', 'port of the API; 0 picks a free one')
        .env('PORT')
        .default(DEFAULT_PORT)
        .argParser(whole(0, PORT_MAX)),
    )
    .option('--keep', 'leave demo-data/ behind (it is always removed at the next start)', false)
    .allowExcessArguments(false)
    .showSuggestionAfterError()
    .showHelpAfterError('(npm run demo -- --help lists the options)')
    .addHelpText(
      'after',
      '\nExamples:\n  npm run demo                          runs until Ctrl-C\n  npm run demo -- --no-history          without the 120 days of sample data\n  npm run demo -- --minutes 60          ends after an hour with a verdict\n  npm run demo -- --once 1000           a checked run with a summary\n  npm run demo -- --once 1000 --seed 7  the same with other payments',
    )
    .parse(argv);
  const { once = null, minutes = null, ...given } = command.opts<GivenOptions>();
  return { ...given, once, minutes, history: given.history && once === null };
}

interface GivenOptions extends Omit<DemoOptions, 'once' | 'minutes'> {
  readonly once?: number;
  readonly minutes?: number;
}

function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };
}

/** A directory that the demo may fill and remove. */
export interface DataDir {
  readonly path: string;
  remove(): void;
}

const NAME = 'demo-data';
const MARKER = '.made-by-settlement-index-demo';

/**
 * Makes a fresh `demo-data/` in the working directory. Removes the data of a former demo: its chain is gone, so its
 * rows are meaningless. Throws when no demo made the directory, or when it belongs to a demo that is still running.
 */
export function freshDataDir(): DataDir {
  const path = resolve(NAME);
  const marker = join(path, MARKER);
  if (existsSync(path)) {
    if (!existsSync(marker))
      throw new Error(
        `${path} was not made by the demo, so it is not removed; move it away or start elsewhere`,
      );
    const owner = Number(readFileSync(marker, 'utf8'));
    if (isRunning(owner))
      throw new Error(
        `a demo is already running here (process ${owner}); stop it or start in another directory`,
      );
    rmSync(path, { recursive: true, force: true });
  }
  mkdirSync(path);
  writeFileSync(marker, `${process.pid}\n`);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'; // it runs, under another user
  }
}
