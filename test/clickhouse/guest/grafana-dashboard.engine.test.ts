import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { inspect } from '../../../sandbox/judge/inspect.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { test } from '../../kit/fixtures.ts';
import { marketRows } from '../../kit/market.ts';
import { BASE, insertSettlements, reportChain } from '../../kit/rows.ts';
import type { SandboxEngine } from '../../kit/sandbox-engine.ts';

/** docs/grafana/settlements.json: every query of it is judged and run as callers' SQL, over a market of some months. */

const DAY_SECONDS = 86_400;
const today = Math.floor(Date.now() / 1_000 / DAY_SECONDS) * DAY_SECONDS;
const [from, to] = [today - 400 * DAY_SECONDS, today + 2 * DAY_SECONDS];
const dayOf = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly type: string;
    readonly targets: readonly { readonly rawSql: string }[];
  }[];
}

const { panels } = JSON.parse(readFileSync('docs/grafana/settlements.json', 'utf8')) as Dashboard; // our own file
const queries = panels.flatMap(({ title, type, targets }) =>
  targets.map(({ rawSql }) => [title, { type, rawSql }] as const),
);

/** The plugin's macros (grafana/clickhouse-datasource, pkg/macros/macros.go). */
function expanded(text: string): string {
  return text
    .replace(
      /\$__timeFilter\((\w+)\)/g,
      (_, column) => `${column} >= toDateTime(${from}) AND ${column} <= toDateTime(${to})`,
    )
    .replace(
      /\$__dateFilter\((\w+)\)/g,
      (_, column) => `${column} >= toDate('${dayOf(from)}') AND ${column} <= toDate('${dayOf(to)}')`,
    )
    .replace(
      /\$__timeInterval\((\w+)\)/g,
      (_, column) => `toStartOfInterval(toDateTime(${column}), INTERVAL 3600 second)`,
    );
}

let engine: SandboxEngine;
test.beforeAll(async ({ sandbox }) => {
  engine = sandbox;
  await insertSettlements(engine.writer, marketRows(today));
  await reportChain(engine.writer, BASE);
});

describe('a panel of the dashboard', () => {
  test.each(queries)('%s is answered with rows', async (_title, { type, rawSql }) => {
    const plain = expanded(rawSql);
    expect(plain).not.toContain('$__');
    expect(plain).toMatch(/FROM default\.\w+/);
    const verdict = await inspect(
      plain.replace(/\bdefault\./g, ''),
      {},
      { parser: createEngineParser(engine.guest), policy: loadPolicy() },
    );
    if ('refused' in verdict) throw new Error(JSON.stringify(verdict.refused));
    const { text } = verdict.accepted;
    const rows = await engine.guest.explain({ name: 'dashboard', text, maxSeconds: 10 });
    expect(rows.length).toBeGreaterThan(0);
    if (type !== 'timeseries') return;
    const types = await engine.guest.explain({
      name: 'dashboard',
      text: `DESCRIBE (${text})`,
      maxSeconds: 10,
    });
    expect(types[0]?.slice(0, 2)).toEqual(['time', expect.stringMatching(/^DateTime/)]);
  });
});
