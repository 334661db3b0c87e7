import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory for files that are of use until the run ends. */
    scratch: string;
  }
}

/** A worker that ends cannot be relied on to remove its files: the run removes all of them. */
export function setup(project: TestProject): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-scratch-'));
  project.provide('scratch', directory);
  return () => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
