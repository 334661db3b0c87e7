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
/** How long cursors of a rotated key stay valid. Paging takes minutes, but clients may store a cursor for later. */
export const CURSOR_KEY_KEPT_DAYS = 7;
export const CURSOR_KEY_KEPT_MS = CURSOR_KEY_KEPT_DAYS * DAY_MS;

/**
 * The keys that sign cursors: the configured ones, or a generated key in the data directory together with recently rotated ones, so
 * that cursors survive a restart and a rotation. Several API processes must share configured keys.
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
/** As long as payments are kept (docs/upkeep.md): until then a payment can show its key again. */
export const KEY_ISSUE_KEPT_DAYS = 90;
export const KEY_ISSUE_KEPT_MS = KEY_ISSUE_KEPT_DAYS * DAY_MS;

/**
 * The secrets that repeatable trial keys are derived from, newest first. Derived from `cursorSecrets` if those are configured,
 * because several API processes must share both; otherwise generated in the data directory. HKDF separates the two uses: a leaked
 * cursor key cannot make an API key.
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

export const BUNDLE_KEY_FILE = 'bundle.key';
/** Their public keys are published as long: files that were taken away are checked years later. */
export const BUNDLE_KEY_KEPT_DAYS = 3_650;
export const BUNDLE_KEY_KEPT_MS = BUNDLE_KEY_KEPT_DAYS * DAY_MS;
const BUNDLE_PURPOSE = 'settlement-index bundle signature v1';

/**
 * The seeds of the keys that sign bundles, newest first: from configuration, else from the data directory. Empty where none was made
 * yet; `make` makes one. Only the command that signs makes one, so that no API process publishes a key that signs nothing.
 */
export function loadBundleSeeds(
  config: Pick<Config, 'bundles' | 'dataDir'>,
  { make, nowMs = Date.now() }: { readonly make: boolean; readonly nowMs?: number },
): readonly Uint8Array[] {
  if (config.bundles.signingSecrets.length > 0)
    return config.bundles.signingSecrets.map(
      (secret) => new Uint8Array(hkdfSync('sha256', secret, '', BUNDLE_PURPOSE, SECRET_BYTES)),
    );
  const kept = { keptMs: BUNDLE_KEY_KEPT_MS, nowMs };
  if (make) return loadOrMakeSecrets(config.dataDir, BUNDLE_KEY_FILE, kept);
  const found = readSecrets(join(config.dataDir, BUNDLE_KEY_FILE));
  return found === undefined ? [] : [found.newest, ...keptOf(found.older, kept).map(({ secret }) => secret)];
}

export const SECRET_BYTES = 32;
/** Before each older secret: when it was retired, Unix milliseconds. */
const TIME_BYTES = 8;
const OLDER_BYTES = TIME_BYTES + SECRET_BYTES;
/** Bounds the file if it is rotated in a loop by mistake. */
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
 * The secrets of a file in the data directory, newest first: the current one, and those retired less than `keptMs` ago. The file is
 * readable by its owner only and created on first use; if two processes start at once, both read the one that was created first.
 * Throws for a damaged file.
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
 * Puts a new secret into the file and keeps the previous one for `keptMs`. The file is replaced by a single rename, so a concurrent
 * reader gets either the old or the new one. Running services keep the secrets that they read at startup.
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

/** Never replaces an existing file: if two processes create one, the first wins. */
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

/** Written and synced before it gets its name, so no reader sees a partial file, even after a power cut. */
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
