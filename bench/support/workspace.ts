import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

export function createWorkspace(name: string): Workspace {
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
    defer: (end) => {
      ends.push(end);
    },
    release: () => {
      releasing ??= releaseAll();
      return releasing;
    },
  };
}
