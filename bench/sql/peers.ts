import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGuest } from '../../clickhouse/guest/engine.ts';
import { guestMemoryBytes, MEMORY_SHARES, threadsWithin } from '../../clickhouse/guest/memory.ts';
import { GUEST_FULL_BLOCK_ROWS, GUEST_QUARTER_BLOCK_ROWS } from '../../clickhouse/guest/settings.ts';
import { SQL_DISK_BYTES } from '../../core/domain/plan.ts';
import type { Accepted } from '../../sandbox/judge/inspect.ts';
import type { OpenSandbox } from '../../sandbox/open.ts';
import { createConstants } from '../../sandbox/run/table-constants.ts';
import { streamOf } from '../lab/engine.ts';
import { installPeer, startLineProcess } from '../lab/processes.ts';
import type { BenchContext } from '../lab/run.ts';
import { ENGINE_MEGABYTES, PLAIN_TABLE, PUBLIC_DATABASE, type SqlLab } from './lab.ts';

/** What answers a text of SQL over the settlements. */
export interface SqlPeer {
  /** Throws where the text is refused or fails. */
  ask(text: string): Promise<SqlAnswer>;
}

export interface SqlAnswer {
  readonly ms: number;
  readonly rows: number;
  /** Of the whole answer, where it is compared with another one. */
  readonly digest?: string;
}

const SECONDS_MAX = 300;
const ROWS_MAX = 1_000_001;
const THREADS = cpus().length;
const QUERY_BYTES = guestMemoryBytes(ENGINE_MEGABYTES * 1024 * 1024, THREADS) * MEMORY_SHARES.standard;

/** Our public tables, as the guest reads them for a lone analyst: every core, and two shares of memory. */
export function guestPeer({ workspace }: BenchContext, { engine, sandbox }: SqlLab): SqlPeer {
  const guest = createGuest(engine.access);
  workspace.defer(() => guest.close());
  const constants = createConstants(engine.reader);
  return {
    async ask(asked) {
      // As the sandbox runs it; the copy is no public table.
      const isPublic = /\bsettlements\b/.test(asked);
      const given = isPublic ? await constants() : null;
      const accepted = isPublic ? await judgedText(sandbox, asked) : PLAIN;
      const { body, figures } = await guest.query(
        {
          ...{ name: 'bench-question', text: accepted.text ?? asked, queryId: randomUUID(), format: 'TSV' },
          ...{ maxRows: ROWS_MAX, maxSeconds: SECONDS_MAX, ...boundsOf(accepted) },
          ...(given === null ? {} : { constants: given }),
        },
        new AbortController().signal,
      );
      const digest = createHash('sha1');
      for await (const chunk of body) digest.update(chunk as Buffer); // no encoding is set
      return { ms: figures.elapsedMs, rows: figures.resultRows, digest: digest.digest('hex') };
    },
  };
}

type Judged = Pick<Accepted, 'blockRows' | 'memoryMaxBytes' | 'hasLongKeys'> & { readonly text?: string };
const PLAIN: Judged = { blockRows: GUEST_FULL_BLOCK_ROWS };

async function judgedText(sandbox: OpenSandbox, text: string): Promise<Judged> {
  const judged = await sandbox.inspect({ text, parameters: {}, caller: 'bench' });
  if ('refused' in judged) throw new Error(judged.refused.detail);
  return judged.accepted;
}

/** What the sandbox gives a query that runs alone (sandbox/run/run-query.ts). */
function boundsOf({ blockRows, memoryMaxBytes, hasLongKeys = false }: Judged) {
  const memoryBytes = Math.min(QUERY_BYTES, memoryMaxBytes ?? QUERY_BYTES);
  const threads = blockRows >= GUEST_QUARTER_BLOCK_ROWS ? threadsWithin(memoryBytes, THREADS) : 1;
  return { blockRows, threads, memoryBytes, hasLongKeys, diskBytes: SQL_DISK_BYTES.standard };
}

const DUCKDB = fileURLToPath(new URL('./duckdb', import.meta.url));
/** DuckDB has no integer of 256 bits. */
const EXPORT = `SELECT * REPLACE (toString(amount) AS amount) FROM ${PUBLIC_DATABASE}.${PLAIN_TABLE} FORMAT Parquet`;

/** The same rows in a DuckDB file, with as many threads. */
export async function duckdbPeer({ workspace }: BenchContext, { engine }: SqlLab): Promise<SqlPeer> {
  const missing = installPeer(DUCKDB, 'node_modules/@duckdb/node-api/package.json');
  if (missing !== undefined) throw new Error(`DuckDB cannot be installed: ${missing}`);
  const parquet = join(workspace.dir, 'settlements.parquet');
  await pipeline(await streamOf(engine.access, EXPORT), createWriteStream(parquet));
  const script = join(DUCKDB, 'run-questions.mjs');
  const database = join(workspace.dir, 'settlements.duckdb');
  const duckdb = startLineProcess(workspace, [script, parquet, database, String(THREADS)], DUCKDB);
  await duckdb.next();
  return {
    async ask(text) {
      const reply = await duckdb.ask<SqlAnswer | { readonly error: string }>({ sql: text });
      if ('error' in reply) throw new Error(reply.error);
      return reply;
    },
  };
}
