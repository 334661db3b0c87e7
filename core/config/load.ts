import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { chainIdOf, chainOf } from '../domain/chain.ts';
import { knownChain } from '../domain/known-chains.ts';
import { readCatalogueFile } from './catalogue-file.ts';
import { checked, readJsonObject } from './checked-file.ts';
import type { Config } from './config.ts';
import { type Environment, overrideFromEnvironment } from './environment.ts';
import { configProblems } from './problem.ts';
import { resolveConfig } from './resolve.ts';
import { ConfigSchema } from './schema.ts';
import { withValueFiles } from './value-files.ts';

/** With the id of the chain, and perhaps the file that holds the value. */
const RPC_URL_OF = /^RPC_URL_(\d{1,15})(?:_FILE)?$/;
const DEFAULT_CONFIG_FILE = 'settlement-index.config.json';

/**
 * Loads, overrides, checks. `file` is what the user named on the command line; without it the default file is used when
 * it exists. Throws `UserError` with every problem at once.
 */
export function loadConfig(options: { readonly file?: string; readonly env?: Environment } = {}): Config {
  const env = withValueFiles(options.env ?? process.env);
  const path = configPath(options.file, env);
  const raw = overrideFromEnvironment(path === null ? {} : readJsonObject(path), env);
  const config = resolveConfig(checked(ConfigSchema, raw), path);
  // A catalogue file that is broken from the beginning is a mistake of the configuration like any other.
  if (config.catalogue.file !== null) readCatalogueFile(config.catalogue.file);
  return config;
}

/** Says which RPC URLs of the environment no chain of the configuration takes: a slip of the id, or a chain that is not listed. */
export function unusedRpcUrls({ chains }: Pick<Config, 'chains'>, env: Environment = process.env): string[] {
  const used = new Set(chains.map(({ chain }) => String(chainIdOf(chain))));
  return Object.entries(env).flatMap(([name, value]) => {
    const id = RPC_URL_OF.exec(name)?.[1];
    if (id === undefined || used.has(id) || !value) return [];
    const what =
      knownChain(chainOf(Number(id))) === undefined
        ? 'no chain that is known here has this id'
        : 'this chain is not configured (CHAINS)';
    return [`${name} is not used: ${what}`];
  });
}

/** Null when the user named no file and the default one does not exist. */
function configPath(named: string | undefined, env: Environment): string | null {
  const path = resolve(named ?? env['SETTLEMENT_INDEX_CONFIG'] ?? DEFAULT_CONFIG_FILE);
  if (existsSync(path)) return path;
  if (named !== undefined || env['SETTLEMENT_INDEX_CONFIG'] !== undefined)
    throw configProblems([`there is no file ${path}`]);
  return null;
}
