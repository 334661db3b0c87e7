import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BASELINE_FILE, baselineFile } from '../clickhouse/migrate/baseline.ts';
import { MIGRATIONS_DIRECTORY } from '../clickhouse/migrate/migrations.ts';
import { buildOpenApi } from '../src/openapi/document.ts';
import { ProblemShape } from '../src/openapi/problem.ts';
import { OPERATIONS } from '../src/operations/index.ts';
import { drawings } from './drawings/all.ts';
import { JUDGED_FILE, judgedPatterns, SlowPatterns } from './patterns/judged.ts';
import { capabilityCatalogueBlock, capabilityRuleBlock } from './reference/capabilities.ts';
import { clientOperations, clientTokens, consoleChains, consoleTokens } from './reference/client.ts';
import { clientTypes } from './reference/client-types.ts';
import { compatibilityPage } from './reference/compatibility.ts';
import { configurationPage } from './reference/configuration.ts';
import { dataQualityBlock, payReasonsBlock } from './reference/data-quality.ts';
import { deployUsers } from './reference/deploy-users.ts';
import { errorsPage } from './reference/errors.ts';
import { evidencePage } from './reference/evidence.ts';
import { fileProblemsBlock } from './reference/identities.ts';
import { importColumns } from './reference/import-columns.ts';
import { metricsBlock } from './reference/metrics.ts';
import { operationsPage } from './reference/operations.ts';
import { paymentStagesPage } from './reference/payment-stages.ts';
import { processMemoryBlock } from './reference/process-memory.ts';
import { rankingsBlock } from './reference/rankings.ts';
import {
  queryMemoryBlock,
  sqlAnswersPage,
  sqlFormatsBlock,
  sqlFunctionsPage,
  sqlTablesBlock,
  sqlTablesPage,
  sqlTiersBlock,
} from './reference/sql.ts';
import { workedQueries } from './reference/worked-queries.ts';

/**
 * `npm run gen` writes everything that follows from the declarations: docs/reference, the users of deploy/clickhouse, the blocks of some
 * pages of docs between `<!-- gen:NAME -->` marks, the list of the regular expressions that were judged (scripts/patterns), and the types
 * of the client, which are built and not committed.
 *
 * - `npm run gen:check` writes the types alone, and fails, naming each committed file that is not what the declarations say.
 * - `--built` writes the types and stops there: what `npm ci`, `npm run types` and `npm run build` begin with.
 * - `npm run gen -- results` writes the results of docs/cookbook.md, for which an engine is started; a test compares them.
 * - `npm run gen -- functions` reads the functions of the engine that is installed into sandbox/functions.json.
 */

