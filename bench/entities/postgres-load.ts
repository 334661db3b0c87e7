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
];

/** Copies every live row, builds the indexes, vacuums and analyses. Answers the chains by their numbers, from 1 on. */
export async function loadPostgres(
  access: EngineAccess,
  cluster: PostgresCluster,
  session: PostgresSession,
  say: (line: string) => void,
): Promise<void> {
  const { ms } = await timed(async () => copyInto(cluster, [TABLE, COPY], await readRows(access)));
  const [[rows = ''] = []] = (await session.ask('SELECT count(*) FROM settlements')).rows;
  say(`PostgreSQL: ${rows} rows copied in ${seconds(ms)}`);
  for (const [index, statement] of INDEXES.entries()) {
    const built = await session.ask(statement);
    say(`PostgreSQL: index ${index + 1} of ${INDEXES.length} in ${seconds(built.ms)}`);
  }
  const vacuum = await session.ask('VACUUM ANALYZE settlements');
  const size = await session.ask(`SELECT pg_total_relation_size('settlements') / 1024 / 1024`);
  say(`PostgreSQL: vacuumed in ${seconds(vacuum.ms)}, ${size.rows[0]?.[0]} MiB with indexes`);
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
