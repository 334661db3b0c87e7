import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { askEach, type Figure, lineOf } from './measure.ts';

/**
 * The resources of a bench run: one temporary directory and everything that must be stopped. Released in reverse order, also after a
 * failure, so that no engine, node or directory outlives the bench.
 */
export interface Workspace {
  readonly dir: string;
  /** Registers how to stop something that was just started. */
  defer(end: () => Promise<unknown> | unknown): void;
  /** Ends everything. Idempotent; one failing end does not keep the others from running. */
  release(): Promise<void>;
}

function createWorkspace(name: string): Workspace {
  const dir = mkdtempSync(join(tmpdir(), `settlement-index-bench-${name}-`));
  const ends: (() => Promise<unknown> | unknown)[] = [];
  let releasing: Promise<void> | undefined;

  const releaseAll = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
      try {
        await end();
      } catch (error) {
        console.error(`clean-up: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    // The engine may still be unlinking its own files for a moment after it was killed.
    rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };

  return {
    dir,
    defer: (end) => void ends.push(end),
    release: () => (releasing ??= releaseAll()),
  };
}

/** Refuses a bench that would fill the disk in its middle. */
export function requireRoom(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < bytes)
    throw new Error(`${directory} has too little room: ${Math.ceil(bytes / 1e9)} GB are needed`);
}

export interface BenchContext {
  readonly quick: boolean;
  /** What is meant for a run of this length. */
  sized<T>(sizes: Sizes<T>): T;
  /** Of `--rows`; undefined where it was not given. */
  readonly rows?: number;
  /** Of `--data`: a directory whose index is made once and used again; undefined where it was not given. */
  readonly data?: string;
  readonly workspace: Workspace;
  /** Prints a line of progress, with the time since the start. */
  say(line: string): void;
}

/** Of a whole run, and of one with `--quick`. */
interface Sizes<T> {
  readonly full: T;
  readonly quick: T;
}

export interface BenchPart {
  /** What `--only` takes. */
  readonly name: string;
  readonly summary: string;
  run(context: BenchContext): Promise<readonly Figure[]>;
}

interface Bench {
  readonly name: string;
  readonly description: string;
  readonly parts: readonly BenchPart[];
}

/** 128 + SIGINT, as shells count. */
const EXIT_INTERRUPTED = 130;

/**
 * Runs the parts of a bench one after the other and prints their figures at the end. The process exits 0 only when every
 * figure is ok; a part that fails is a figure, and the others still run.
 */
export async function runBench(bench: Bench): Promise<void> {
  const { only, ...options } = parseArguments(bench);
  const workspace = createWorkspace(bench.name);
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interrupted = true;
      void workspace.release().finally(() => process.exit(EXIT_INTERRUPTED));
    });
  }
  const began = performance.now();
  const context: BenchContext = {
    ...options,
    workspace,
    sized: ({ full, quick }) => (options.quick ? quick : full),
    say: (line) => console.log(`[${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s] ${line}`),
  };
  const parts = bench.parts.filter(({ name }) => only === undefined || only.includes(name));
  let figures: Figure[] = [];
  try {
    figures = await askEach(parts, context.say, async (part) => {
      // A part that failed because of the interrupt must not be followed by one that starts new processes.
      if (interrupted) return [];
      context.say(`${part.name}: ${part.summary}`);
      return part.run(context);
    });
  } finally {
    await workspace.release();
  }
  if (interrupted) return; // the signal handler ends the process
  console.log('');
  for (const figure of figures) console.log(lineOf(figure));
  // An explicit exit: a socket that a library keeps open must not turn a finished bench into a hanging one.
  process.exit(figures.length > 0 && figures.every(({ ok }) => ok) ? 0 : 1);
}

/** Gives every part of a run the same thing, made when the first one asks: making it takes most of the time. */
export function once<T>(make: (context: BenchContext) => Promise<T>): (context: BenchContext) => Promise<T> {
  let made: Promise<T> | undefined;
  return (context) => {
    made ??= make(context);
    return made;
  };
}

function parseArguments({ name, description, parts }: Bench): {
  readonly quick: boolean;
  readonly rows?: number;
  readonly data?: string;
  readonly only?: readonly string[];
} {
  const widest = Math.max(...parts.map((part) => part.name.length));
  const lines = parts.map((part) => `  ${part.name.padEnd(widest)}  ${part.summary}`);
  const program = new Command(`npm run bench -- ${name}`)
    .description(description)
    .option('--quick', 'smaller data, about a minute', false)
    .addOption(new Option('--only <part...>', 'run these parts only').choices(parts.map((part) => part.name)))
    .addOption(
      new Option('--rows <number>', 'settlements of `entities` and `sql`, such as 10M').argParser(readRows),
    )
    .option('--data <directory>', 'where `entities` keeps its index and finds it again')
    .addHelpText('after', `\nParts:\n${lines.join('\n')}`)
    .showHelpAfterError('(--help shows the options)');
  program.parse();
  return program.opts();
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_000, M: 1_000_000 };

/** `10M`, `200k` or a plain number. */
function readRows(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)([kM]?)$/.exec(text) ?? [];
  const rows = Number(digits) * (UNITS[unit] ?? 0);
  if (rows > 0) return rows;
  throw new InvalidArgumentError('Give a number of rows, such as 200k or 10M.');
}
