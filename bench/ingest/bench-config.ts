import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import type { Workspace } from '../support/workspace.ts';

/** A node on this machine needs no protection; everything else is the default of the product. */
const REQUESTS_PER_SECOND = 100_000;
const API_REQUESTS_PER_MINUTE = 1_000_000;

interface BenchChain {
  readonly name: string;
  readonly rpcUrl: string;
}

/** The service's configuration for a local chain, read through the product's own loader. */
export function benchConfig(workspace: Workspace, chain: BenchChain): Config {
  return loadConfig({ file: writeBenchConfig(workspace, chain), env: {} });
}

/** The same as a file, for a process of its own. */
export function writeBenchConfig(workspace: Workspace, options: BenchChain): string {
  const file = join(workspace.dir, `${options.name}.config.json`);
  writeFileSync(
    file,
    JSON.stringify({
      role: 'all',
      dataDir: join(workspace.dir, options.name),
      logLevel: 'error',
      // The feed reader that runs during a backfill sends no key.
      access: { anonymous: 'open' },
      http: { host: '127.0.0.1', port: 0, requestsPerMinute: API_REQUESTS_PER_MINUTE },
      chains: [
        {
          chain: 'base-sepolia',
          rpcUrls: [options.rpcUrl],
          startBlock: 0,
          requestsPerSecond: REQUESTS_PER_SECOND,
        },
      ],
    }),
  );
  return file;
}
