import { request } from 'undici';
import type { Config } from '../../../core/config/config.ts';
import { METRIC_PREFIX } from '../../../core/metric-families.ts';
import { OPEN_TO } from '../../../sandbox/sandbox.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';

const TIMEOUT_MS = 3_000;
const OPEN = new RegExp(`^${METRIC_PREFIX}sql_open_to(?:\\{[^}]*\\})? (\\d)$`, 'm');

/** Whose SQL the running service runs, which only it knows: read from its `/metrics`. */
export async function checkSql({ metrics: { host, port } }: Pick<Config, 'metrics'>): Promise<Finding> {
  if (port === null || port === 0)
    return skipped('sql', 'metrics.port is not set; the log of the service says whose SQL it runs');
  let text: string;
  try {
    const timeout = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS };
    const { body } = await request(urlOf(host, port), timeout);
    text = await body.text();
  } catch {
    return skipped('sql', 'no service answers at metrics.port');
  }
  const value = OPEN.exec(text)?.[1];
  if (value === undefined) return skipped('sql', 'what answers at metrics.port runs no SQL');
  return judgeOpenTo(OPEN_TO[OPEN_TO.length - 1 - Number(value)]);
}

function urlOf(host: string, port: number): URL {
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`);
}

function judgeOpenTo(openTo: (typeof OPEN_TO)[number] | undefined): Finding {
  if (openTo === 'everyone') return ok('sql', 'run for everyone');
  if (openTo === 'organizations')
    return warning(
      'sql',
      'run for organizations only: several queries could not be stopped',
      'It is run for everyone again an hour after the last one. See "Queries that cannot be stopped" in docs/operators.md.',
    );
  return failure(
    'sql',
    'run for no caller: queries could not be stopped again and again',
    'See "Queries that cannot be stopped" in docs/operators.md, then start the service anew.',
  );
}
