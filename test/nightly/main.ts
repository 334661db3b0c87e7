import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { NIGHTLY_PARTS, type NightlyPart, partsNamed } from './parts.ts';

/** `npm run test:nightly`: the runs that are too long for `npm test`, one part after the other. Exit code 0: nothing was found. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MS_PER_MINUTE = 60_000;
const REPORT_EVERY_MS = 60_000;
const ENDS_WITHIN_MS = 30_000;
/** 128 + the number of the signal, as shells count. */
const EXIT_OF_SIGNAL = 128;
const MINUTES_MAX = 24 * 60;

interface Outcome {
  readonly name: string;
  readonly passed: boolean;
  readonly rounds: number;
  readonly tookMs: number;
}

const began = performance.now();
let current: ChildProcess | null = null;
let interrupted: NodeJS.Signals | null = null;

const program = new Command('npm run test:nightly --')
  .description(
    'Runs tests that are too long for `npm test`. Without a part: all of them, one after the other.',
  )
  .argument('[parts...]', 'some of them')
  .option('--minutes <number>', 'how long each part goes on that does not end by itself', wholeMinutes)
  .addHelpText('after', `\nParts:\n${NIGHTLY_PARTS.map(described).join('\n')}`)
  .addHelpText(
    'after',
    '\nExamples:\n  npm run test:nightly\n  npm run test:nightly -- suite\n  npm run test:nightly -- chaos fuzz-sql --minutes 480\n\nExit code 0: nothing was found. 1: at least one part failed. The suite runs on the Node that runs this command.',
  )
  .allowExcessArguments(false)
  .showSuggestionAfterError()
  .showHelpAfterError('(npm run test:nightly -- --help lists parts and options)')
  .parse();

function wholeMinutes(text: string): number {
  const minutes = Number(text);
  if (!/^\d+$/.test(text) || minutes < 1 || minutes > MINUTES_MAX)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MINUTES_MAX}.`);
  return minutes;
}

function described({ name, about, minutes }: NightlyPart): string {
  return `  ${name.padEnd(12)} ${about}${minutes === null ? '' : ` (${minutes} min)`}`;
}

function chosenParts(): readonly NightlyPart[] {
  try {
    return partsNamed(program.args);
  } catch (error) {
    return program.error(error instanceof Error ? error.message : String(error));
  }
}

const say = (line: string): void =>
  void process.stdout.write(`[nightly ${minutesOf(performance.now() - began)}] ${line}\n`);

function minutesOf(ms: number): string {
  return `${(ms / MS_PER_MINUTE).toFixed(1)} min`;
}

async function runParts(parts: readonly NightlyPart[], wanted: number | undefined): Promise<Outcome[]> {
  const lengthOf = (part: NightlyPart): number =>
    part.minutes === null ? part.expectedMinutes : (wanted ?? part.minutes);
  const outcomes: Outcome[] = [];
  for (const [index, part] of parts.entries()) {
    if (interrupted !== null) break;
    const later = parts.slice(index + 1).reduce((sum, one) => sum + lengthOf(one), 0);
    const startedMs = performance.now();
    const report = (): void => {
      const gone = performance.now() - startedMs;
      const left = Math.max(0, lengthOf(part) * MS_PER_MINUTE - gone) + later * MS_PER_MINUTE;
      say(
        `part ${index + 1} of ${parts.length}, ${part.name}: ${minutesOf(gone)} gone, about ${minutesOf(left)} left in all`,
      );
    };
    report();
    const reporting = setInterval(report, REPORT_EVERY_MS);
    outcomes.push(await runPart(part, lengthOf(part)));
    clearInterval(reporting);
  }
  return outcomes;
}

/** Starts its process again until its minutes are over. Ends at the first that fails. */
async function runPart(part: NightlyPart, minutes: number): Promise<Outcome> {
  const startedMs = performance.now();
  const minutesLeft = (): number => Math.floor(minutes - (performance.now() - startedMs) / MS_PER_MINUTE);
  let rounds = 0;
  let passed = true;
  do {
    passed = await runOnce(part, Math.max(1, minutesLeft()));
    rounds += 1;
  } while (passed && part.minutes !== null && minutesLeft() > 0);
  return { name: part.name, passed, rounds, tookMs: performance.now() - startedMs };
}

async function runOnce(part: NightlyPart, minutes: number): Promise<boolean> {
  const { args, env } = part.command(minutes);
  const child = spawn(process.execPath, [...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  current = child;
  const [code] = (await once(child, 'close')) as [number | null];
  current = null;
  return code === 0;
}

function summary({ name, passed, rounds, tookMs }: Outcome): string {
  const often = rounds === 1 ? '' : `, ${rounds} rounds`;
  return `${passed ? 'passed' : 'FAILED'}  ${name.padEnd(12)} ${minutesOf(tookMs)}${often}`;
}

process.once('SIGTERM', () => {
  interrupted = 'SIGTERM';
  current?.kill('SIGTERM');
});
// A terminal sends Ctrl-C to the part as well, which ends what it started; a second SIGINT would make it leave that behind.
process.once('SIGINT', () => {
  interrupted = 'SIGINT';
  setTimeout(() => current?.kill('SIGTERM'), ENDS_WITHIN_MS).unref();
});

const parts = chosenParts();
say(`Node ${process.version}: ${parts.map(({ name }) => name).join(', ')}`);
const { status } = spawnSync(process.execPath, ['scripts/install-peers.mjs'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);
const outcomes = await runParts(parts, program.opts<{ minutes?: number }>().minutes);
for (const outcome of outcomes) say(summary(outcome));
const failed = outcomes.filter(({ passed }) => !passed);
say(
  interrupted !== null
    ? `ended by ${interrupted} after ${outcomes.length} of ${parts.length} parts`
    : `${outcomes.length - failed.length} of ${outcomes.length} parts passed on Node ${process.version}`,
);
if (interrupted !== null) process.exitCode = EXIT_OF_SIGNAL + constants.signals[interrupted];
else process.exitCode = failed.length === 0 ? 0 : 1;
