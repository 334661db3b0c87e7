import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect } from 'vitest';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { openSandbox } from '../../../sandbox/open.ts';
import { createDocsSite } from '../../../src/docs-site/docs-site.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { sqlTierSeconds } from '../../../src/operations/prices.ts';
import { addKey, createOrganization } from '../../kit/access.ts';
import { type TestApi, testApi, testClock } from '../../kit/api.ts';
import { documentedCommands } from '../../kit/documented-commands.ts';
import { writeScripts } from '../../kit/documented-scripts.ts';
import { runShell } from '../../kit/documented-shell.ts';
import { type CodeBlock, codeBlocks } from '../../kit/documents.ts';
import { test } from '../../kit/fixtures.ts';
import { BASE, reportChain } from '../../kit/rows.ts';
import { watchedLog, watchSecret } from '../../kit/secrets-watch.ts';

/** The requests that the pages of operations show, sent to the real application as a reader would send them. */

const site = createDocsSite({ operations: OPERATIONS, publicUrl: '' });
const run = promisify(execFile);
const PYTHON_MAX_MS = 60_000;

/** Operations whose example names a thing of its caller, which is not there: a job, a result and its links, a key. */
const ABOUT_NOTHING: readonly string[] = [
  'changeAccountKey',
  'revokeAccountKey',
  'getSqlJob',
  'cancelSqlJob',
  'getResult',
  'shareResult',
  'listResultShares',
  'revokeResultShare',
  'getSharedResult',
];
/** Of what others ask for, and what ends it. */
const ORDER = ['claimHandle', 'saveQuery', 'putTable'];
const LAST = ['deleteSavedQuery', 'deleteTable'];

const free = OPERATIONS.filter(({ price, id }) => price.class === 'free' && !ABOUT_NOTHING.includes(id))
  .map(({ id }) => id)
  .sort((a, b) => placeOf(a) - placeOf(b));

function placeOf(id: string): number {
  if (LAST.includes(id)) return 1;
  return ORDER.includes(id) ? ORDER.indexOf(id) - ORDER.length : 0;
}

function requestOf(id: string, language: string): CodeBlock {
  const blocks = codeBlocks(id, String(site.markdown(`operations/${id}`)?.body));
  const found = blocks.find((block) => block.language === language);
  if (found === undefined) throw new Error(`the page of ${id} has no request in ${language}`);
  return found;
}

let api: TestApi;
let url: string;
let key: string;
let closeAll: () => Promise<unknown>;

test.beforeAll(async ({ sandbox: engine }) => {
  await reportChain(engine.writer, BASE);
  const log = watchedLog('operation-requests');
  const reader = createReader(engine.access, log);
  const sandbox = openSandbox({
    access: engine.access,
    log,
    cores: 2,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  const clock = testClock(Math.floor(Date.now() / 1_000));
  api = await testApi(reader, { sandbox, clock, jobsOver: engine.access });
  url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const { store } = api.access.access;
  const organizationId = await createOrganization(store, { units: 1_000, plan: 'pro' });
  key = watchSecret(await addKey(store, { organizationId }));
  closeAll = async () => {
    await api.close();
    await sandbox.close();
    await reader.close();
  };
});
afterAll(() => closeAll?.());

describe('the request of a free operation', () => {
  test.each(free)('%s is answered to curl', async (id) => {
    const { names, sent, carryOut } = documentedCommands({
      url,
      store: api.access.access.store,
      nowMs: () => api.clock.nowMs(),
      directory: '/nowhere',
    });
    const { code } = requestOf(id, 'sh');
    const ran = await runShell(code, { commands: names, carryOut, variables: { KEY: key } });
    expect([ran.code, ran.errors]).toEqual([0, '']);
    const expected = OPERATIONS.find((operation) => operation.id === id)?.status ?? 200;
    expect(sent.map(({ status, body }) => (status === expected ? status : body))).toEqual([expected]);
  });

  test('is answered to TypeScript, which compiles', async () => {
    const scripts = writeScripts(
      free.map((id) => requestOf(id, 'ts')),
      [['https://index.example', url]],
      { KEY: key },
    );
    try {
      expect(scripts.complaints()).toEqual([]);
      expect(await scripts.run()).toEqual([]);
    } finally {
      scripts.close();
    }
  });

  test('is answered to Python', async ({ skip }) => {
    if (!(await hasPython())) skip('python3 is not there');
    const script = free.map((id) => requestOf(id, 'python').code.replaceAll('https://index.example', url));
    await runPython(script.join('\n'));
  });
});

test('the request of every operation is TypeScript that compiles and Python that parses', async ({
  skip,
}) => {
  const ids = OPERATIONS.map(({ id }) => id);
  const scripts = writeScripts(
    ids.map((id) => requestOf(id, 'ts')),
    [],
    {},
  );
  expect(scripts.complaints()).toEqual([]);
  scripts.close();
  if (!(await hasPython())) skip('python3 is not there');
  const texts = JSON.stringify(ids.map((id) => requestOf(id, 'python').code));
  await runPython(
    `import json\nfor text in json.loads(${JSON.stringify(texts)}): compile(text, "request", "exec")`,
  );
});

async function hasPython(): Promise<boolean> {
  return run('python3', ['--version']).then(
    () => true,
    () => false,
  );
}

/** Rejects with what Python says of a script that fails. */
async function runPython(script: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-python-'));
  try {
    const file = join(directory, 'requests.py');
    writeFileSync(file, script);
    await run('python3', [file], { env: { ...process.env, KEY: key }, timeout: PYTHON_MAX_MS });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
