import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  closedPath,
  ENGINE_USER_ID,
  isMapped,
  lackingCapabilities,
  openForSearch,
} from '../../../clickhouse/embedded/user.ts';
import { hasFileWall, REPORT_MARK, readWalls, spellWalls } from '../../../clickhouse/embedded/walls.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'settlement-index-user-'));
  chmodSync(root, 0o755);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('whether the engine can have a user of its own', () => {
  test('root with all capabilities lacks none; as a container leaves it, or without any, the missing ones are named', () => {
    const status = (effective: string): string => `Name:\tnode\nCapEff:\t${effective}\nSeccomp:\t0\n`;
    expect(lackingCapabilities(status('000001ffffffffff'))).toEqual([]);
    expect(lackingCapabilities(status('00000000a80425fb'))).toEqual([]); // what Docker leaves by default
    expect(lackingCapabilities(status('00000000a80425db'))).toEqual(['CAP_KILL']);
    expect(lackingCapabilities(status('0000000000000000'))).toHaveLength(6);
  });

  test('a container of an ordinary user has it among 65,536 users, and not where root alone is mapped', () => {
    expect(isMapped('         0          0 4294967295\n')).toBe(true);
    expect(isMapped('         0       1000          1\n         1     100000      65536\n')).toBe(true);
    expect(isMapped('         0       1000          1\n')).toBe(false);
    expect(ENGINE_USER_ID).toBeLessThan(65_536);
  });

  test('a file is closed by itself or by a directory above it, also behind a link', () => {
    mkdirSync(join(root, 'inner'));
    const file = join(root, 'inner', 'program');
    writeFileSync(file, '', { mode: 0o644 });
    symlinkSync(file, join(root, 'link'));
    expect(closedPath(join(root, 'link'))).toBeNull();
    chmodSync(file, 0o640);
    expect(closedPath(file)).toBe(file);
    chmodSync(file, 0o644);
    chmodSync(join(root, 'inner'), 0o750);
    expect(closedPath(join(root, 'link'))).toBe(join(root, 'inner'));
  });

  test('a directory is opened for passing through, and still not for listing', () => {
    const directory = join(root, 'data');
    mkdirSync(directory, { mode: 0o700 });
    openForSearch(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o711);
    chmodSync(directory, 0o755);
    openForSearch(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o755);
  });
});

describe('what the host reports', () => {
  const report = (over: object): string =>
    `${REPORT_MARK}${JSON.stringify({ landlockAbi: 7, landlockMissing: null, socketsMissing: null, userId: 5, environment: ['TZ'], ...over })}`;

  test('is taken over what was meant', () => {
    const walls = readWalls(report({}), { id: ENGINE_USER_ID });
    expect(walls).toEqual({
      landlock: { abi: 7 },
      ownUser: { missing: 'it runs as user 5' },
      sockets: { bounded: true },
      cleanEnvironment: true,
    });
    expect(readWalls(report({ userId: ENGINE_USER_ID }), { id: ENGINE_USER_ID })?.ownUser).toEqual({
      id: ENGINE_USER_ID,
    });
    expect(readWalls(report({ environment: ['TZ', 'TOKEN'] }), { missing: 'why' })?.cleanEnvironment).toBe(
      false,
    );
    expect(readWalls('Code: 76. DB::Exception', { missing: 'why' })).toBeNull();
  });

  test('one of the walls of files is enough, and the log says why another is missing', () => {
    const missing = { missing: 'the reason' };
    expect(hasFileWall({ landlock: { abi: 3 }, ownUser: missing })).toBe(true);
    expect(hasFileWall({ landlock: missing, ownUser: { id: 1 } })).toBe(true);
    expect(hasFileWall({ landlock: missing, ownUser: missing })).toBe(false);
    const walls = { landlock: missing, ownUser: { id: 1 }, sockets: missing, cleanEnvironment: true };
    expect(spellWalls(walls)).toBe(
      'no Landlock (the reason), a user of its own (1), connections of its own (the reason), a clean environment',
    );
  });
});
