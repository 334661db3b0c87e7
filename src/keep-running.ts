import { spawn } from 'node:child_process';
import { once } from 'node:events';
import inspector from 'node:inspector';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '../core/config/config.ts';
import type { Log } from '../core/log.ts';
import { STOOD_STILL } from '../core/process/watch-loop.ts';

/**
 * The supervisor of a service that has no other: runs it as a child, and starts it again when its event loop stood still. Any other end
 * of the service is the end of this process, with the same code.
 */

/** The option by which the child knows that it is one. */
export const KEPT_OPTION = '--kept';

/** Asked of the service alone: it stops in order and then ends, and a second one ends it at once. */
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
/** As shells count. */
const EXIT_OF_SIGNAL = 128;

/**
 * Whether a start needs this supervisor: with the embedded engine the program is alone on its machine, and as the first process of a
 * container it cannot end itself by a signal. Elsewhere there is another one (Compose, Kubernetes, systemd). Never under a debugger,
 * which is attached to this process.
 */
export function needsSupervisor({ clickhouse }: Pick<Config, 'clickhouse'>): boolean {
  return (clickhouse.url === null || process.pid === 1) && inspector.url() === undefined;
}

/** Resolves with the exit code. */
export async function keepRunning(entry: URL, log: Log): Promise<number> {
  const command = [...process.execArgv, fileURLToPath(entry), ...process.argv.slice(2), KEPT_OPTION];
  let isStopping = false;
  let child: ReturnType<typeof startChild> | undefined;
  for (const name of FORWARDED)
    process.on(name, () => {
      isStopping = true;
      child?.kill(name);
    });
  for (;;) {
    child = startChild(command);
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]; // as Node declares it
    if (signal === null) return code ?? 1;
    if (signal !== STOOD_STILL || isStopping) return EXIT_OF_SIGNAL + constants.signals[signal];
    log.warn({ childPid: child.pid }, 'the service is started again');
  }
}

/** In a group of its own: Ctrl-C in a terminal reaches this process alone, which forwards it once. */
function startChild(command: readonly string[]) {
  const child = spawn(process.execPath, command, { stdio: ['pipe', 'inherit', 'inherit'], detached: true });
  child.stdin.on('error', () => undefined); // Nothing is written; `exit` says when the child is gone.
  return child;
}

/** The child's side: ends this process when its supervisor is gone, also by `kill -9`. */
export function endWithSupervisor(): void {
  for (const name of ['end', 'error'] as const)
    process.stdin.once(name, () => process.kill(process.pid, 'SIGKILL'));
  process.stdin.resume();
}
