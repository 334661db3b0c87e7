import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface GuardedProcess {
  /** Settles with the exit code once the process has ended. */
  readonly exited: Promise<number>;
  /** Its last lines of output, from both streams. */
  readonly lastLines: () => readonly string[];
  /** Kills it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Node has no parent-death signal: the guard holds our pipe as its stdin and kills its child when the pipe closes. */
const GUARD = `
const { spawn } = require('node:child_process');
const [command, ...args] = process.argv.slice(1);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
const end = () => { try { process.kill(-child.pid, 'SIGKILL'); } catch {} };
child.on('exit', (code) => process.exit(code ?? 1));
child.on('error', (error) => { console.error(error.message); process.exit(1); });
process.stdin.on('end', end).on('error', end).resume();
process.on('SIGINT', () => {}).on('SIGTERM', end);
`;
const LAST_LINES_MAX = 20;

/** Runs a foreign program that must not outlive the bench, not even when the bench is killed with SIGKILL. */
export function startGuarded(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  onLine?(line: string): void;
}): GuardedProcess {
  const lines: string[] = [];
  const guard = spawn(process.execPath, ['-e', GUARD, options.command, ...options.args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  guard.stdin.on('error', () => undefined); // EPIPE when the program ended first; `exited` tells
  for (const stream of [guard.stdout, guard.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > LAST_LINES_MAX) lines.shift();
      options.onLine?.(line);
    });
  }
  const exited = new Promise<number>((resolve) => guard.once('close', (code) => resolve(code ?? 1)));
  return {
    exited,
    lastLines: () => lines,
    async stop() {
      guard.stdin.end();
      await exited;
    },
  };
}
