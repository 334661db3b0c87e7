import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import { waitUntil } from '../../test/kit/wait-until.ts';
import { streamOf } from '../lab/engine.ts';
import { seconds, timed } from '../lab/measure.ts';
import { type ProcessOptions, startProcess } from '../lab/processes.ts';
import type { Peer } from '../lab/questions.ts';
import type { Workspace } from '../lab/run.ts';

/** A PostgreSQL of our own, reachable only through a socket in its own directory, and one psql connected to it for the whole bench. */
export interface Postgres {
  /** One statement after the other; neither start-up nor connecting is ever measured. */
  ask(statement: string): Promise<PostgresAnswer>;
  /** Runs a script whose COPY … FROM STDIN reads `body`. */
  copyInto(script: readonly string[], body: ReadableStream<Uint8Array>): Promise<void>;
  /** Stops it and gives its disk space back. */
  remove(): Promise<void>;
  /** How another program connects, in libpq's variables. */
  readonly environment: { readonly PGHOST: string; readonly PGUSER: string; readonly PGDATABASE: string };
}

/** A statement without its semicolon, with $1, $2, … and their literals, quoted as SQL wants them. */
export interface PostgresStatement {
  readonly text: string;
  readonly literals: readonly string[];
}

interface PostgresAnswer {
  /** Texts, as psql prints them, bytes as `0x…`; '' for null. */
  readonly rows: readonly (readonly string[])[];
  /** As psql's \timing measures it: from sending the statement until its last row has arrived. */
  readonly ms: number;
}

const BIN = '/usr/lib/postgresql/15/bin';
const DATABASE_USER = 'bench';
const READY_TIMEOUT_MS = 30_000;
const SHARED_BUFFERS_MIB_MAX = 4_096;
/** initdb refuses to run as root: root gives the directory to this user, which Debian's package makes. */
const UNPRIVILEGED_USER = 'postgres';
/** A change of the user forgets that the process is to end with us. */
const AS_USER = [`--reuid=${UNPRIVILEGED_USER}`, `--regid=${UNPRIVILEGED_USER}`, '--clear-groups'];

export async function startPostgres(workspace: Workspace): Promise<Postgres> {
  if (!existsSync(BIN))
    throw new Error(
      `no PostgreSQL 15 in ${BIN}. On Debian 12: apt-get update && apt-get install postgresql-15`,
    );
  const isRoot = process.getuid?.() === 0;
  const root = join(workspace.dir, 'postgres');
  const data = join(root, 'data');
  mkdirSync(root, { mode: 0o700 });
  if (isRoot) {
    chmodSync(workspace.dir, 0o711); // the owner must reach its directory, nothing else
    execFileSync('chown', [UNPRIVILEGED_USER, root]);
  }
  const asOwner = (program: string, args: readonly string[]): [command: string, args: string[]] => {
    const command = join(BIN, program);
    return isRoot ? ['setpriv', [...AS_USER, '--pdeathsig=KILL', command, ...args]] : [command, [...args]];
  };
  // Trust is safe here: only the owner of the directory (and root) can reach the socket in it.
  const init = ['-D', data, '-U', DATABASE_USER, '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8'];
  execFileSync(...asOwner('initdb', init), { cwd: '/', stdio: 'pipe' });
  const [command, args] = asOwner('postgres', ['-D', data, ...settings(root)]);
  const server = startProcess(workspace, { command, args, cwd: '/' });
  const remove = async (): Promise<void> => {
    // By its own way first: a killed postmaster leaves a shared memory segment behind.
    const halt = asOwner('pg_ctl', ['stop', '-D', data, '-m', 'immediate', '-w']);
    if (existsSync(join(data, 'postmaster.pid'))) execFileSync(...halt, { cwd: '/', stdio: 'pipe' });
    await server.stop();
    rmSync(root, { recursive: true, force: true });
  };
  workspace.defer(remove);
  const environment = { PGHOST: root, PGUSER: DATABASE_USER, PGDATABASE: 'postgres' };
  const isReady = (): boolean =>
    spawnSync(join(BIN, 'pg_isready'), ['-q'], { env: { ...process.env, ...environment } }).status === 0;
  const died = server.exited.then((): never => {
    throw new Error(`PostgreSQL ended: ${server.lastLines().join(' ')}`);
  });
  await Promise.race([died, waitUntil('PostgreSQL answers', isReady, READY_TIMEOUT_MS)]);
  const copyRows: Postgres['copyInto'] = (script, body) => copyInto(environment, script, body);
  return { ask: openSession(workspace, environment), copyInto: copyRows, remove, environment };
}

/**
 * Settings of a machine that belongs to the database: a quarter of the memory as buffers, room for sorts and hashes, costs of
 * a solid-state disk. No WAL for a bulk load and no waiting for it either. The rest, JIT included, is as Debian ships it.
 */
function settings(socketDirectory: string): string[] {
  const memoryMib = totalmem() / 1024 ** 2;
  const values = [
    ...['listen_addresses=', `unix_socket_directories=${socketDirectory}`, 'work_mem=256MB'],
    `shared_buffers=${Math.floor(Math.min(SHARED_BUFFERS_MIB_MAX, memoryMib / 4))}MB`,
    ...[`effective_cache_size=${Math.floor(memoryMib / 2)}MB`, 'maintenance_work_mem=1GB'],
    ...['max_parallel_workers=2', 'max_parallel_workers_per_gather=2', 'max_parallel_maintenance_workers=2'],
    ...['random_page_cost=1.1', 'effective_io_concurrency=200', 'wal_level=minimal', 'max_wal_senders=0'],
    ...['max_wal_size=8GB', 'checkpoint_timeout=30min', 'synchronous_commit=off'],
  ];
  return values.flatMap((value) => ['-c', value]);
}

