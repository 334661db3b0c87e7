import { Command, InvalidArgumentError, Option } from 'commander';
import { type Figure, printFigures } from './figure.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

export interface BenchContext {
  /** Smaller data, under a minute. */
  readonly quick: boolean;
  /** Of `--rows`; undefined where it was not given. */
  readonly rows: number | undefined;
  /** Of `--data`: a directory whose index is made once and used again; undefined where it was not given. */
  readonly data: string | undefined;
  readonly workspace: Workspace;
  /** Prints a line of progress, with the time since the start. */
  say(line: string): void;
}

export interface BenchPart {
  /** What `--only` takes. */
  readonly name: string;
  readonly summary: string;
  run(context: BenchContext): Promise<readonly Figure[]>;
}

/** 128 + SIGINT, as shells count. */
const EXIT_INTERRUPTED = 130;

/**
 * Runs the parts of a bench one after the other and prints their figures at the end. The process exits 0 only when every
 * figure is ok; a part that fails counts as short, and the others still run.
 */
export async function runBench(options: {
  readonly name: string;
  readonly description: string;
  readonly parts: readonly BenchPart[];
}): Promise<void> {
  const { quick, rows, data, only } = parseArguments(options);
  const workspace = createWorkspace(options.name);
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interrupted = true;
      void workspace.release().finally(() => process.exit(EXIT_INTERRUPTED));
    });
  }
  const began = performance.now();
  const context: BenchContext = {
    quick,
    rows,
    data,
    workspace,
    say: (line) => console.log(`[${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s] ${line}`),
  };
  const figures: Figure[] = [];
  try {
    for (const part of options.parts.filter(({ name }) => only === undefined || only.includes(name))) {
      // A part that failed because of the interrupt must not be followed by one that starts new processes.
      if (interrupted) break;
      context.say(`${part.name}: ${part.summary}`);
      figures.push(...(await runPart(part, context)));
    }
  } finally {
    await workspace.release();
  }
  if (interrupted) return; // the signal handler ends the process
  console.log('');
  printFigures(figures);
  // An explicit exit: a socket that a library keeps open must not turn a finished bench into a hanging one.
  process.exit(figures.length > 0 && figures.every(({ ok }) => ok) ? 0 : 1);
}

async function runPart(part: BenchPart, context: BenchContext): Promise<readonly Figure[]> {
  try {
    return await part.run(context);
  } catch (error) {
    context.say(
      `${part.name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return [{ name: `${part.name}-completed`, value: 0, unit: 'runs', goal: '>=1', ok: false }];
  }
}

function parseArguments(options: Parameters<typeof runBench>[0]): {
  readonly quick: boolean;
  readonly rows: number | undefined;
  readonly data: string | undefined;
  readonly only: readonly string[] | undefined;
} {
  const names = options.parts.map(({ name }) => name);
  const program = new Command(`npm run bench -- ${options.name}`)
    .description(options.description)
    .option('--quick', 'smaller data, under a minute', false)
    .addOption(
      new Option('--rows <number>', 'settlements of a bench that takes it, such as 10M').argParser(readRows),
    )
    .option('--data <directory>', 'where a bench that takes it keeps its index and finds it again')
    .addOption(new Option('--only <part...>', 'run these parts only').choices(names))
    .addHelpText(
      'after',
      `\nParts:\n${options.parts.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`).join('\n')}`,
    )
    .showHelpAfterError('(--help shows the options)');
  program.parse();
  return program.opts<ReturnType<typeof parseArguments>>();
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['k', 1_000],
  ['M', 1_000_000],
]);

/** `10M`, `200k` or a plain number. */
function readRows(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)([kM]?)$/.exec(text) ?? [];
  const rows = Number(digits) * (UNITS.get(unit) ?? 0);
  if (rows > 0) return rows;
  throw new InvalidArgumentError('Give a number of rows, such as 200k or 10M.');
}
