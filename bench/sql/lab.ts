import { cpus } from 'node:os';
import { trustedText } from '../../clickhouse/engine/sql.ts';
import { systemClock } from '../../core/clock.ts';
import { loadConfig } from '../../core/config/load.ts';
import { PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { createMonthCopies } from '../../ingest/rollup/plain-months.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { type OpenSandbox, openSandbox } from '../../sandbox/open.ts';
import { buildApp } from '../../src/http/app.ts';
import { sqlTierSeconds } from '../../src/operations/prices.ts';
import { addKey, createOrganization, openTestAccess } from '../../test/kit/access.ts';
import { type BenchEngine, benchLog, startBenchEngine } from '../support/bench-engine.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { seedHistory } from '../support/seed-history.ts';

/** An index of a certain size behind the real API, its closed months merged, and a plain copy of what is visible of it. */
export interface SqlLab {
  readonly engine: BenchEngine;
  readonly sandbox: OpenSandbox;
  readonly url: string;
  readonly rows: number;
  /** Another organization every few calls: a tier has a rate limit of its own. */
  nextKey(): string;
}

const ROWS = 10_000_000;
const ROWS_QUICK = 300_000;
const REQUESTS_PER_MINUTE_MAX = 1_000_000;
const MAINTENANCE_SECONDS_MAX = 1_800;
const CUSTOMERS = 120;
/** Below the 30 a minute of the standard tier, whatever the clock says. */
const CALLS_PER_KEY = 20;
/** The public database: the guest may read everything in it. */
const PUBLIC = trustedText('settlement_index_public');

/** A copy of the settlements as one plain table, to compare the views with. */
export const PLAIN_TABLE = 'plain_settlements';

let lab: Promise<SqlLab> | undefined;

/** One for all parts: making it takes most of the time. */
export function sqlLab(context: BenchContext): Promise<SqlLab> {
  lab ??= openLab(context);
  return lab;
}

async function openLab({ quick, workspace, say }: BenchContext): Promise<SqlLab> {
  const engine = await startBenchEngine(workspace, 'sql');
  const rows = quick ? ROWS_QUICK : ROWS;
  await seedHistory(engine.writer, { rows, newestTime: Math.floor(Date.now() / 1_000) }, say);
  await mergeClosedMonths(engine, say);
  await copyMonths(engine, say);
  await copyPlain(engine, say);
  const log = benchLog();
  const sandbox = openSandbox({
    access: engine.access,
    log,
    cores: cpus().length,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  workspace.defer(() => sandbox.close());
  const { url, keys } = await startApi(engine, sandbox, workspace);
  let calls = 0;
  return {
    engine,
    sandbox,
    url,
    rows,
    nextKey: () => keys[Math.floor(calls++ / CALLS_PER_KEY) % keys.length] ?? '',
  };
}

/** As the engine's merges do in time: a past month is one part, and FINAL has nothing to merge. */
async function mergeClosedMonths({ writer }: BenchEngine, say: (line: string) => void): Promise<void> {
  say('merging the months that are over');
  const { rows } = await writer.rows({
    name: 'bench-months',
    maxSeconds: MAINTENANCE_SECONDS_MAX,
    maxRows: 100,
    sql: trustedText(
      "SELECT DISTINCT partition FROM system.parts WHERE active AND database = currentDatabase() AND table = 'settlements' ORDER BY partition",
    ),
  });
  for (const [month] of rows.slice(0, -1)) {
    await writer.run({
      name: 'bench-merge',
      maxSeconds: MAINTENANCE_SECONDS_MAX,
      sql: trustedText(`OPTIMIZE TABLE settlements PARTITION ID '${String(month)}' FINAL`),
    });
  }
}

/** As the rollup worker does: every ended hour is in a copy. */
async function copyMonths({ writer }: BenchEngine, say: (line: string) => void): Promise<void> {
  say('copying months for scans');
  const copies = createMonthCopies({
    writer,
    versions: createVersions(0n),
    log: benchLog(),
    clock: systemClock,
    limits: { closeAfterMs: 0, quietMs: 0, copyEveryMs: 0 },
  });
  while ((await copies.refresh()) !== null);
}

async function copyPlain({ writer }: BenchEngine, say: (line: string) => void): Promise<void> {
  say('copying what is visible into a plain table');
  const run = (text: ReturnType<typeof trustedText>) =>
    writer.run({ name: 'bench-plain', maxSeconds: MAINTENANCE_SECONDS_MAX, sql: text });
  const [database] = PUBLIC.parts;
  const source = `${String(database)}.settlements`;
  const copy = `${String(database)}.${PLAIN_TABLE}`;
  const columns = PUBLIC_TABLES.settlements.columns.map(
    ({ name, type }) => `${name} ${type} ${codecOf(name, type)}`,
  );
  await run(
    trustedText(
      `CREATE TABLE ${copy} (${columns.join(', ')}) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, chain, block_number, log_index)`,
    ),
  );
  await run(trustedText(`INSERT INTO ${copy} SELECT * FROM ${source}`));
  await run(trustedText(`OPTIMIZE TABLE ${copy} FINAL`));
}

/** As the table behind the view packs its columns (migration 0001): views are compared here, not compressions. */
function codecOf(name: string, type: string): string {
  if (type.startsWith('LowCardinality')) return '';
  if (name === 'tx_hash') return 'CODEC(NONE)';
  return name === 'block_time' || name === 'block_number' ? 'CODEC(Delta, ZSTD(1))' : 'CODEC(ZSTD(1))';
}

async function startApi(
  engine: BenchEngine,
  sandbox: OpenSandbox,
  workspace: BenchContext['workspace'],
): Promise<{ url: string; keys: string[] }> {
  const loaded = loadConfig({ env: { CHAINS: 'base,polygon,avalanche,sei,arbitrum' } });
  const enterprise = { ...loaded.plans.enterprise, requestsPerMinute: REQUESTS_PER_MINUTE_MAX };
  const config = { ...loaded, plans: { ...loaded.plans, enterprise } };
  const log = benchLog();
  const { access, close } = await openTestAccess({ config, clock: systemClock, log });
  workspace.defer(close);
  const app = buildApp({
    ...access,
    config,
    reader: engine.reader,
    sandbox,
    cursorKeys: { keys: [Buffer.alloc(32, 1)] },
    log,
    clock: systemClock,
    version: 'bench',
  });
  workspace.defer(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const keys: string[] = [];
  for (let index = 0; index < CUSTOMERS; index++) {
    const organizationId = await createOrganization(access.store, { units: 1_000_000, plan: 'enterprise' });
    keys.push(await addKey(access.store, { organizationId }));
  }
  return { url, keys };
}