type Environment = NonNullable<ProcessOptions['environment']>;
const PSQL = join(BIN, 'psql');
/** With what psql knows of the last statement. */
const END_OF_ANSWER = 'bench-end-of-answer :ERROR :LAST_ERROR_MESSAGE';
const ENDED = /^bench-end-of-answer (true|false) ?(.*)$/;
const TIME = /^Time: ([0-9.]+) ms/;
const SEPARATOR = '\u001f';

function openSession(workspace: Workspace, environment: Environment): Postgres['ask'] {
  let waiting: { resolve(answer: PostgresAnswer): void; reject(error: Error): void } | undefined;
  let rows: string[][] = [];
  let ms = Number.NaN;
  const psql = startProcess(workspace, {
    command: PSQL,
    args: ['-X', '-q', '-A', '-t', '-F', SEPARATOR],
    environment,
    onLine(line) {
      const time = TIME.exec(line);
      const [end, failed, message] = ENDED.exec(line) ?? [];
      if (end !== undefined && failed === 'true') waiting?.reject(new Error(`PostgreSQL: ${message}`));
      else if (end !== undefined) waiting?.resolve({ rows, ms });
      else if (time !== null) ms = Number(time[1]);
      else rows.push(line.split(SEPARATOR).map(cellOf));
    },
  });
  let ended: Error | undefined;
  void psql.exited.then(() => {
    ended = new Error(`psql ended: ${psql.lastLines().slice(-3).join(' ')}`);
    waiting?.reject(ended);
  });
  return (statement) => {
    if (ended !== undefined) throw ended;
    rows = [];
    ms = Number.NaN;
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      psql.write(`\\timing on\n${statement};\n\\timing off\n\\echo ${END_OF_ANSWER}\n`);
    });
  };
}

function cellOf(cell: string): string {
  return cell.startsWith('\\x') ? `0${cell.slice(1)}` : cell;
}

async function copyInto(
  environment: Environment,
  script: readonly string[],
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const commands = script.flatMap((command) => ['-c', command]);
  const psql = spawn(PSQL, ['-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', ...commands], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(psql, 'close');
  await pipeline(Readable.from(body), psql.stdin);
  const [code] = await ended;
  if (code !== 0) throw new Error(`psql ended with ${code}`);
}

export interface PostgresQuestion {
  readonly statements: readonly PostgresStatement[];
  readonly prepared: boolean;
  /** The lines that must equal ours, of the rows of each statement. */
  readonly lines: (answers: readonly PostgresAnswer['rows'][]) => readonly string[];
  readonly about?: ((answers: readonly PostgresAnswer['rows'][]) => readonly number[]) | undefined;
}

export function postgresPeer({ ask }: Postgres): Peer<PostgresQuestion> {
  const names = new Map<string, string>();
  /** What a driver does for short statements; preparing them is not measured. */
  const askPrepared = async ({ text, literals }: PostgresStatement): Promise<PostgresAnswer> => {
    const name = names.get(text) ?? `bench_${names.size}`;
    if (!names.has(text)) await ask(`PREPARE ${name} AS ${text}`);
    names.set(text, name);
    return ask(`EXECUTE ${name}${literals.length === 0 ? '' : `(${literals.join(', ')})`}`);
  };
  /** The literals stand in the text: planned for exactly these values each time. */
  const askBound = ({ text, literals }: PostgresStatement): Promise<PostgresAnswer> =>
    ask(text.replace(/\$(\d+)/g, (_whole, index: string) => literals[Number(index) - 1] ?? ''));
  return {
    name: 'postgres',
    async ask({ statements, prepared, lines, about }) {
      const answers: PostgresAnswer['rows'][] = [];
      let ms = 0;
      for (const statement of statements) {
        const answer = await (prepared ? askPrepared(statement) : askBound(statement));
        answers.push(answer.rows);
        ms += answer.ms;
      }
      return { ms, lines: lines(answers), about: about?.(answers) };
    },
  };
}

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

/** Milliseconds for all of it, and bytes of all tables with their indexes. */
export type PostgresCopy = Awaited<ReturnType<typeof copyRows>>;

/** Copies every live row, builds the indexes and the days, vacuums and analyses. */
export async function copyRows(access: EngineAccess, postgres: Postgres, say: (line: string) => void) {
  const rows = ROWS.replaceAll('FROM settlements', `FROM ${access.database}.settlements`);
  const copied = await timed(async () => postgres.copyInto([TABLE, COPY], await streamOf(access, rows)));
  const [[count = ''] = []] = (await postgres.ask('SELECT count(*) FROM settlements')).rows;
  say(`PostgreSQL: ${count} rows copied in ${seconds(copied.ms)}`);
  let ms = copied.ms;
  const statements = [...INDEXES, ...DAY_TABLES, 'VACUUM ANALYZE'];
  for (const [index, statement] of statements.entries()) {
    const built = await postgres.ask(statement);
    ms += built.ms;
    const [what = ''] = /^[A-Z ]+\w+/.exec(statement) ?? [];
    say(`PostgreSQL: ${what}, ${index + 1} of ${statements.length}, in ${seconds(built.ms)}`);
  }
  const size = await postgres.ask(
    `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  return { ms, bytes: Number(size.rows[0]?.[0]) };
}
