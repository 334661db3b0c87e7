import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { decodeSettlement, LISTED_COLUMNS } from '../../../clickhouse/tables/settlements.ts';
import type { ChainConfig } from '../../../core/config/chains.ts';
import type { Config } from '../../../core/config/config.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { importFiles } from '../../../ingest/import/command.ts';
import type { ImportArguments } from '../../../ingest/import/options.ts';
import { contractsName, createCheckpoints } from '../../../ingest/write/checkpoints.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { emptyAllTables } from '../../kit/empty-tables.ts';
import { type TestEngine, testEngine, testLog } from '../../kit/engine.ts';
import { killAfterFirstCheckpoint } from '../../kit/killed-import.ts';
import {
  owedPayments,
  placed,
  type SolanaChain,
  solanaTokens,
  startSolanaChain,
} from '../../kit/solana-chain.ts';

/** Blocks of Solana in files become the rows that balances show, and a file that does not hold them is refused by its line. */

const BLOCKS = 30;
const OPTIONS = {
  ...{ encoding: 'json', transactionDetails: 'full', rewards: false },
  ...{ maxSupportedTransactionVersion: 0, commitment: 'finalized' },
};
let world: SolanaChain;
let engine: TestEngine;
let directory: string;
/** The answer for each slot, skipped ones as well. */
let answers: readonly string[];
let slots: readonly number[];

