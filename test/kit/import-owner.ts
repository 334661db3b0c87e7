import { readFileSync } from 'node:fs';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import { createLog } from '../../core/log.ts';
import { importFiles } from '../../ingest/import/command.ts';
import type { ImportArguments } from '../../ingest/import/options.ts';

export interface ImportWork {
  readonly config: Config;
  readonly access: EngineAccess;
  readonly given: ImportArguments;
}

/** A process that imports, for a test that kills it. Reads what from stdin; small windows make many moments to be killed at. */
const { config, access, given } = JSON.parse(readFileSync(0, 'utf8')) as ImportWork; // written by killed-import.ts
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
  given,
);
