import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { nearest } from '../core/command-text.ts';

/** One program behind a script of package.json: `npm run bench -- sql --quick` runs the part `sql` with `--quick`. */
export interface Part {
  readonly summary: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly nodeFlags?: readonly string[];
  /** Before the flags of the command line. */
  readonly args?: readonly string[];
}

export type Parts = Readonly<Record<string, Part>>;

/** 128 and the number of the signal, as shells count. */
const EXIT_SIGNALLED = 128;
const EXIT_USAGE = 2;

/**
 * Runs the part that the command line names and ends with its exit code. Without a part `whole` runs, where there is one; else, and for
 * `--help`, the parts are listed. A part that does not exist is refused with the one that was meant.
 */
export async function runPart(script: string, parts: Parts, whole?: () => Promise<number>): Promise<void> {
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined && whole !== undefined) {
    process.exitCode = await whole();
    return;
  }
  if (name === undefined || name === '--help' || name === '-h') {
    process.stdout.write(usage(script, parts, whole !== undefined));
    return;
  }
  const part = parts[name];
  if (part !== undefined) {
    process.exitCode = await spawnPart(part, args);
    return;
  }
  const meant = nearest(name, Object.keys(parts));
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  process.stderr.write(
    `${script} has no part '${name}'.${hint}\n\n${usage(script, parts, whole !== undefined)}`,
  );
  process.exitCode = EXIT_USAGE;
}

/** Resolves with the exit code. */
export function spawnPart(part: Part, args: readonly string[] = []): Promise<number> {
  const child = spawn(
    process.execPath,
    [...(part.nodeFlags ?? []), '--import', 'tsx', part.file, ...(part.args ?? []), ...args],
    { stdio: 'inherit' },
  );
  // A terminal sends SIGINT to both; the part cleans up, and this waits for it.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve(code ?? EXIT_SIGNALLED + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}

function usage(script: string, parts: Parts, hasWhole: boolean): string {
  const widest = Math.max(...Object.keys(parts).map(({ length }) => length));
  const lines = Object.entries(parts).map(([name, { summary }]) => `  ${name.padEnd(widest)}  ${summary}\n`);
  const whole = hasWhole ? `       npm run ${script}    (all of them, one after the other)\n` : '';
  return `Usage: npm run ${script} -- <part> [options]\n${whole}\nParts:\n${lines.join('')}\nEach part has --help.\n`;
}
