import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Value } from '@sinclair/typebox/value';
import type { Config } from './config.ts';
import { type Environment, overrideFromEnvironment } from './environment.ts';
import { ConfigProblem, hideSecrets } from './problem.ts';
import { resolveConfig } from './resolve.ts';
import { ConfigSchema, type FileConfig } from './schema.ts';

const DEFAULT_CONFIG_FILE = 'settlement-index.config.json';

/**
 * Loads, overrides, checks. `file` is what the user named on the command line; without it the default file is used when
 * it exists. Throws `ConfigProblem` with every problem at once.
 */
export function loadConfig(options: { readonly file?: string; readonly env?: Environment } = {}): Config {
  const env = options.env ?? process.env;
  const raw = overrideFromEnvironment(readConfigFile(options.file, env), env);
  const filled = Value.Default(ConfigSchema, Value.Clone(raw));
  const problems = [...Value.Errors(ConfigSchema, filled)].map(
    ({ path, message, value }) =>
      `${path === '' ? 'configuration' : path.slice(1).replaceAll('/', '.')}: ${message}, not ${JSON.stringify(value) ?? 'absent'}`,
  );
  if (problems.length > 0) throw new ConfigProblem([...new Set(problems.map(hideSecrets))]);
  return resolveConfig(filled as FileConfig);
}

function readConfigFile(named: string | undefined, env: Environment): Record<string, unknown> {
  const path = resolve(named ?? env['SETTLEMENT_INDEX_CONFIG'] ?? DEFAULT_CONFIG_FILE);
  if (!existsSync(path)) {
    if (named !== undefined || env['SETTLEMENT_INDEX_CONFIG'] !== undefined)
      throw new ConfigProblem([`there is no file ${path}`]);
    return {};
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>; // checked by the schema right after
  } catch (cause) {
    throw new ConfigProblem([
      `${path} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
    ]);
  }
}
