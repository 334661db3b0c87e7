import { extname } from 'node:path';
import { describeExit, spawnChild } from '../../core/process/child-process.ts';

/** The input of the process that makes the sample history. */
export interface HistoryBootstrap {
  readonly seed: number;
  /** Unix seconds of the newest sample block. */
  readonly endTime: number;
  readonly configFile: string;
  readonly serviceUrl: string;
}

export interface History {
  /** Rows written; rejects when it could not be written whole. */
  readonly written: Promise<number>;
  stop(): Promise<void>;
}

/** Below the service and the traffic, which have answers to give. */
const NICE = 5;

export function startHistory(
  bootstrap: HistoryBootstrap,
  progress: (rows: number, total: number) => void,
): History {
  let rows = 0;
  const run = spawnChild({
    entry: new URL(`./history-process${extname(import.meta.url)}`, import.meta.url),
    bootstrap,
    nice: NICE,
    nodeFlags: ['--max-semi-space-size=64'],
    onErrorLine(line) {
      const [, done, total] = /^rows (\d+) (\d+)$/.exec(line) ?? [];
      if (total === undefined) return;
      rows = Number(done);
      progress(rows, Number(total));
    },
  });
  let isStopped = false;
  const written = run.exited.then((exit) => {
    if (exit.code === 0 || isStopped) return rows;
    throw new Error(
      `the sample history was not written (${describeExit(exit)}): ${exit.errorLines.join('\n')}`,
    );
  });
  written.catch(() => undefined); // its awaiter gets the rejection
  return {
    written,
    async stop() {
      isStopped = true;
      run.process.kill('SIGKILL');
      await run.exited;
    },
  };
}
