import { randomUUID } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { Guest } from '../../clickhouse/engine/engine.ts';
import { createGuest } from '../../clickhouse/guest/engine.ts';
import { GUEST_FULL_BLOCK_ROWS } from '../../clickhouse/guest/settings.ts';
import type { Figure } from '../support/figure.ts';
import { installPeer } from '../support/install-peer.ts';
import { startLineProcess } from '../support/line-process.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { PLAIN_TABLE, type SqlLab, sqlLab } from './lab.ts';

/**
 * The ClickBench-shaped questions over the public view, and over the same rows in a DuckDB file, with as many threads: by address on both
 * sides, and by the ids of wallets on ours.
 */

const ROOT = fileURLToPath(new URL('./duckdb', import.meta.url));
const QUESTIONS = new URL('../../test/fixtures/sql/clickbench-shaped.jsonl', import.meta.url);
const ROUNDS = 2;
const TOTAL_GOAL = 1.5;
const GEOMEAN_GOAL = 1.4;
const IDS_TOTAL_GOAL = 0.8;
const IDS_GEOMEAN_GOAL = 0.6;
const SECONDS_MAX = 300;
const THREADS = cpus().length;
/** An engine's result in DuckDB's types: it has no integer of 256 bits. */
const EXPORT = `SELECT * REPLACE (toString(amount) AS amount) FROM settlement_index_public.${PLAIN_TABLE}`;

interface Question {
  readonly id: string;
  readonly sql: string;
  /** Where DuckDB spells it otherwise. */
  readonly duckdb?: string;
}

type Reply = { readonly ms: number; readonly rows: number } | { readonly error: string };

export async function measureDuckdb(context: BenchContext): Promise<Figure[]> {
  const missing = await installPeer(context, {
    name: 'DuckDB',
    root: ROOT,
    file: 'node_modules/@duckdb/node-api/package.json',
  });
  if (missing !== undefined) throw new Error(`DuckDB cannot be installed: ${missing}`);
  const lab = await sqlLab(context);
  const file = join(context.workspace.dir, 'settlements.parquet');
  await exportRows(lab, file);
  const duckdb = startLineProcess(
    context.workspace,
    [
      join(ROOT, 'run-questions.mjs'),
      file,
      join(context.workspace.dir, 'settlements.duckdb'),
      String(THREADS),
    ],
    ROOT,
  );
  await duckdb.next();
  const guest = createGuest(lab.engine.access);
  context.workspace.defer(() => guest.close());
  const byAddress = new Race();
  const byId = new Race();
  for (const question of readQuestions()) {
    const theirs = await best(() => duckdb.ask<Reply>({ sql: question.duckdb ?? question.sql }));
    const ours = await best(() => askGuest(guest, question.sql));
    if (typeof theirs === 'string' || typeof ours === 'string') {
      context.say(
        `${question.id} is left out: ${typeof ours === 'string' ? `ours: ${ours}` : `DuckDB: ${String(theirs)}`}`,
      );
      continue;
    }
    if (ours.rows !== theirs.rows)
      throw new Error(`${question.id}: ${ours.rows} rows, DuckDB has ${theirs.rows}`);
    byAddress.add(ours.ms, theirs.ms);
    const ids = withIds(question.sql);
    const faster = ids === question.sql ? ours : await best(() => askGuest(guest, ids));
    if (typeof faster === 'string') throw new Error(`${question.id} by ids: ${faster}`);
    byId.add(faster.ms, theirs.ms);
    context.say(
      `${question.id} ${ours.ms.toFixed(0)} ms, by ids ${faster.ms.toFixed(0)} ms, DuckDB ${theirs.ms.toFixed(0)} ms`,
    );
  }
  const shown = (name: string, value: number, unit: string): Figure => ({
    name,
    value,
    unit,
    goal: '-',
    ok: true,
  });
  const judged = (name: string, value: number, goal: number): Figure => ({
    name,
    value,
    unit: 'x',
    goal: `<=${goal}`,
    ok: value <= goal,
  });
  return [
    shown('clickbench-questions', byAddress.count, 'questions'),
    shown('clickbench-total', byAddress.ours, 'ms'),
    shown('clickbench-by-ids-total', byId.ours, 'ms'),
    shown('clickbench-duckdb-total', byAddress.theirs, 'ms'),
    judged('clickbench-against-duckdb-total', byAddress.total(), TOTAL_GOAL),
    judged('clickbench-against-duckdb-geomean', byAddress.geomean(), GEOMEAN_GOAL),
    judged('clickbench-by-ids-against-duckdb-total', byId.total(), IDS_TOTAL_GOAL),
    judged('clickbench-by-ids-against-duckdb-geomean', byId.geomean(), IDS_GEOMEAN_GOAL),
  ];
}

class Race {
  ours = 0;
  theirs = 0;
  count = 0;
  private logs = 0;

  add(ours: number, theirs: number): void {
    this.ours += ours;
    this.theirs += theirs;
    this.count += 1;
    this.logs += Math.log(ours / theirs);
  }

  total(): number {
    return this.ours / this.theirs;
  }

  geomean(): number {
    return Math.exp(this.logs / this.count);
  }
}

/** What needs the address itself: a comparison with a text, or a function of text. */
const NEEDS_ADDRESS =
  /\b(payer|payee)\s*(=|LIKE\b|NOT\b|IN\b)|\b(REGEXP_REPLACE|length|lower)\((payer|payee)\b/i;

/** The same question with ids as keys. */
function withIds(text: string): string {
  const known = text.replaceAll(/\b(payer|payee) <> ''/g, '$1_id <> 0');
  return NEEDS_ADDRESS.test(known) ? text : known.replaceAll(/\b(payer|payee)\b/g, '$1_id');
}

function readQuestions(): Question[] {
  return readFileSync(QUESTIONS, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Question); // our own fixture
}

/** The fastest of some rounds, or why there is none. */
async function best(ask: () => Promise<Reply>): Promise<{ ms: number; rows: number } | string> {
  let fastest: { ms: number; rows: number } | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const reply = await ask();
    if ('error' in reply) return reply.error;
    if (fastest === undefined || reply.ms < fastest.ms) fastest = reply;
  }
  return fastest ?? 'no round';
}

async function askGuest(guest: Guest, text: string): Promise<Reply> {
  try {
    const { body, figures } = await guest.query(
      {
        name: 'bench-clickbench',
        text,
        queryId: randomUUID(),
        format: 'TSV',
        maxRows: 1_000_001,
        maxSeconds: SECONDS_MAX,
        blockRows: GUEST_FULL_BLOCK_ROWS,
        threads: THREADS,
      },
      new AbortController().signal,
    );
    for await (const _ of body) void _;
    return { ms: figures.elapsedMs, rows: figures.resultRows };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

async function exportRows({ engine }: SqlLab, file: string): Promise<void> {
  const { url, writer } = engine.access;
  const answer = await fetch(url, {
    method: 'POST',
    body: `${EXPORT} FORMAT Parquet`,
    headers: {
      authorization: `Basic ${Buffer.from(`${writer.user}:${writer.password}`).toString('base64')}`,
    },
  });
  if (!answer.ok || answer.body === null) throw new Error(await answer.text());
  await pipeline(answer.body, createWriteStream(file));
}
