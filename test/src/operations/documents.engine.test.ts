import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { clusterStatements, guestStatements } from '../../../clickhouse/guest/sql.ts';
import { ENVIRONMENT } from '../../../core/config/environment.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { walletOf } from '../../../demo/chain/sender.ts';
import { contractsName, createCheckpoints } from '../../../ingest/write/checkpoints.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { openSandbox } from '../../../sandbox/open.ts';
import { openSqliteStore } from '../../../src/accounts/sqlite/store.ts';
import { isSigned, manifestFaults, parseManifest } from '../../../src/bundles/manifest.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { sqlTierSeconds } from '../../../src/operations/prices.ts';
import { addKey, createOrganization } from '../../kit/access.ts';
import { type TestApi, testApi, testClock } from '../../kit/api.ts';
import { docsQuestions } from '../../kit/docs-questions.ts';
import { type Commands, documentedCommands } from '../../kit/documented-commands.ts';
import { type DocumentedScripts, writeScripts } from '../../kit/documented-scripts.ts';
import { runShell } from '../../kit/documented-shell.ts';
import { codeBlocks, documentFiles } from '../../kit/documents.ts';
import { test } from '../../kit/fixtures.ts';
import { BUYER, SHOP } from '../../kit/market.ts';
import { BASE, hash, insertSettlements, reportChain, settlement } from '../../kit/rows.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';
import {
  jsonReply,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from '../../kit/scripted-facilitator.ts';
import { watchedLog, watchSecret } from '../../kit/secrets-watch.ts';
import { sellingThrough } from '../../kit/selling.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/**
 * Every code block of README.md and docs/ is carried out: requests reach the real application over a real engine, accounts are made
 * in its store, scripts run as processes, settings are read by the program. A block of a kind without a runner fails.
 */

const blocks = documentFiles().flatMap((file) => codeBlocks(file));
const ofLanguage = (language: string) =>
  blocks
    .filter((block) => block.language === language)
    .map((block) => [`${block.file}:${block.line}`, block] as const);

/** What a block's mark can say: the status of its requests, or of each in turn. */
const STATUS_MARK = /^status (\d{3}(?:, \d{3})*)$/;

const payer = walletOf('reader of the documentation');
const PAYER_ADDRESS = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';

let engine: SandboxEngine;
let facilitator: ScriptedFacilitator;
let api: TestApi;
let url: string;
let key: string;
let directory: string;
let closeAll: () => Promise<unknown>;

test.beforeAll(async ({ sandbox: engineOfWorker }) => {
  directory = dataDirectory();
  const stored = storeIn(join(directory, 'data'));
  engine = engineOfWorker;
  facilitator = await startScriptedFacilitator();
  facilitatorWorks();
  await insertSettlements(
    engine.writer,
    Array.from({ length: 5 }, (_, logIndex) => settlement({ logIndex, payer: BUYER, payee: SHOP })),
  );
  await reportChain(engine.writer, BASE);
  await createCheckpoints(
    { chain: BASE, contracts: contractsName([]) },
    engine.writer,
    createVersions(0n),
  ).saveHead({ start: 1, end: 2_000, hash: hash(2_000) });
  const log = watchedLog('documents');
  const reader = createReader(engine.access, log);
  const sandbox = openSandbox({
    access: engine.access,
    log,
    cores: 2,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  const clock = testClock(Math.floor(Date.now() / 1_000));
  api = await testApi(reader, {
    sandbox,
    clock,
    jobsOver: engine.access,
    config: sellingThrough(facilitator.url),
  });
  url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const { store } = api.access.access;
  key = watchSecret(
    await addKey(store, { organizationId: await createOrganization(store, { units: 1_000, plan: 'pro' }) }),
  );
  await stored;
  closeAll = async () => {
    await api.close();
    await sandbox.close();
    await Promise.all([reader.close(), facilitator.stop()]);
    rmSync(directory, { recursive: true, force: true });
  };
});
afterAll(() => closeAll?.());

function commands(): Commands {
  const { store } = api.access.access;
  return documentedCommands({ url, store, nowMs: () => api.clock.nowMs(), directory });
}

/** A place with the files of a service that ran. */
function dataDirectory(): string {
  const made = mkdtempSync(join(tmpdir(), 'settlement-index-documents-'));
  mkdirSync(join(made, 'data'));
  writeFileSync(join(made, 'settlement-index.config.json'), '{}');
  return made;
}

async function storeIn(dataDir: string): Promise<void> {
  const store = openSqliteStore({ path: join(dataDir, 'control.db') });
  await createOrganization(store, { units: 10 });
  await store.close();
}

/** Every payment is good and settles, also one of what was used only. */
function facilitatorWorks(): void {
  facilitator.onSupported = () =>
    jsonReply({
      kinds: [
        {
          x402Version: 2,
          scheme: 'upto',
          network: 'eip155:84532',
          extra: { facilitatorAddress: PAYER_ADDRESS },
        },
      ],
      signers: {},
    });
  facilitator.onVerify = () => jsonReply({ isValid: true, payer: payer.address });
  facilitator.onSettle = ({ body }) => {
    const { paymentRequirements } = JSON.parse(body) as {
      paymentRequirements: { network: string; amount?: string };
    }; // sent by us
    return jsonReply({
      success: true,
      transaction: `0x${'5e'.repeat(32)}`,
      network: paymentRequirements.network,
      payer: payer.address,
      ...(paymentRequirements.amount === undefined ? {} : { amount: paymentRequirements.amount }),
    });
  };
}

describe('every block', () => {
  const kinds = new Set(['sh', 'sql', 'json', 'ts', 'conf', 'html']);
  test('is of a kind that is carried out', () => {
    const others = blocks.filter(({ language }) => !kinds.has(language));
    expect(
      others.map(({ file, line, language }) => `${file}:${line} ${language || 'without a language'}`),
    ).toEqual([]);
    expect(blocks.length).toBeGreaterThan(60);
  });

  test('has a mark that means something, if any; none is left out', () => {
    const marked = blocks.filter(({ mark }) => mark !== '');
    const unclear = marked.filter(({ mark }) => !STATUS_MARK.test(mark));
    expect(unclear.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
  });
});

describe('a shell block', () => {
  test.each(ofLanguage('sh'))(
    '%s does what it says, with variables that the program reads',
    async (_place, block) => {
      const set = [...block.code.matchAll(/\b([A-Z][A-Z_0-9]*)=\S+(?= .*\bnpm )/g)].map(
        ([, name = '']) => name,
      );
      const isKnown = (name: string) => name in ENVIRONMENT || /^RPC_URL_\d+$/.test(name) || name === 'KEY';
      expect(set.filter((name) => !isKnown(name))).toEqual([]);
      const { names, sent, carryOut } = commands();
      const { code, output, errors } = await runShell(block.code, {
        commands: names,
        carryOut,
        variables: { URL: url, KEY: key },
      });
      expect({ code, errors, output: code === 0 ? '' : output }).toEqual({ code: 0, errors: '', output: '' });
      const statuses = (STATUS_MARK.exec(block.mark)?.[1] ?? '200').split(', ').map(Number);
      const others = sent.filter(({ status }, at) => status !== (statuses[at] ?? statuses[0]));
      expect(others).toEqual([]);
      const written = block.code.replace(/^\s*#.*$/gm, '').match(/\bcurl -/g) ?? [];
      expect(sent).toHaveLength(written.length);
    },
  );
});

describe('a SQL block', () => {
  const questions = new Set(docsQuestions().map(({ sql }) => sql.trimEnd()));
  const names = { database: 'settlement_index', guest: 'index_guest', writer: 'index_writer' };
  const users = [
    guestStatements(names),
    clusterStatements({ ...names, node: 'index_node', reader: 'index_reader' }),
  ].map((statements) => `${statements.join(';\n')};`);
  const mayHaveNoRows = /\bINTERVAL\b/;

  test.each(ofLanguage('sql'))('%s runs', async (_place, { file, code }) => {
    if (file === 'docs/cookbook.md')
      return expect(questions, 'run by test/docs/cookbook-results.engine.test.ts').toContain(code);
    if (file === 'docs/bundles.md') return; // for DuckDB: test/src/bundles/duckdb.engine.test.ts runs them all
    // For an engine of others: made by the statements that test/clickhouse/guest/guest-engine.engine.test.ts lets an engine read.
    if (code.startsWith('CREATE')) return expect(users).toContain(code);
    const answer = await ask({ sql: code });
    expect(answer).toMatchObject({ status: 200 });
    if (!mayHaveNoRows.test(code)) expect(answer.body).not.toContain('"rows":[]');
  });
});

async function ask(body: object): Promise<{ readonly status: number; readonly body: string }> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key };
  const answer = await fetch(`${url}/v0/sql`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.text() };
}

describe('a JSON block', () => {
  test.each(ofLanguage('json'))('%s has the form that the page shows', (_place, block) => {
    const value: unknown = JSON.parse(block.code);
    if (block.above?.language === 'sql')
      return expect(placeholders(block.above.code)).toEqual(Object.keys(Object(value)).sort());
    if (block.file === 'docs/reference/operations.md')
      return expect(OPERATIONS.map(({ example }) => JSON.stringify(example))).toContain(
        JSON.stringify(value),
      );
    if (typeof value === 'object' && value !== null && 'mcpServers' in value)
      return expectServers(value.mcpServers);
    if (block.file === 'docs/bundles.md') {
      const manifest = parseManifest(block.code);
      return expect(manifest !== null && manifestFaults(manifest).length === 0 && isSigned(manifest)).toBe(
        true,
      );
    }
    const file = join(directory, 'shown.config.json');
    writeFileSync(file, block.code.replaceAll('"0x…"', `"${PAYER_ADDRESS}"`));
    expect(() => loadConfig({ file, env: {} })).not.toThrow();
  });
});

function placeholders(sql: string): string[] {
  return [...new Set([...sql.matchAll(/\{(\w+):/g)].map(([, name = '']) => name))].sort();
}

/** As the clients read it: a server is an address with headers, or a command with its arguments, which are carried out. */
async function expectServers(servers: unknown): Promise<void> {
  const all = Object.values(Object(servers));
  expect(all.length).toBeGreaterThan(0);
  for (const server of all) {
    if ('url' in Object(server)) {
      expect(server).toMatchObject({
        type: 'http',
        url: expect.stringMatching(/\/mcp$/),
        headers: expect.any(Object),
      });
      continue;
    }
    const { command, args } = server as { command: string; args: string[] }; // or the next line says so
    const read = await commands().carryOut({ name: command, args });
    expect(read).toEqual({ code: 0, output: '' });
  }
}

describe('a script', () => {
  const scripts = ofLanguage('ts');
  let written: DocumentedScripts;

  beforeAll(() => {
    watchSecret(payer.privateKey);
    written = writeScripts(
      scripts.map(([, block]) => block),
      [
        ["'0x…'", `'${payer.privateKey}'`],
        ['https://index.example', url],
        ['http://127.0.0.1:8402', url],
        ['six_live_…', key],
      ],
      { URL: url, KEY: key },
    );
  });
  afterAll(() => written?.close());

  test('type-checks by the settings of the project', () => {
    expect(scripts.length).toBeGreaterThan(1);
    expect(written.complaints()).toEqual([]);
  });

  test('runs, and what it pays for settles', async () => {
    await ceilingsAreOffered();
    expect(await written.run()).toEqual([]);
    const paying = scripts.filter(([, { code }]) => /wrapFetchWithPayment|payWith/.test(code));
    expect(facilitator.calls.filter(({ path }) => path === '/settle')).toHaveLength(paying.length);
  });
});

/** The service asks its facilitator for that on its own account, after its start. */
function ceilingsAreOffered(): Promise<unknown> {
  return waitUntil('ceilings are offered', async () => {
    const answer = await fetch(`${url}/v0/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql: 'SELECT count() FROM settlements' }),
    });
    const offer = Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString();
    return offer.includes('"upto"');
  });
}

describe('an HTML block', () => {
  test.each(ofLanguage('html'))('%s frames pages that any site may frame', async (_place, { code }) => {
    const sources = [...code.matchAll(/<iframe src="https:\/\/index\.example(\/[^"]*)"/g)];
    expect(sources.length).toBe(code.match(/<\w/g)?.length);
    for (const [, path] of sources) {
      const { status, headers } = await fetch(`${url}${path}`);
      expect([status, headers.get('x-frame-options')]).toEqual([200, null]);
      expect(headers.get('content-type')).toContain('text/html');
      expect(headers.get('content-security-policy')).toMatch(/frame-ancestors \*(;|$)/);
    }
  });
});

describe('a settings block', () => {
  const advice = readFileSync(new URL('../../../src/accounts/redis/durability.ts', import.meta.url), 'utf8');
  test.each(ofLanguage('conf'))('%s has what the service asks for at its start', (_place, { code }) => {
    const lines = code.split('\n').map((line) => line.replace(/#.*/, '').trim().replace(/\s+/, ' '));
    for (const line of lines) expect(advice).toContain(`Set ${line}`);
  });
});
