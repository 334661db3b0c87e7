import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Config } from '../../../core/config/config.ts';
import { METRIC_PREFIX } from '../../../core/metric-families.ts';
import { UserError } from '../../../core/user-error.ts';
import { WORKER_PORT_OFFSET } from '../../observe/open.ts';

/** What a statement of ours cost the engine during a while, from the metrics of the service and of its workers. */
export interface StatementUse {
  readonly statement: string;
  /** `reader`, `writer` or `guest`. */
  readonly user: string;
  readonly perSecond: number;
  /** Seconds of statements in a second, round trips included: near processor time where little else runs. */
  readonly secondsPerSecond: number;
}

type MetricsAt = Config['metrics'];

const TIMEOUT_MS = 3_000;
/** Far more than a service has figures. */
const ANSWER_BYTES_MAX = 8_000_000;
const FAMILY = `${METRIC_PREFIX}engine_statement_seconds_`;
const SAMPLE = /^(sum|count)\{([^}]{0,500})\} (\S{1,40})$/;
const LABEL = /(statement|user)="([^"]{0,200})"/g;

/**
 * Reads the metrics twice, `seconds` apart; the largest share of time first. Throws a UserError where no service answers at `metrics.port`.
 */
export async function watchStatements(metrics: MetricsAt, seconds: number): Promise<StatementUse[]> {
  const before = await readTotals(metrics);
  await sleep(seconds * 1_000);
  const after = await readTotals(metrics);
  return [...after]
    .map(([key, { statement, user, count, sum }]) => ({
      statement,
      user,
      perSecond: (count - (before.get(key)?.count ?? 0)) / seconds,
      secondsPerSecond: (sum - (before.get(key)?.sum ?? 0)) / seconds,
    }))
    .filter(({ perSecond }) => perSecond > 0)
    .sort((one, other) => other.secondsPerSecond - one.secondsPerSecond);
}

/** Text of `/metrics`; null where nothing answers there. Throws a UserError where no port is configured. */
export async function readMetrics({ host, port }: MetricsAt, offset = 0): Promise<string | null> {
  if (port === null || port === 0)
    throw new UserError('metrics.port is not set: set it to 9464, for example, and start the service anew.');
  const at = `http://${host.includes(':') ? `[${host}]` : host}:${port + offset}/metrics`;
  try {
    const { body } = await request(at, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    const text = await body.text();
    return text.length > ANSWER_BYTES_MAX ? null : text;
  } catch {
    return null;
  }
}

interface Total {
  readonly statement: string;
  readonly user: string;
  count: number;
  sum: number;
}

async function readTotals(metrics: MetricsAt): Promise<Map<string, Total>> {
  const texts = await Promise.all([0, WORKER_PORT_OFFSET].map((offset) => readMetrics(metrics, offset)));
  const answered = texts.filter((text) => text !== null);
  if (answered.length === 0)
    throw new UserError('No service answers at metrics.port: start it, or correct the port.');
  const totals = new Map<string, Total>();
  for (const line of answered.flatMap((text) => text.split('\n'))) {
    if (!line.startsWith(FAMILY)) continue;
    const [, what, labels = '', value] = SAMPLE.exec(line.slice(FAMILY.length)) ?? [];
    if (what === undefined) continue; // a bucket of the histogram
    const { statement = '', user = '' } = Object.fromEntries(
      [...labels.matchAll(LABEL)].map(([, name, text]) => [name, text]),
    );
    const key = `${user} ${statement}`;
    const total = totals.get(key) ?? { statement, user, count: 0, sum: 0 };
    total[what === 'sum' ? 'sum' : 'count'] += Number(value);
    totals.set(key, total);
  }
  return totals;
}

const SHOWN_MAX = 25;
const SHARE_DIGITS = 1;

/** One line for each statement, the most expensive first, and one for those that are not shown. */
export function tableOf(uses: readonly StatementUse[], seconds: number): string[] {
  const total = uses.reduce((sum, { secondsPerSecond }) => sum + secondsPerSecond, 0);
  const count = uses.reduce((sum, { perSecond }) => sum + perSecond, 0);
  const row = (share: number, perSecond: number, cost: number, name: string): string =>
    [
      `${(100 * share).toFixed(SHARE_DIGITS)} %`.padStart(8),
      perSecond.toFixed(2).padStart(10),
      (1_000 * cost).toFixed(1).padStart(12),
      `  ${name}`,
    ].join('');
  const rest = uses.slice(SHOWN_MAX);
  const others = rest.reduce((sum, { secondsPerSecond }) => sum + secondsPerSecond, 0);
  return [
    `statements of this service in ${seconds} s: ${count.toFixed(1)} a second, ${(1_000 * total).toFixed(0)} ms of each second`,
    '   share  a second  ms a second  statement (user)',
    ...uses
      .slice(0, SHOWN_MAX)
      .map(({ statement, user, perSecond, secondsPerSecond }) =>
        row(secondsPerSecond / total, perSecond, secondsPerSecond, `${statement} (${user})`),
      ),
    ...(rest.length === 0
      ? []
      : [
          row(
            others / total,
            rest.reduce((sum, { perSecond }) => sum + perSecond, 0),
            others,
            `${rest.length} others`,
          ),
        ]),
  ];
}
