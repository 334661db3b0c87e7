import { cpSync } from 'node:fs';

/** What tsc does not emit but the program reads at run time, relative to the files that read it. */
cpSync('clickhouse/migrations', 'dist/clickhouse/migrations', { recursive: true });
cpSync('src/control/sqlite/migrations', 'dist/src/control/sqlite/migrations', { recursive: true });
cpSync('ingest/catalogues/facilitator-relayers.json', 'dist/ingest/catalogues/facilitator-relayers.json');
