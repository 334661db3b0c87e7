import { readFileSync } from 'node:fs';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import { createLog } from '../../core/log.ts';
import { importFiles } from '../../ingest/import/command.ts';

/** A process that imports, for a test that kills it. Reads what from stdin; small windows make many moments to be killed at. */
const { config, access, pattern } = JSON.parse(readFileSync(0, 'utf8')) as {
  config: Config;
  access: EngineAccess;
  pattern: string;
}; // written by the test
await importFiles(
  {
    config,
    openEngine: () => Promise.resolve(access),
    log: createLog('silent', 'owner'),
    signal: new AbortController().signal,
    isTerminal: false,
    say: () => undefined,
    limits: { logsPerGroup: 1, candidatesPerWindow: 3 },
  },
  { parquet: [pattern], assumeFinal: true, allContracts: true },
);
