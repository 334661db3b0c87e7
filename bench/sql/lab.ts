import { cpus } from 'node:os';
import { type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { engineMegabytes } from '../../clickhouse/guest/memory.ts';
import { systemClock } from '../../core/clock.ts';
import { PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { createMonthCopies } from '../../ingest/rollup/plain-months.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { type OpenSandbox, openSandbox } from '../../sandbox/open.ts';
import { sqlTierSeconds } from '../../src/operations/prices.ts';
import { addKey, createOrganization } from '../../test/kit/access.ts';
import { startApi } from '../lab/api.ts';
import { type BenchEngine, benchLog, rowsOf, run, startBenchEngine } from '../lab/engine.ts';
import { seedHistory } from '../lab/history.ts';
import { once } from '../lab/run.ts';

/** An index of a certain size behind the real API, its closed months merged, and a plain copy of what is visible of it. */
export interface SqlLab {
  readonly engine: BenchEngine;
  readonly sandbox: OpenSandbox;
  readonly url: string;
  readonly rows: number;
  /** Another organization every few calls: a tier has a rate limit of its own. */
  nextKey(): string;
}

const ROWS = { full: 10_000_000, quick: 300_000 };
const CUSTOMERS = 120;
/** Below the 10 a minute of the extended tier, whatever the clock says. */
const CALLS_PER_KEY = 8;
/** The guest may read everything in it. */
export const PUBLIC_DATABASE = 'settlement_index_public';
/** A copy of the settlements as one plain table, to compare the views with. */
export const PLAIN_TABLE = 'plain_settlements';

/** What `npm start` gives an engine on this machine. */
export const ENGINE_MEGABYTES = engineMegabytes(null);

export const sqlLab = once(async ({ sized, workspace, say, rows = sized(ROWS) }): Promise<SqlLab> => {
  const engine = await startBenchEngine(workspace, 'sql', { maxMemoryMegabytes: ENGINE_MEGABYTES });
  await seedHistory(engine, { rows, newestTime: Math.floor(Date.now() / 1_000) }, say);
  say('merging the months that are over');
  await mergeClosedMonths(engine);
  say('copying months for scans');
  await copyMonths(engine);
  say('copying what is visible into a plain table');
  await copyPlain(engine);
  const sandbox = openSandbox({
    access: engine.access,
    log: benchLog(),
    cores: cpus().length,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  workspace.defer(() => sandbox.close());
  const { url, store } = await startApi(workspace, { reader: engine.reader, sandbox });
  const keys: string[] = [];
  while (keys.length < CUSTOMERS) {
    const organizationId = await createOrganization(store, { units: 1_000_000, plan: 'enterprise' });
    keys.push(await addKey(store, { organizationId }));
  }
  let calls = 0;
  const nextKey = (): string => keys[Math.floor(calls++ / CALLS_PER_KEY) % keys.length] ?? '';
  return { engine, sandbox, url, rows, nextKey };
});

/** As the engine's merges do in time: a past month is one part, and FINAL has nothing to merge. */
async function mergeClosedMonths(engine: BenchEngine): Promise<void> {
  const months = await rowsOf(
    engine,
    sql`SELECT DISTINCT partition FROM system.parts
      WHERE active AND database = currentDatabase() AND table = 'settlements' ORDER BY partition`,
  );
  for (const [month] of months.slice(0, -1))
    await run(engine, trustedText(`OPTIMIZE TABLE settlements PARTITION ID '${String(month)}' FINAL`));
}

/** As the rollup worker does: every ended hour is in a copy. */
async function copyMonths({ writer }: BenchEngine): Promise<void> {
  const copies = createMonthCopies({
    writer,
    versions: createVersions(0n),
    log: benchLog(),
    clock: systemClock,
    limits: { closeAfterMs: 0, quietMs: 0, copyEveryMs: 0 },
  });
  while ((await copies.refresh()) !== null);
}

async function copyPlain(engine: BenchEngine): Promise<void> {
  const copy = `${PUBLIC_DATABASE}.${PLAIN_TABLE}`;
  const columns = PUBLIC_TABLES.settlements.columns.map(
    ({ name, type }) => `${name} ${type} ${codecOf(name, type)}`,
  );
  const statements: readonly Sql[] = [
    trustedText(
      `CREATE TABLE ${copy} (${columns.join(', ')}) ENGINE = MergeTree PARTITION BY toYYYYMM(block_time) ORDER BY (block_time, chain, block_number, log_index)`,
    ),
    trustedText(`INSERT INTO ${copy} SELECT * FROM ${PUBLIC_DATABASE}.settlements`),
    trustedText(`OPTIMIZE TABLE ${copy} FINAL`),
  ];
  for (const statement of statements) await run(engine, statement);
}

/** As the table behind the view packs its columns (migration 0001): views are compared here, not compressions. */
function codecOf(name: string, type: string): string {
  if (type.startsWith('LowCardinality')) return '';
  if (name === 'tx_hash') return 'CODEC(LZ4)';
  return name === 'block_time' || name === 'block_number' ? 'CODEC(Delta, ZSTD(1))' : 'CODEC(ZSTD(1))';
}
