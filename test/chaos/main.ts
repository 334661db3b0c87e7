import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { createLog } from '../../core/log.ts';
import { compileTree } from '../../scripts/compile-tree.mjs';
import { runChaos } from './run-chaos.ts';

/** By hand: `npm run chaos -- --minutes 30 --seed 7`. */

const program = new Command('chaos')
  .description(
    'Runs the service as many processes and breaks it by chance: kill -9, stopped processes, cut networks, wrong clocks, a forgetful Redis. After each round rows, rollups, units and payments must be as if nothing had happened.',
  )
  .option('--seed <number>', 'which faults happen; any, when it is not given', wholeNumber)
  .option('--minutes <number>', 'how long to go on', wholeNumber, 10)
  .option('--ingest <number>', 'processes that index', wholeNumber, 3)
  .option('--quick', 'two rounds, about a minute', false)
  .addHelpText(
    'after',
    '\nCables between hosts are network namespaces and need root; wrong clocks need faketime (apt-get install faketime).\nWhat cannot be had is left out, and said. Exit code 0: nothing was found.',
  )
  .showHelpAfterError('(--help shows the options)')
  .parse();

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number is wanted');
  return Number(text);
}

const SEEDS = 2 ** 31;
const QUICK_ROUNDS = 2;
const MS_PER_MINUTE = 60_000;

const options = program.opts<{ seed?: number; minutes: number; ingest: number; quick: boolean }>();
const seed = options.seed ?? Math.floor(Math.random() * SEEDS);
const began = performance.now();
const say = (line: string): void =>
  void process.stdout.write(`[${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s] ${line}\n`);

say(`seed ${seed}; again: npm run chaos -- --seed ${seed}${options.quick ? ' --quick' : ''}`);
try {
  const report = await runChaos({
    seeds: [seed],
    counts: { api: 2, ingest: options.ingest, rollup: 2 },
    goesOn: (rounds) =>
      options.quick ? rounds < QUICK_ROUNDS : performance.now() - began < options.minutes * MS_PER_MINUTE,
    faultsPerRound: options.quick ? 3 : 8,
    // Above the two minutes after which what a killed API left is free again.
    patience: options.quick ? { ms: 15_000, mustBeAnswered: false } : { ms: 300_000, mustBeAnswered: true },
    longMs: options.quick ? 4_000 : 20_000,
    program(directory) {
      mkdirSync(directory);
      compileTree(directory);
      return join(directory, 'src', 'main.js');
    },
    log: createLog('fatal', 'chaos'),
    say,
  });
  say(`${report.rounds} rounds: ${JSON.stringify(report.faults)}`);
  say(`callers heard: ${JSON.stringify(report.answers)}`);
  say(`ended by themselves: ${JSON.stringify(report.ends)}`);
  say(`nothing was lost and nothing was doubled; seed ${seed}`);
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  for (let cause = error; cause instanceof Error && cause.cause !== undefined; cause = cause.cause)
    process.stderr.write(
      `because: ${cause.cause instanceof Error ? cause.cause.stack : String(cause.cause)}\n`,
    );
  process.stderr.write(`again: npm run chaos -- --seed ${seed}${options.quick ? ' --quick' : ''}\n`);
  process.exit(1);
}
