import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import { proposalPass } from '../../../../ingest/proposals/pass.ts';
import type { FacilitatorOrder } from '../../../../src/operate/facilitators/command.ts';
import { facilitators } from '../../../../src/operate/facilitators/run.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import { type TestEngine, testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { proposalWorld, RIVAL } from '../../../kit/proposal-world.ts';
import { BASE, insertSettlements, NOON, nameFacilitator } from '../../../kit/rows.ts';

let engine: TestEngine;
let directory: string;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async () => {
  await emptyTables(engine.writer);
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await insertSettlements(engine.writer, proposalWorld());
  await proposalPass({ writer: engine.writer, chains: [BASE], clock: { nowMs: () => NOON * 1_000 } });
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-facilitators-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What the command says, with the catalogue file as given; null: none is configured. */
async function said(order: FacilitatorOrder, catalogue: unknown = null): Promise<string> {
  const [file, catalogueFile] = [join(directory, 'config.json'), join(directory, 'catalogue.json')];
  if (catalogue !== null) writeFileSync(catalogueFile, JSON.stringify(catalogue));
  writeFileSync(file, JSON.stringify({ catalogue: catalogue === null ? {} : { file: catalogueFile } }));
  const lines: string[] = [];
  const config = loadConfig({ file, env: {} });
  await facilitators(
    { config, access: engine.access, log: testLog, say: (line) => void lines.push(line) },
    order,
  );
  return lines.join('\n');
}

const written = (): unknown => JSON.parse(readFileSync(join(directory, 'catalogue.json'), 'utf8'));
const accept = (id: string, address: string = RIVAL) =>
  ({ do: 'accept', chain: 'base', address, id }) satisfies FacilitatorOrder;
const RIVAL_ENTRY = { chain: BASE, address: RIVAL, firstSeen: '2026-11-17' };

test('review lists each proposal with its evidence', async () => {
  expect(await said({ do: 'review', isJson: false })).toBe(`${BASE} ${RIVAL}  score 1.00
  108 payments in 30 days, 108 of them relayed for others
  12 payers, as many as 12.0 of equal size; 12 of them also pay through named facilitators
  9 payees; 9 of them (108 payments) also paid through coinbase
  first payment 2026-11-17, newest 2026-11-19

To name one: npm run facilitators -- accept <chain> <address> <id>`);
  const json = JSON.parse(await said({ do: 'review', isJson: true })) as { proposals: unknown[] };
  expect(json.proposals).toMatchObject([{ address: RIVAL, score: 1 }]);
});

test('accept writes the entry into the catalogue file, next to what is there', async () => {
  const other = { chain: 'base', address: `0x${'7'.repeat(40)}`, firstSeen: '2026-01-01' };
  const before = { facilitators: [{ id: 'own', name: 'Own', relayers: [other] }], payees: [] };
  expect(await said(accept('own'), before)).toContain(`${BASE} ${RIVAL} is a relayer of own in`);
  expect(written()).toEqual({
    ...before,
    facilitators: [{ id: 'own', name: 'Own', relayers: [other, RIVAL_ENTRY] }],
  });
  await said(accept('another'), {});
  expect(written()).toEqual({ facilitators: [{ id: 'another', relayers: [RIVAL_ENTRY] }] });
  expect(readdirSync(directory).sort()).toEqual(['catalogue.json', 'config.json']);
});

test('without a catalogue file, accept prints what to add', async () => {
  const text = await said(accept('own'));
  expect(JSON.parse(text.slice(text.indexOf('{')))).toEqual({
    catalogue: { facilitators: [{ id: 'own', relayers: [RIVAL_ENTRY] }] },
  });
});

test('accept leaves a file alone that would contradict itself, and takes only proposals', async () => {
  const taken = { facilitators: [{ id: 'first', relayers: [RIVAL_ENTRY] }] };
  await expect(said(accept('second'), taken)).rejects.toThrow('belongs to both first and second');
  expect(written()).toEqual(taken);
  expect(readdirSync(directory).sort()).toEqual(['catalogue.json', 'config.json']);
  await expect(said(accept('own', `0x${'7'.repeat(40)}`), {})).rejects.toThrow('is not proposed');
  await expect(said(accept('no id'), {})).rejects.toThrow('is no id of a facilitator');
  await expect(said({ do: 'refuse', chain: 'base', address: '0x12' })).rejects.toThrow('not an address');
});

test('refuse takes a proposal off the list, also of later passes', async () => {
  expect(await said({ do: 'refuse', chain: 'base', address: RIVAL })).toContain('is proposed no more');
  expect(await said({ do: 'review', isJson: false })).toBe('no relayer is proposed');
  await proposalPass({ writer: engine.writer, chains: [BASE], clock: { nowMs: () => NOON * 1_000 } });
  expect(await said({ do: 'review', isJson: false })).toBe('no relayer is proposed');
});
