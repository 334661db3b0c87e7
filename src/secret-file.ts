import { randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export const SECRET_BYTES = 32;

/**
 * A secret of this deployment that stays in a file of the data directory, readable by its owner only; made on first use. Of two
 * processes that start at once, both read the one that was put there first. Throws for a file that is damaged.
 */
export function loadOrMakeSecret(dataDir: string, name: string): Buffer {
  const path = join(dataDir, name);
  const secret = readIfThere(path) ?? makeSecret(dataDir, path);
  if (secret.length !== SECRET_BYTES)
    throw new Error(`${path} is damaged: expected ${SECRET_BYTES} bytes; remove it to make a new one`);
  return secret;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written whole and synced before it gets its name: nobody ever reads half of it, also not after a power cut. */
function makeSecret(dataDir: string, path: string): Buffer {
  mkdirSync(dataDir, { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, randomBytes(SECRET_BYTES));
    fsyncSync(file);
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    closeSync(file);
    rmSync(draft);
  }
  return readFileSync(path);
}
