import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';

export interface FuzzCommand {
  readonly seed: number;
  readonly seconds: number;
  readonly cases: number;
  /** Whether the counts of every verdict are printed. */
  readonly verbose: boolean;
}

const SEED_MAX = 2 ** 32 - 1;
const SECONDS_DEFAULT = 120;
const SECONDS_MAX = 7 * 24 * 3_600;
const CASES_MAX = 1_000_000_000;

/** Reads the command line. Prints and ends the process on --help and on a mistake, naming the nearest right option. */
export function parseOptions(argv: readonly string[]): FuzzCommand {
  const command = new Command('npm run fuzz -- sql --')
    .description(
      'Writes ClickHouse queries, good and hostile, lets the sandbox judge them, runs what it accepts as the guest, and asks the engine’s own log what they really used. Ends at the first that should have been refused, cut down.',
    )
    .option(
      '--seed <number>',
      'the same number gives the same queries; absent: a new one each time',
      whole(0, SEED_MAX),
    )
    .option('--seconds <seconds>', 'how long', whole(1, SECONDS_MAX), SECONDS_DEFAULT)
    .option('--cases <number>', 'how many at most', whole(1, CASES_MAX), CASES_MAX)
    .option('--verbose', 'how often each verdict and each error of the engine came', false)
    .allowExcessArguments(false)
    .showSuggestionAfterError()
    .showHelpAfterError('(npm run fuzz -- sql --help lists the options)')
    .addHelpText(
      'after',
      '\nExamples:\n  npm run fuzz -- sql                                 two minutes\n  npm run fuzz -- sql --seconds 28800              over night\n  npm run fuzz -- sql --seed 7 --cases 12001       the first 12,001 queries of seed 7 again',
    )
    .parse(argv);
  const given = command.opts<Omit<FuzzCommand, 'seed'> & { readonly seed?: number }>();
  return { ...given, seed: given.seed ?? randomInt(SEED_MAX) };
}

function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };
}
