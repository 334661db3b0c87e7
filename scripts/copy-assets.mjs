import { cpSync } from 'node:fs';

/** What tsc does not emit but the program reads at run time, relative to the files that read it. */
const ASSETS = [
  'clickhouse/embedded/host.mjs',
  'clickhouse/migrations',
  'console/style/page.css',
  'console/style/tokens.css',
  'docs',
  'ingest/grading/facilitator-fee-payers.json',
  'ingest/grading/facilitator-relayers.json',
  'sandbox/dialects/grammars',
  'sandbox/policy/functions.json',
  'src/accounts/redis/lua',
  'src/accounts/sqlite/migrations',
  'src/docs-site/assets',
  'src/http/share/fonts',
];

// Types of scripts are for the compiler alone.
const isRead = (source) => !source.endsWith('.d.ts');
for (const asset of ASSETS) cpSync(asset, `dist/${asset}`, { recursive: true, filter: isRead });
