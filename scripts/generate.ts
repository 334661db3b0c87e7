import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { buildOpenApi } from '../src/openapi/document.ts';
import { ProblemShape } from '../src/openapi/problem.ts';
import { OPERATIONS } from '../src/operations/index.ts';
import { capabilityCatalogueBlock, capabilityRuleBlock } from './reference/capabilities.ts';
import { clientOperations, clientTokens, clientTypes } from './reference/client.ts';
import { configurationPage } from './reference/configuration.ts';
import { dataQualityBlock } from './reference/data-quality.ts';
import { deployUsers } from './reference/deploy-users.ts';
import { errorsPage } from './reference/errors.ts';
import { evidencePage } from './reference/evidence.ts';
import { fileProblemsBlock } from './reference/identities.ts';
import { importColumns } from './reference/import-columns.ts';
import { metricsBlock } from './reference/metrics.ts';
import { operationsPage } from './reference/operations.ts';
import { paymentStagesPage } from './reference/payment-stages.ts';
import {
  sqlFailuresBlock,
  sqlFormatsBlock,
  sqlFunctionsPage,
  sqlHeadersBlock,
  sqlTablesBlock,
  sqlTablesPage,
  sqlTiersBlock,
  sqlWarningsBlock,
} from './reference/sql.ts';

/**
 * Writes everything that can be derived: docs/reference, the users of deploy/clickhouse, and the blocks of some pages of docs
 * between `<!-- gen:NAME -->` marks. With `--check` it writes nothing and fails, naming each file that is not what the declarations say.
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
  'sql-failures': sqlFailuresBlock,
  'sql-formats': sqlFormatsBlock,
  'sql-headers': sqlHeadersBlock,
  'sql-tables': sqlTablesBlock,
  'sql-tiers': sqlTiersBlock,
  'sql-warnings': sqlWarningsBlock,
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

const files: Readonly<Record<string, string>> = {
  'docs/reference/errors.md': errorsPage(),
  'docs/reference/operations.md': operationsPage(OPERATIONS),
  'docs/reference/configuration.md': configurationPage(),
  'docs/reference/evidence.md': evidencePage(),
  'docs/reference/payment-stages.md': paymentStagesPage(),
  'docs/reference/sql-tables.md': sqlTablesPage(),
  'docs/reference/sql-functions.md': sqlFunctionsPage(),
  'docs/reference/openapi.json': `${JSON.stringify(openApi, null, 2)}\n`,
  'deploy/clickhouse/users.xml': deployUsers({ isCluster: false }),
  'deploy/clickhouse/users-cluster.xml': deployUsers({ isCluster: true }),
  'docs/methodology.md': fillBlocks('docs/methodology.md'),
  'docs/capabilities.md': fillBlocks('docs/capabilities.md'),
  'docs/identities.md': fillBlocks('docs/identities.md'),
  'docs/import.md': fillBlocks('docs/import.md'),
  'docs/observe.md': fillBlocks('docs/observe.md'),
  'docs/sql.md': fillBlocks('docs/sql.md'),
  'client/openapi.ts': await clientTypes(openApi),
  'client/operations.ts': clientOperations(OPERATIONS),
  'client/dollar-tokens.ts': clientTokens(),
};

const drifted = Object.entries(files).filter(([path, text]) => read(path) !== text);

if (process.argv.includes('--check')) {
  for (const [path] of drifted) console.error(`${path} is not what the declarations say: run npm run gen`);
  process.exitCode = drifted.length === 0 ? 0 : 1;
} else {
  for (const [path, text] of drifted) {
    const target = new URL(path, root);
    mkdirSync(dirname(target.pathname), { recursive: true });
    writeFileSync(target, text);
    console.log(`wrote ${path}`);
  }
}
