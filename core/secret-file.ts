import { createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config/config.ts';
import type { CursorKeys } from './domain/cursor.ts';

export const CURSOR_KEY_FILE = 'cursor.key';
const DAY_MS = 86_400_000;
/** Cursors of a key that was rotated are good for so long. A walk is a matter of minutes; somebody may have noted one down. */
export const CURSOR_KEY_KEPT_DAYS = 7;
export const CURSOR_KEY_KEPT_MS = CURSOR_KEY_KEPT_DAYS * DAY_MS;

/**
 * The keys that sign cursors: the configured ones, or one generated key that stays in the data directory with those that it replaced
 * lately, so that a walk survives a restart and a rotation. Several API processes must share configured keys.
 */
export function loadCursorKeys(
  config: Pick<Config, 'cursorSecrets' | 'dataDir'>,
  nowMs: number = Date.now(),
): CursorKeys {
  const [newest, ...older] = config.cursorSecrets.map((secret) =>
    createHash('sha256').update(secret).digest(),
  );
  if (newest !== undefined) return { keys: [newest, ...older] };
  return { keys: loadOrMakeSecrets(config.dataDir, CURSOR_KEY_FILE, { keptMs: CURSOR_KEY_KEPT_MS, nowMs }) };
}

const PURPOSE = 'settlement-index key issue v1';
export const KEY_ISSUE_FILE = 'key-issue.key';
/** As long as payments are remembered (docs/upkeep.md): the key that one bought can be shown again until then. */
export const KEY_ISSUE_KEPT_DAYS = 90;
export const KEY_ISSUE_KEPT_MS = KEY_ISSUE_KEPT_DAYS * DAY_MS;

/**
 * The secrets that repeatable trial keys are made of, newest first: derived from `cursorSecrets` where they are configured,
 * because several API processes must share both, otherwise generated ones in the data directory. HKDF keeps the two uses
 * apart: whoever learned a cursor's key could not make an API key.
 */
export function loadKeyIssueSecrets(
  config: Pick<Config, 'cursorSecrets' | 'dataDir'>,
  nowMs: number = Date.now(),
): readonly [Uint8Array, ...Uint8Array[]] {
  const [newest, ...older] = config.cursorSecrets.map(
    (secret) => new Uint8Array(hkdfSync('sha256', secret, '', PURPOSE, SECRET_BYTES)),
  );
  if (newest !== undefined) return [newest, ...older];
  return loadOrMakeSecrets(config.dataDir, KEY_ISSUE_FILE, { keptMs: KEY_ISSUE_KEPT_MS, nowMs });
}

export const SECRET_BYTES = 32;
/** When a secret was put aside, Unix milliseconds, before each older secret. */
const TIME_BYTES = 8;
const OLDER_BYTES = TIME_BYTES + SECRET_BYTES;
/** Rotated by mistake in a loop, a file must not grow for ever. */
const OLDER_MAX = 16;

interface OlderSecret {
  readonly retiredAtMs: number;
  readonly secret: Buffer;
}

interface SecretFile {
  readonly newest: Buffer;
  /** Newest first. */
  readonly older: readonly OlderSecret[];
}

/**
 * The secrets of a file of the data directory, newest first: the one in use, and those that were put aside less than `keptMs` ago.
 * The file is readable by its owner only and made on first use; of two processes that start at once, both read the one that was put
 * there first. Throws for a file that is damaged.
 */
export function loadOrMakeSecrets(
  dataDir: string,
  name: string,
  { keptMs, nowMs }: { readonly keptMs: number; readonly nowMs: number },
): readonly [Buffer, ...Buffer[]] {
  const path = join(dataDir, name);
  const { newest, older } = readSecrets(path) ?? makeSecret(dataDir, path);
  return [newest, ...keptOf(older, { keptMs, nowMs }).map(({ secret }) => secret)];
}

/**
 * Puts a new secret into the file; the one before is kept for `keptMs`. One rename: whoever reads meanwhile has the file of before or the
 * file of after. Services that run go on with what they read at their start.
 */
export function rotateSecret(
  dataDir: string,
  name: string,
  { keptMs, nowMs }: { readonly keptMs: number; readonly nowMs: number },
): void {
  const path = join(dataDir, name);
  const { newest, older } = readSecrets(path) ?? makeSecret(dataDir, path);
  const kept = [{ retiredAtMs: nowMs, secret: newest }, ...keptOf(older, { keptMs, nowMs })];
  const draft = writeDraft(path, {
    newest: randomBytes(SECRET_BYTES),
    older: kept.slice(0, OLDER_MAX),
  });
  renameSync(draft, path);
}

function keptOf(
  older: readonly OlderSecret[],
  { keptMs, nowMs }: { readonly keptMs: number; readonly nowMs: number },
): readonly OlderSecret[] {
  return older.filter(({ retiredAtMs }) => nowMs - retiredAtMs < keptMs);
}

function readSecrets(path: string): SecretFile | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const rest = bytes.length - SECRET_BYTES;
  if (rest < 0 || rest % OLDER_BYTES !== 0)
    throw new Error(`${path} is damaged: ${bytes.length} bytes; remove it to make a new one`);
  const older = Array.from({ length: rest / OLDER_BYTES }, (_none, index) => {
    const at = SECRET_BYTES + index * OLDER_BYTES;
    return {
      retiredAtMs: Number(bytes.readBigUInt64BE(at)),
      secret: bytes.subarray(at + TIME_BYTES, at + OLDER_BYTES),
    };
  });
  return { newest: bytes.subarray(0, SECRET_BYTES), older };
}

/** Nobody’s file is replaced: of two that make one, the first one’s stands. */
function makeSecret(dataDir: string, path: string): SecretFile {
  mkdirSync(dataDir, { recursive: true });
  const draft = writeDraft(path, { newest: randomBytes(SECRET_BYTES), older: [] });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  const made = readSecrets(path);
  if (made === undefined) throw new Error(`${path} was removed while it was made`);
  return made;
}

/** Written whole and synced before it gets its name: nobody ever reads half of it, also not after a power cut. */
function writeDraft(path: string, { newest, older }: SecretFile): string {
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    const parts = older.flatMap(({ retiredAtMs, secret }) => {
      const time = Buffer.alloc(TIME_BYTES);
      time.writeBigUInt64BE(BigInt(retiredAtMs));
      return [time, secret];
    });
    writeSync(file, Buffer.concat([newest, ...parts]));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return draft;
}