const root = new URL('../', import.meta.url);
const read = (path: string): string | undefined => {
  try {
    return readFileSync(new URL(path, root), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

const BLOCKS: Readonly<Record<string, () => string>> = {
  'capability-catalogue': capabilityCatalogueBlock,
  'capability-rule': capabilityRuleBlock,
  'data-quality': dataQualityBlock,
  'file-problems': fileProblemsBlock,
  'import-columns': importColumns,
  metrics: metricsBlock,
  'pay-reasons': payReasonsBlock,
  'process-memory': processMemoryBlock,
  rankings: rankingsBlock,
  'sql-formats': sqlFormatsBlock,
  'sql-tables': sqlTablesBlock,
  'sql-tiers': sqlTiersBlock,
  'query-memory': queryMemoryBlock,
};

function fillBlocks(path: string): string {
  const before = read(path) ?? '';
  return Object.entries(BLOCKS).reduce((text, [name, make]) => {
    const block = new RegExp(`(<!-- gen:${name} -->)[\\s\\S]*?(<!-- /gen:${name} -->)`);
    return text.replace(block, (_all, open: string, close: string) => `${open}\n${make()}${close}`);
  }, before);
}

function versionOfPackage(): string {
  const { version } = JSON.parse(read('package.json') ?? '{}') as { version?: string }; // our own file
  if (version === undefined) throw new Error('package.json has no version');
  return version;
}

const openApi = buildOpenApi({
  operations: OPERATIONS,
  problem: ProblemShape,
  version: versionOfPackage(),
  publicUrl: '',
});

/** Frozen as soon as there is a second migration: what is applied never changes. */
function baseline(): Readonly<Record<string, string>> {
  const others = readdirSync(MIGRATIONS_DIRECTORY).filter(
    (name) => name.endsWith('.sql') && name !== BASELINE_FILE,
  );
  return others.length > 0 ? {} : { [`clickhouse/migrations/${BASELINE_FILE}`]: baselineFile() };
}

const committed = (): Readonly<Record<string, string>> => ({
  ...baseline(),
  'docs/compatibility.md': compatibilityPage(),
  'docs/reference/errors.md': errorsPage(),
  'docs/reference/operations.md': operationsPage(OPERATIONS),
  'docs/reference/configuration.md': configurationPage(),
  'docs/reference/evidence.md': evidencePage(),
  'docs/reference/payment-stages.md': paymentStagesPage(),
  'docs/reference/sql-tables.md': sqlTablesPage(),
  'docs/reference/sql-answers.md': sqlAnswersPage(),
  'docs/reference/sql-functions.md': sqlFunctionsPage(),
  'docs/reference/openapi.json': `${JSON.stringify(openApi, null, 2)}\n`,
  'deploy/clickhouse/users.xml': deployUsers({ isCluster: false }),
  'deploy/clickhouse/users-cluster.xml': deployUsers({ isCluster: true }),
  ...drawings(),
  'docs/methodology.md': fillBlocks('docs/methodology.md'),
  'docs/capabilities.md': fillBlocks('docs/capabilities.md'),
  'docs/identities.md': fillBlocks('docs/identities.md'),
  'docs/import.md': fillBlocks('docs/import.md'),
  'docs/observe.md': fillBlocks('docs/observe.md'),
  'docs/scale.md': fillBlocks('docs/scale.md'),
  'docs/sql.md': fillBlocks('docs/sql.md'),
  'client/operations.ts': clientOperations(OPERATIONS),
  'client/dollar-tokens.ts': clientTokens(),
  'console/chain-names.ts': consoleChains(),
  'console/token-symbols.ts': consoleTokens(),
  'console/sql/worked-queries.json': workedQueries(),
});

/** Nothing where a pattern is slow, which is said. */
async function judged(): Promise<Readonly<Record<string, string>>> {
  try {
    return { [JUDGED_FILE]: await judgedPatterns(root.pathname, read(JUDGED_FILE) ?? '') };
  } catch (error) {
    if (!(error instanceof SlowPatterns)) throw error;
    console.error(error.message);
    process.exitCode = 1;
    return {};
  }
}

type Files = readonly (readonly [path: string, text: string])[];

const drifted = (files: Readonly<Record<string, string>>): Files =>
  Object.entries(files).filter(([path, text]) => read(path) !== text);

/** In one step: the compiler may be reading the file that it replaces. */
function write(files: Files): void {
  for (const [path, text] of files) {
    const target = new URL(path, root);
    const whole = new URL(`${path}.${process.pid}.tmp`, root);
    mkdirSync(dirname(target.pathname), { recursive: true });
    writeFileSync(whole, text);
    renameSync(whole, target);
    console.log(`wrote ${path}`);
  }
}

/** By the test that compares them. */
function writeResults(): void {
  const { status } = spawnSync('npx', ['vitest', 'run', 'test/docs/cookbook-results.engine.test.ts'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, WRITE_RESULTS: '1' },
  });
  process.exitCode = status ?? 1;
}

const [mode = ''] = process.argv.slice(2);
if (mode === 'functions') await import('./generate-functions.ts');
else if (mode === 'results') writeResults();
else {
  write(drifted({ 'client/openapi.ts': await clientTypes(openApi) }));
  if (mode === '') {
    write(drifted(committed()));
    write(drifted(await judged()));
  }
  if (mode === '--check') {
    const stale = drifted({ ...committed(), ...(await judged()) });
    for (const [path] of stale) console.error(`${path} is not what the declarations say: run npm run gen`);
    if (stale.length > 0) process.exitCode = 1;
  }
}
