import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyAddress } from '../../../ingest/fetch/target.ts';
import { isIpfsUri, readDataUri, readIpfsUri } from '../../../ingest/fetch/uri.ts';

const V0 = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG';
const V1 = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';

describe('an address', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.7',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:a9fe:a9fe',
    '::10.0.0.1',
    '::8.8.8.8',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::808:808',
    '2002:808:808::1',
    '2001:0:808:808::1',
    '100::1',
    '2001:db8::1',
    '2001:20::1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
    'fec0::1',
    'ff02::1',
    '',
    'localhost',
    '127.1',
    '8.8.8.8.',
  ])('%s is never connected to', (address) => expect(classifyAddress(address)).toBe('forbidden'));

  test.each(['127.0.0.1', '127.255.0.3', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'])(
    '%s is loopback',
    (address) => expect(classifyAddress(address)).toBe('loopback'),
  );

  test.each(['8.8.8.8', '2606:4700::1111', '2a00:1450:4001::200e', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    '%s is public',
    (address) => expect(classifyAddress(address)).toBe('public'),
  );
});

describe('a data URI', () => {
  const read = (uri: string, maxBytes = 100): string =>
    Buffer.from(readDataUri(uri, maxBytes).bytes).toString('utf8');

  test.each([
    ['data:,hello%20w%C3%B6rld', 'hello wörld'],
    ['data:application/json,{"a":"100%"}', '{"a":"100%"}'],
    ['data:application/json;utf8,{"colour":"#fff"}', '{"colour":"#fff"}'],
    ['data:application/json;base64,eyJhIjoxfQ==', '{"a":1}'],
    ['data:application/json;charset=utf-8;base64,eyJhIjoxfQ', '{"a":1}'],
    ['data:application/json;base64,eyJh\nIjox fQ%3D%3D', '{"a":1}'],
    ['DATA:application/json;BASE64,eyJhIjoxfQ==', '{"a":1}'],
    ['data:;base64,Pz8_Pj4-', '???>>>'],
    ['data:;base64,', ''],
  ])('%s is read', (uri, text) => expect(read(uri)).toBe(text));

  test.each([
    'data:',
    'data:application/json;base64',
    'data:;base64,{}',
    'data:;base64,ab=c',
    `data:${'x'.repeat(1_001)},`,
  ])('%s cannot be read', (uri) => expect(() => read(uri)).toThrow('malformed_uri'));

  test('one byte above the bound is refused, however it is spelled, and a long text before it is decoded', () => {
    expect(read('data:,abcd', 4)).toBe('abcd');
    for (const uri of ['data:,abcde', 'data:,%61%62%63%64%65', 'data:;base64,YWJjZGU='])
      expect(() => read(uri, 4)).toThrow('too_large');
    expect(() => read(`data:,${'a'.repeat(10_000_000)}`, 4)).toThrow('too_large');
  });

  test('every bytes come back, percent-encoded or as base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const hex = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
        expect(Buffer.from(readDataUri(`data:,${hex}`, 64).bytes)).toEqual(Buffer.from(bytes));
        const base64 = Buffer.from(bytes).toString('base64');
        expect(Buffer.from(readDataUri(`data:;base64,${base64}`, 64).bytes)).toEqual(Buffer.from(bytes));
      }),
    );
  });
});

describe('an IPFS URI', () => {
  test.each([
    [`ipfs://${V0}`, V0],
    [`ipfs://${V1}/card.json`, `${V1}/card.json`],
    [`ipfs://ipfs/${V1}/a%20b/c.json`, `${V1}/a%20b/c.json`],
    [`ipfs:${V1}`, V1],
    [`IPFS://${V1}`, V1],
    [`/ipfs/${V1}/x?y#z`, `${V1}/x%3Fy%23z`],
  ])('%s is read', (uri, path) => {
    expect(isIpfsUri(uri)).toBe(true);
    expect(readIpfsUri(uri)).toBe(path);
  });

  test.each([
    'ipfs://',
    'ipfs://example.com/card.json',
    `ipfs://${V0}0`,
    `ipfs://${V1.toUpperCase()}`,
    `ipfs://${V1}/../../api/v0/shutdown`,
    `ipfs://${V1}/%2e%2e/secret`,
    `ipfs://${V1}/a%2F..%2Fb`,
    `ipfs://${V1}/a%5cb`,
    `ipfs://${V1}/%`,
    `ipfs://${V1}/${'x'.repeat(2_000)}`,
    `ipfs://user@${V1}`,
  ])('%s is none', (uri) => expect(readIpfsUri(uri)).toBeNull());
});
