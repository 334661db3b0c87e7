import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findLeaks, partsOf, type WatchDirectories } from './secrets-watch-files.ts';

const R = 'ab'.repeat(32);
const S = 'cd'.repeat(32);
const SIGNATURE = `0x${R}${S}1b`;

describe('the parts of a secret', () => {
  const payment = Buffer.from(`{"payload":{"signature":"${SIGNATURE}"}}`).toString('base64');

  it.each([
    ['a private key without its prefix', `0x${R.toUpperCase()}`, [R]],
    ['a signature as r and s', SIGNATURE, [R, S]],
    ['a payment header, and the signature in it', payment, [payment.toLowerCase(), R, S]],
    ['a token by its signature', 'eyJh.eyJi.signature-of-it', ['signature-of-it']],
    [
      'a URL by its password, as written and as meant',
      'redis://:pass%2Fword-long@h:1',
      ['pass%2fword-long', 'pass/word-long'],
    ],
    [
      'a URL by the name in it',
      'https://project-id-0001@node.example/',
      ['project-id-0001', 'project-id-0001'],
    ],
    ['a URL with neither as a whole', 'https://node.example/v2/Key', ['https://node.example/v2/key']],
    ['anything else as it is', 'some-Password-7', ['some-password-7']],
  ])('%s', (_what, secret, parts) => {
    expect(partsOf(secret)).toEqual(parts);
  });

  it('refuses what would be found everywhere', () => {
    expect(() => partsOf('secret')).toThrow('6 characters');
  });
});

describe('leaks', () => {
  let directories: WatchDirectories;
  beforeEach(() => {
    const root = mkdtempSync(join(tmpdir(), 'watch-test-'));
    directories = { secrets: join(root, 'secrets'), written: join(root, 'written') };
    for (const directory of Object.values(directories)) mkdirSync(directory);
    writeFileSync(join(directories.secrets, '1'), `${partsOf(SIGNATURE).join('\n')}\n`);
  });
  afterEach(() => rmSync(join(directories.secrets, '..'), { recursive: true }));
  const written = (text: string | Uint8Array): void => writeFileSync(join(directories.written, 'log'), text);

  it('finds a part in any spelling, between any bytes, and shows what stands around it without it', () => {
    written(Buffer.concat([Buffer.from([0, 0xff, 0xfe]), Buffer.from(`args: 0x${S.toUpperCase()} …`)]));
    const { leaks, secrets } = findLeaks(directories);
    expect(secrets).toBe(2);
    expect(leaks).toHaveLength(1);
    expect(leaks[0]).toMatchObject({ file: 'log', secret: 'cdcd…' });
    expect(leaks[0]?.around).toContain('args: 0x[THE SECRET]');
  });

  it.each([
    ['key', `six_live_${'0'.repeat(43)}`],
    ['token', `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.${'s'.repeat(86)}`],
  ])('finds a %s that no test registered', (what, secret) => {
    written(`${what} ${secret}.`);
    expect(findLeaks(directories).leaks).toHaveLength(1);
  });

  it('finds nothing where nothing is', () => {
    written(`0x${R.slice(1)} and six_live_short`);
    expect(findLeaks(directories).leaks).toEqual([]);
  });
});
