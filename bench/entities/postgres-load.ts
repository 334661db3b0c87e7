import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import { timed } from '../support/quantiles.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
import { copyInto, type PostgresSession } from './postgres-session.ts';

/**
 * The same rows as a PostgreSQL engineer would keep them: narrow types (bytea addresses, small integers for names, micros of a
 * dollar as bigint), the fixed columns first. Names are numbered in their own order, so that sorting by number sorts by name.
 */
const TABLE = `CREATE TABLE settlements (
  block_time timestamptz NOT NULL, block_number bigint NOT NULL, micros bigint NOT NULL, log_index integer NOT NULL,
  seen integer NOT NULL, chain smallint NOT NULL, facilitator smallint NOT NULL, method smallint NOT NULL, asset smallint NOT NULL,
  payer bytea NOT NULL, payee bytea NOT NULL, relayer bytea NOT NULL, tx_hash bytea NOT NULL,
  amount numeric(78, 0) NOT NULL)`;
const COPY = 'COPY settlements FROM STDIN (FORMAT csv, FREEZE)';
const ROWS = `SELECT concat(toString(block_time), '+00'), block_number, toInt64(amount_usd * 1000000), log_index, seen,
    indexOf((SELECT arraySort(groupUniqArray(chain)) FROM settlements), chain),
    indexOf((SELECT arraySort(groupUniqArray(facilitator)) FROM settlements), facilitator) - 1, toUInt8(method), 1,
    concat('\\\\x', lower(hex(payer))), concat('\\\\x', lower(hex(payee))), concat('\\\\x', lower(hex(relayer))),
    concat('\\\\x', lower(hex(tx_hash))), toString(amount)
  FROM settlements FINAL WHERE del = 0 FORMAT CSV`;
/** The order of every list. */
const NEWEST_FIRST = 'block_time DESC, chain DESC, block_number DESC, log_index DESC';
/** Pages are read in the order of an index, and sums from indexes alone, without a visit to the table. */
const INDEXES: readonly string[] = [
  'ALTER TABLE settlements ADD PRIMARY KEY (chain, block_number, log_index)',
  `CREATE INDEX ON settlements (payee, ${NEWEST_FIRST}) INCLUDE (payer, micros, method)`,
  `CREATE INDEX ON settlements (payer, ${NEWEST_FIRST}) INCLUDE (payee, micros, method)`,
  `CREATE INDEX ON settlements (${NEWEST_FIRST}) INCLUDE (payer, payee, micros)`,
  'CREATE INDEX ON settlements (chain, relayer, block_time DESC) INCLUDE (payer, payee, micros, facilitator)',
  'CREATE INDEX ON settlements (tx_hash)',
];

const DAY = `date_bin('1 day', block_time, '2000-01-01 00:00+00')`;
const SUMS =
  'count(*) AS n, sum(micros)::bigint AS total, min(block_time) AS first_time, max(block_time) AS last_time';
const PARTS = `coalesce(sum(micros) FILTER (WHERE payer = payee), 0)::bigint AS self_total, coalesce(sum(micros) FILTER (WHERE method = 6), 0)::bigint AS proven_total`;
/** Sums by day, complete up to the newest row, as triggers would keep them: more than our own rollups, which leave today out. */
const DAY_TABLES: readonly string[] = [
  `CREATE TABLE payee_day AS SELECT payee, ${DAY} AS day, chain, ${SUMS}, ${PARTS} FROM settlements GROUP BY 1, 2, 3`,
  'ALTER TABLE payee_day ADD PRIMARY KEY (payee, day, chain)',
  'CREATE INDEX ON payee_day (day) INCLUDE (payee, total, self_total)',
  `CREATE TABLE payer_day AS SELECT payer, ${DAY} AS day, chain, ${SUMS} FROM settlements GROUP BY 1, 2, 3`,
  'ALTER TABLE payer_day ADD PRIMARY KEY (payer, day, chain)',
  `CREATE TABLE pair_day AS SELECT payee, payer, ${DAY} AS day, chain, ${SUMS}, ${PARTS} FROM settlements GROUP BY 1, 2, 3, 4`,
  'ALTER TABLE pair_day ADD PRIMARY KEY (payee, payer, day, chain) INCLUDE (n, total, first_time, last_time)',
  'CREATE INDEX ON pair_day (payer, payee, day) INCLUDE (n, total, first_time, last_time)',
  'CREATE INDEX ON pair_day (day) INCLUDE (payer, payee, n, total, first_time, last_time)',
  `CREATE TABLE relayer_day AS SELECT chain, relayer, ${DAY} AS day, ${SUMS} FROM settlements GROUP BY 1, 2, 3`,
  'ALTER TABLE relayer_day ADD PRIMARY KEY (chain, relayer, day)',
  `CREATE TABLE chain_day AS SELECT ${DAY} AS day, chain, ${SUMS} FROM settlements GROUP BY 1, 2`,
];

/** What PostgreSQL's copy costs. */
export interface PostgresCopy {
  /** COPY, indexes, day tables and VACUUM. */
  readonly ms: number;
  /** All tables with their indexes. */
  readonly bytes: number;
}

/** Copies every live row, builds the indexes and the days, vacuums and analyses. */
export async function loadPostgres(
  access: EngineAccess,
  cluster: PostgresCluster,
  session: PostgresSession,
  say: (line: string) => void,
): Promise<PostgresCopy> {
  const copied = await timed(async () => copyInto(cluster, [TABLE, COPY], await readRows(access)));
  const [[rows = ''] = []] = (await session.ask('SELECT count(*) FROM settlements')).rows;
  say(`PostgreSQL: ${rows} rows copied in ${seconds(copied.ms)}`);
  let ms = copied.ms;
  const statements = [...INDEXES, ...DAY_TABLES, 'VACUUM ANALYZE'];
  for (const [index, statement] of statements.entries()) {
    const built = await session.ask(statement);
    ms += built.ms;
    const [what = ''] = /^[A-Z ]+\w+/.exec(statement) ?? [];
    say(`PostgreSQL: ${what}, ${index + 1} of ${statements.length}, in ${seconds(built.ms)}`);
  }
  const size = await session.ask(
    `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  return { ms, bytes: Number(size.rows[0]?.[0]) };
}

/** Straight from the engine's HTTP port, because the ports of this program hold results in memory. */
async function readRows({ url, database, writer }: EngineAccess): Promise<Readable> {
  const response = await fetch(`${url}?database=${database}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${writer.user}:${writer.password}`).toString('base64')}`,
    },
    body: ROWS,
  });
  if (!response.ok || response.body === null)
    throw new Error(`the engine does not export its rows: ${await response.text()}`);
  return Readable.fromWeb(response.body as ReadableStream<Uint8Array>); // the same class under the name of the DOM types
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
