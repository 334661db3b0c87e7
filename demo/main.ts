import { type DataDir, type DemoOptions, freshDataDir, parseOptions } from './options.ts';

/** `npm run demo`: the whole project on one machine, offline. */

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_INTERRUPTED = 130;

async function main(): Promise<number> {
  const options = parseOptions(process.argv);
  const stopped = stopRequest();
  // EPIPE of a closed terminal or `| head`: the output is lost, but what runs must still be stopped in order.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const cleanups: (() => Promise<void>)[] = [];
  let data: DataDir | undefined;
  let code: number;
  try {
    data = freshDataDir();
    code = await Promise.race([
      playOn(options, data.path, cleanups),
      stopped.then(() => interrupted(options)),
    ]);
  } catch (error) {
    process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
    code = EXIT_FAILED;
  }
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  if (data !== undefined) leave(data, options.keep || code === EXIT_FAILED);
  return code;
}

/** Loads the rest of the program only now: a mistake in the options is answered at once. */
async function playOn(
  options: DemoOptions,
  directory: string,
  cleanups: (() => Promise<void>)[],
): Promise<number> {
  const { play } = await import('./play.ts');
  return (await play(options, directory, cleanups)) ? EXIT_OK : EXIT_FAILED;
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP. A second one ends at once: the children see our pipes close and end too. */
function stopRequest(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const ask = (): void => {
      if (asked) process.exit(EXIT_INTERRUPTED);
      asked = true;
      process.stdout.write('\nstopping …\n');
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
  });
}

/** Ctrl-C is how the continuous demo is meant to end; a checked run that is stopped has not been checked. */
function interrupted(options: DemoOptions): number {
  return options.once === null && options.minutes === null ? EXIT_OK : EXIT_INTERRUPTED;
}

function leave(data: DataDir, keep: boolean): void {
  if (keep) process.stdout.write(`data and log are kept in ${data.path}\n`);
  else data.remove();
}

process.exit(await main());
