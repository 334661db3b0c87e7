import { cpSync } from 'node:fs';

/** What tsc does not emit but the program reads at run time, relative to the files that read it. */
const ASSETS = [
  'clickhouse/embedded/host.mjs',
  'clickhouse/migrations',
  'console/style/tokens.css',
  'docs',
  'ingest/catalogues/facilitator-relayers.json',
  'sandbox/functions.json',
  'src/control/redis/lua',
  'src/control/sqlite/migrations',
  'src/docs-site/assets',
];

for (const asset of ASSETS) cpSync(asset, `dist/${asset}`, { recursive: true });