beforeAll(async () => {
  [engine, world] = await Promise.all([testEngine(), startSolanaChain(31)]);
  await world.grow(BLOCKS);
  const all = Array.from({ length: world.node.ledger.slot('finalized') + 1 }, (_, slot) => slot);
  answers = await Promise.all(all.map(answerOf));
  slots = all.filter((slot) => JSON.parse(answers[slot] ?? '').result !== undefined);
});
afterAll(async () => {
  await world?.node.stop();
  await engine?.close();
});
beforeEach(async () => {
  await emptyAllTables(engine.writer);
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-import-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function answerOf(id: number): Promise<string> {
  const call = { jsonrpc: '2.0', id, method: 'getBlock', params: [id, OPTIONS] };
  const headers = { 'content-type': 'application/json' };
  return (await fetch(world.node.url, { method: 'POST', headers, body: JSON.stringify(call) })).text();
}

function chainOf(changes: Partial<ChainConfig>): ChainConfig {
  const [loaded] = loadConfig({ env: { CHAINS: 'solana-devnet' } }).chains;
  if (loaded === undefined) throw new Error('Solana Devnet is built in');
  return { ...loaded, tokens: solanaTokens(world), ...changes };
}

function write(lines: readonly string[], name = 'blocks.jsonl'): void {
  const text = `${lines.join('\n')}\n`;
  writeFileSync(join(directory, name), name.endsWith('.gz') ? gzipSync(text) : text);
}

function configOf(changes: Partial<ChainConfig> = {}): Config {
  return { ...loadConfig({ env: {} }), chains: [chainOf(changes)] };
}

const named = (): ImportArguments => ({ blocks: [join(directory, '*')], assumeFinal: true });

function importAll(given: ImportArguments = {}, changes: Partial<ChainConfig> = {}) {
  return importFiles(
    {
      config: configOf(changes),
      openEngine: () => Promise.resolve(engine.access),
      log: testLog,
      signal: new AbortController().signal,
      isTerminal: false,
      say: () => undefined,
    },
    { ...named(), ...given },
  );
}

async function storedRows() {
  const { rows } = await engine.writer.rows({
    name: 'stored',
    sql: sql`SELECT ${LISTED_COLUMNS} FROM settlements FINAL WHERE del = 0 ORDER BY block_number, log_index`,
    maxSeconds: 20,
    maxRows: 10_000,
  });
  return rows.map(decodeSettlement);
}

async function stored(): Promise<string[]> {
  return (await storedRows())
    .map(({ blockNumber: slot, txHash: id, ...row }) => placed({ slot, id, ...row }))
    .sort();
}

/** What a service that starts now takes for read. */
async function recorded() {
  const contracts = contractsName(solanaTokens(world).map(({ address }) => address));
  const at = { chain: world.chain, contracts };
  return (await createCheckpoints(at, engine.writer, createVersions(0n)).load()).backfilled;
}

const whole = () => [{ from: 0, to: slots.at(-1) }];

const LAYOUTS: readonly (readonly [string, () => void])[] = [
  ['a plain file with the answers of skipped slots', () => write(answers)],
  [
    'a gzip file of blocks alone',
    () =>
      write(
        slots.map((slot) => answers[slot] ?? ''),
        'blocks.jsonl.gz',
      ),
  ],
  [
    'two files, of which the later blocks are read first',
    () => {
      write(answers.slice(20), '1.jsonl');
      write(answers.slice(0, 20), '2.jsonl.gz');
    },
  ],
];

test.each(LAYOUTS)(
  '%s gives the rows of the chain, recorded as indexed, and nothing twice',
  async (_, files) => {
    files();
    const { settlements, covered } = await importAll();
    const owed = await owedPayments(world);
    expect(await stored()).toEqual(owed);
    expect(settlements).toBe(owed.length);
    expect(owed.length).toBeGreaterThan(BLOCKS);
    expect(covered).toEqual(whole());
    expect(await recorded()).toEqual(whole());
    expect(await importAll()).toMatchObject({ settlements: 0, covered: [], alreadyIndexed: whole() });
  },
);

test('a block that is in no file is not recorded as read, and bounds leave the others out', async () => {
  const missing = slots[10] ?? 0;
  write(answers.filter((_, slot) => slot !== missing));
  const two = [
    { from: 0, to: slots[9] },
    { from: missing + 1, to: slots[20] },
  ];
  expect(await importAll({ toBlock: slots[20] ?? 0 })).toMatchObject({ covered: two, notFinal: [] });
  expect(await recorded()).toEqual(two);
  write(answers);
  await importAll();
  expect(await stored()).toEqual(await owedPayments(world));
  expect(await recorded()).toEqual(whole());
});

test('an import that is killed half-way is finished by the next one, with the rows of one that was not killed', async () => {
  // Each block in a file of its own is a window of its own.
  for (const [at, slot] of slots.entries()) write([answers[slot] ?? ''], `${100 + at}.jsonl`);
  await importAll();
  const unbroken = await storedRows();
  await emptyAllTables(engine.writer);
  await killAfterFirstCheckpoint(engine, { config: configOf(), given: named() });
  const half = await storedRows();
  expect(half.length).toBeLessThan(unbroken.length);
  const { alreadyIndexed, covered } = await importAll();
  expect([alreadyIndexed.length, covered.length]).toEqual([1, 1]);
  expect(await storedRows()).toEqual(unbroken);
  expect(await stored()).toEqual(await owedPayments(world));
  expect(await recorded()).toEqual(whole());
});

const DAMAGED: readonly (readonly [string, (line: string) => string, RegExp])[] = [
  [
    'another amount',
    (line) => line.replace(/("amount":")(\d+")/, '$11$2'),
    /does not follow from what moved/,
  ],
  ['another slot', (line) => line.replace(/"id":\d+/, '"id":0'), /slot \d+ has a block, by the one at/],
  [
    'no transactions',
    (line) => line.replace('"transactions"', '"signatures"'),
    /transactions is not as the protocol/,
  ],
  ['half a line', (line) => line.slice(0, -9), /no whole JSON/],
];

test.each(DAMAGED)(
  'a file in which a block has %s is refused, and its line named',
  async (_, damage, reason) => {
    const at = answers.findIndex((line) => line.includes('"postTokenBalances":[{'));
    write(answers.with(at, damage(answers[at] ?? '')));
    const error = String(await importAll().catch((refusal: unknown) => refusal));
    expect(error).toMatch(/blocks\.jsonl, line \d+: /);
    expect(error).toMatch(reason);
  },
);

test('half a gzip file, Parquet, no file, and a chain that is read in part are refused in words', async () => {
  await expect(importAll()).rejects.toThrow('none matches');
  write(answers);
  await expect(importAll({ parquet: ['*.parquet'] })).rejects.toThrow('solana-devnet has no logs');
  await expect(importAll({}, { completeness: 'fee-payers' })).rejects.toThrow('read in part');
  writeFileSync(join(directory, 'cut.jsonl.gz'), gzipSync(answers.join('\n')).subarray(0, 5_000));
  await expect(importAll({ blocks: [join(directory, 'cut*')] })).rejects.toThrow('no whole gzip');
});
