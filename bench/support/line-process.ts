import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Workspace } from './workspace.ts';

/** A child that answers a line of JSON with a line of JSON. Ends with the workspace. */
export interface LineProcess {
  ask<Reply>(question: unknown): Promise<Reply>;
  /** The next line, without a question. */
  next<Reply>(): Promise<Reply>;
}

export function startLineProcess(workspace: Workspace, args: readonly string[], cwd?: string): LineProcess {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd });
  workspace.defer(() => child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <Reply>(): Promise<Reply> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${args.at(-1)} ended`);
    return JSON.parse(value) as Reply; // our own scripts say what they print
  };
  return {
    next,
    ask: (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return next();
    },
  };
}
