import { readFileSync } from 'node:fs';
import { ENVIRONMENT, type Environment } from './environment.ts';
import { configProblems } from './problem.ts';

const SUFFIX = '_FILE';
const RPC_URL = /^RPC_URL_\d+$/;

/**
 * Values that lie in files: `CLICKHOUSE_PASSWORD_FILE=/run/secrets/clickhouse` stands for `CLICKHOUSE_PASSWORD` with the text of that
 * file, without the line's end. So no secret is in the environment, which every child inherits and `docker inspect` shows. Throws
 * `UserError` for a file that cannot be read, and where both are set.
 */
export function withValueFiles(env: Environment): Environment {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const [name, path] of Object.entries(env)) {
    const base = name.slice(0, -SUFFIX.length);
    if (!name.endsWith(SUFFIX) || !(base in ENVIRONMENT || RPC_URL.test(base)) || !path) continue;
    if (env[base]) problems.push(`${base} and ${name} are both set`);
    else values[base] = readValue(name, path, problems);
  }
  if (problems.length > 0) throw configProblems(problems);
  return { ...env, ...values };
}

function readValue(name: string, path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch {
    problems.push(`${name} names a file that cannot be read: ${path}`);
    return '';
  }
}
