import { appendFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pino } from 'pino';
import { inject } from 'vitest';
import { createLog, type Log, type LogLevel } from '../../core/log.ts';
import { partsOf } from './secrets-watch-files.ts';

/**
 * Secrets of the tests and what the processes under test write. When the run ends everything that was written is searched for
 * every secret (secrets-watch-setup.ts), and the run fails when one is found.
 */

let files = 0;

/** Registers a value that no process may ever write: an API key, a private key, a payment header, a token, a URL with a password. */
export function watchSecret<Secret extends string>(secret: Secret): Secret {
  const file = join(inject('secretsWatch').secrets, String(process.pid));
  appendFileSync(file, `${partsOf(secret).join('\n')}\n`);
  return secret;
}

/** A file of this name, for a process to write to; it is searched when the run ends. */
export function watchedFile(name: string): string {
  files += 1;
  return join(inject('secretsWatch').written, `${process.pid}-${files}-${basename(name)}`);
}

/** Keeps a text that left a process: an error body, the output of a command. */
export function watchText(name: string, text: string): void {
  appendFileSync(join(inject('secretsWatch').written, `${process.pid}-${basename(name)}`), `${text}\n`);
}

/** The log of production, every level of it, written to a searched file; lines as grave as `print` are printed as well. */
export function watchedLog(name: string, print: LogLevel = 'silent'): Log {
  const file = { level: 'trace', stream: pino.destination({ dest: watchedFile(`${name}.log`), sync: true }) };
  const printed = print === 'silent' ? [] : [{ level: print, stream: pino.destination(2) }];
  return createLog('trace', name, pino.multistream([file, ...printed] as pino.StreamEntry[])); // our levels are pino's
}
