import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { createLog } from '../../../core/log.ts';
import { readBuiltInRelayers } from '../../../ingest/grading/built-in.ts';
import { publicFacilitators } from '../../../ingest/grading/public-facilitators.ts';
import { createCatalogueSources } from '../../../ingest/grading/sources.ts';

/** The public facilitators that an index of Base asks by itself. */

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-public-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Ids and URLs of those that are asked. */
function asked(written: object, env: Record<string, string> = {}): (readonly [string, string | undefined])[] {
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(written));
  const sources = createCatalogueSources(loadConfig({ file, env }), createLog('silent', 'test'));
  sources.read([]);
  expect(sources.listings()?.facilitators).toEqual(sources.facilitators());
  return sources.facilitators().map(({ id, url }) => [id, url]);
}

const ON_BASE = { chains: [{ chain: 'base' }] };
const BUILT_IN = publicFacilitators({ publicFacilitators: true }, []);

test('are asked where Base is indexed, each under an id of the relayer table and over TLS', () => {
  expect(asked(ON_BASE)).toEqual(BUILT_IN.map(({ id, url }) => [id, url]));
  const known = new Set(readBuiltInRelayers().map(({ facilitator }) => facilitator));
  for (const { id, url } of BUILT_IN)
    expect([known.has(id), url]).toEqual([true, expect.stringMatching(/^https:/)]);
});

test('are not asked for another chain, nor where one key turns them off', () => {
  expect(asked({ chains: [{ chain: 'polygon' }] })).toEqual([]);
  expect(asked({ ...ON_BASE, catalogue: { publicFacilitators: false } })).toEqual([]);
  expect(asked(ON_BASE, { PUBLIC_FACILITATORS: 'false' })).toEqual([]);
});

test('give way to an entry of the same id', () => {
  const own = { id: 'payAI', url: 'https://own.example' };
  const found = asked({ ...ON_BASE, catalogue: { facilitators: [own] } });
  expect(found.filter(([id]) => id === 'payAI')).toEqual([['payAI', own.url]]);
  expect(found).toHaveLength(BUILT_IN.length);
});
