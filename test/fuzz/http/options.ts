import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';

export interface FuzzCommand {
  readonly seed: number;
  readonly runs: number;
}

/** The test reads these: it is the same whether a person or the suite runs it. */
export const SEED_VARIABLE = 'FUZZ_HTTP_SEED';
export const RUNS_VARIABLE = 'FUZZ_HTTP_RUNS';

const SEED_MAX = 2 ** 31 - 1;
const RUNS_DEFAULT = 10_000;
const RUNS_MAX = 100_000_000;

/** Reads the command line. Prints and ends the process on --help and on a mistake. */
export function parseOptions(argv: readonly string[]): FuzzCommand {
  const command = new Command('npm run fuzz -- http --')
    .description(
      'Makes requests from the OpenAPI document, good ones and broken ones, sends them to a real service over a real engine, and holds every answer against the document: its status, headers, media type and body, that it is no 5xx, and that nothing was charged that it does not say. Ends at the first that differs, cut down.',
    )
    .option(
      '--seed <number>',
      'the same number makes the same requests; absent: a new one each time',
      whole(0, SEED_MAX),
    )
    .option('--runs <number>', 'how many requests', whole(1, RUNS_MAX), RUNS_DEFAULT)
    .allowExcessArguments(false)
    .showSuggestionAfterError()
    .showHelpAfterError('(npm run fuzz -- http --help lists the options)')
    .addHelpText(
      'after',
      '\nExamples:\n  npm run fuzz -- http                               some minutes\n  npm run fuzz -- http --runs 1000000             over night\n  npm run fuzz -- http --seed 7 --runs 12000      the requests of seed 7 again',
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
