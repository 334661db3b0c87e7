import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openForSearch } from '../clickhouse/embedded/user.ts';
import type { Config } from '../core/config/config.ts';

/** Not to be listed by others; what is in it says itself who may read it. */
const DIRECTORY_MODE = 0o700;

/** The directory of the embedded engine, in the data directory: apart from the service's secrets and accounts, which lie beside it. */
export function engineHome({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'clickhouse');
}

/** Makes it. Where we are root, the engine runs as a user of its own, who has to pass the data directory to get to it. */
export function makeEngineHome(config: Pick<Config, 'dataDir'>): string {
  const home = engineHome(config);
  try {
    mkdirSync(home, { recursive: true, mode: DIRECTORY_MODE });
    if (process.geteuid?.() === 0) openForSearch(config.dataDir);
  } catch {
    // The engine's start comes to the same end, and says it in words for the operator.
  }
  return home;
}
