import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { isAddress, readAddress } from '../../../core/domain/account.ts';
import { mintWalletCursor, readWalletCursor } from '../../../core/domain/cursor.ts';
import {
  CURSOR_KEY_KEPT_MS,
  KEY_ISSUE_KEPT_MS,
  loadCursorKeys,
  loadKeyIssueSecrets,
  rotateSecret,
} from '../../../core/secret-file.ts';

/** `admin rotate-cursor-key` and `rotate-issue-key`: the uses of the old secret, and for how long. */

const NOW = 1_795_000_000_000;
const SCOPE = 'listWallets';
const made: string[] = [];
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-rotate-'));
  made.push(dataDir);
});
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

const rotateCursor = (nowMs: number) =>
  rotateSecret(dataDir, 'cursor.key', { keptMs: CURSOR_KEY_KEPT_MS, nowMs });
const keysAt = (nowMs: number) => loadCursorKeys({ cursorSecrets: [], dataDir }, nowMs);

function wallet() {
  const address = readAddress('0x209693bc6afc0c5328ba36faf03c514ef312287c');
  if (!isAddress(address)) throw new Error('no address');
  return address;
}

test('a cursor of before a rotation is good for the documented week, and not a moment longer', () => {
  const old = mintWalletCursor(keysAt(NOW), SCOPE, wallet());
  rotateCursor(NOW);
  expect(readWalletCursor(keysAt(NOW + CURSOR_KEY_KEPT_MS - 1), SCOPE, old)).toBe(wallet());
  expect(readWalletCursor(keysAt(NOW + CURSOR_KEY_KEPT_MS), SCOPE, old)).toBeUndefined();
});

test('after a rotation new cursors carry the new key alone', () => {
  const before = keysAt(NOW);
  rotateCursor(NOW);
  const fresh = mintWalletCursor(keysAt(NOW), SCOPE, wallet());
  expect(readWalletCursor(before, SCOPE, fresh)).toBeUndefined();
  expect(readWalletCursor(keysAt(NOW + CURSOR_KEY_KEPT_MS * 2), SCOPE, fresh)).toBe(wallet());
});

test('every key of a week of rotations is good, and an older key leaves the file with the next one', () => {
  const cursors = [0, 1, 2].map((day) => {
    const at = NOW + day * 86_400_000;
    const cursor = mintWalletCursor(keysAt(at), SCOPE, wallet());
    rotateCursor(at);
    return cursor;
  });
  const later = NOW + 3 * 86_400_000;
  for (const cursor of cursors) expect(readWalletCursor(keysAt(later), SCOPE, cursor)).toBe(wallet());
  rotateCursor(NOW + CURSOR_KEY_KEPT_MS * 3);
  expect(statSync(join(dataDir, 'cursor.key')).size).toBe(32 + 40);
  for (let time = 1; time <= 40; time++) rotateCursor(NOW + CURSOR_KEY_KEPT_MS * 3 + time);
  expect(statSync(join(dataDir, 'cursor.key')).size).toBe(32 + 16 * 40);
});

test('a file of one secret, as versions before wrote it, is rotated like any other, and stays its owner’s alone', () => {
  writeFileSync(join(dataDir, 'cursor.key'), Buffer.alloc(32, 9), { mode: 0o600 });
  const old = mintWalletCursor({ keys: [Buffer.alloc(32, 9)] }, SCOPE, wallet());
  rotateCursor(NOW);
  expect(readWalletCursor(keysAt(NOW), SCOPE, old)).toBe(wallet());
  expect(statSync(join(dataDir, 'cursor.key')).mode & 0o777).toBe(0o600);
});

test('a damaged file is refused by name, and not written over', () => {
  const path = join(dataDir, 'cursor.key');
  writeFileSync(path, Buffer.alloc(33));
  expect(() => keysAt(NOW)).toThrow(/cursor\.key is damaged/);
  expect(() => rotateCursor(NOW)).toThrow(/damaged/);
  expect(readFileSync(path)).toEqual(Buffer.alloc(33));
});

test('trial keys of the secret before can be shown again for ninety days', () => {
  const load = (nowMs: number) => loadKeyIssueSecrets({ cursorSecrets: [], dataDir }, nowMs);
  const [old] = load(NOW);
  rotateSecret(dataDir, 'key-issue.key', { keptMs: KEY_ISSUE_KEPT_MS, nowMs: NOW });
  expect(load(NOW)[0]).not.toEqual(old);
  expect(load(NOW + KEY_ISSUE_KEPT_MS - 1)).toContainEqual(old);
  expect(load(NOW + KEY_ISSUE_KEPT_MS)).not.toContainEqual(old);
});

test('configured secrets are used as they stand, whatever a file says', () => {
  rotateCursor(NOW);
  const { keys } = loadCursorKeys({ cursorSecrets: ['n'.repeat(32), 'o'.repeat(32)], dataDir }, NOW);
  expect(keys).toHaveLength(2);
});
