import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { removeTemporaryFiles } from './run-directory.ts';
import { findLeaks, type WatchDirectories } from './secrets-watch-files.ts';

declare module 'vitest' {
  interface ProvidedContext {
    secretsWatch: WatchDirectories;
  }
}

const STDOUT = 1;
const STDERR = 2;
const KIBIBYTE = 1024;
const REPORTED_LEAKS_MAX = 20;
/** Not vitest's 1: a secret that leaked once is not tried again. */
const LEAKED_EXIT_CODE = 2;

/**
 * Collects what the run itself prints, which is what its workers and their children print, and searches everything that was
 * collected when the process ends. Only then: vitest merely logs what a teardown throws, and other teardowns still write.
 */
export function setup(project: TestProject): void {
  const root = mkdtempSync(join(tmpdir(), 'secrets-watch-'));
  const directories = { secrets: join(root, 'secrets'), written: join(root, 'written') };
  for (const directory of Object.values(directories)) mkdirSync(directory, { mode: 0o700 });
  project.provide('secretsWatch', directories);
  const printed = join(directories.written, 'printed-by-the-run');
  copyWrites(process.stdout, printed);
  copyWrites(process.stderr, printed);
  process.once('exit', () => {
    // The leak is kept for the person who looks for it.
    if (!judge(root, directories)) removeTemporaryFiles();
  });
}

function copyWrites(stream: NodeJS.WriteStream, file: string): void {
  const write = stream.write.bind(stream);
  stream.write = ((...args: Parameters<typeof write>) => {
    appendFileSync(file, args[0]);
    return write(...args);
  }) as typeof stream.write; // the overloads of write differ in what follows the text only
}

/** Whether a secret leaked. */
function judge(root: string, directories: WatchDirectories): boolean {
  const { leaks, secrets, bytes } = findLeaks(directories);
  rmSync(directories.secrets, { recursive: true, force: true });
  if (leaks.length > 0) {
    process.exitCode = LEAKED_EXIT_CODE;
    const lines = leaks
      .slice(0, REPORTED_LEAKS_MAX)
      .map(({ file, secret, around }) => `  ${secret} in ${file}: ${around}`);
    say(
      STDERR,
      `\nSECRETS LEAKED: ${leaks.length} times in what this run wrote (${directories.written})\n${lines.join('\n')}`,
    );
    return true;
  }
  rmSync(root, { recursive: true, force: true });
  if (secrets > 0)
    say(STDOUT, `secrets watch: none of ${secrets} secrets in ${Math.ceil(bytes / KIBIBYTE)} KiB written`);
  return false;
}

/** Past the copy of the output, whose place may be gone, and before the process ends. */
function say(descriptor: number, text: string): void {
  writeSync(descriptor, `${text}\n`);
}
