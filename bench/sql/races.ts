import { readFileSync } from 'node:fs';
import { askEach, attempt, type Figure, inTurn, judged, median, shown } from '../lab/measure.ts';
import type { BenchContext } from '../lab/run.ts';
import { PLAIN_TABLE, sqlLab } from './lab.ts';
import { duckdbPeer, guestPeer, type SqlAnswer, type SqlPeer } from './peers.ts';

const SCAN_RATIO_GOAL = 1.5;
const SCAN_ROUNDS = { full: 5, quick: 3 };

const SCANS = {
  count: 'SELECT count() FROM {}',
  'usd-by-chain': 'SELECT chain, count(), sum(amount_usd) FROM {} GROUP BY chain ORDER BY chain',
  'usd-by-day': 'SELECT toDate(block_time) AS day, sum(amount_usd) FROM {} GROUP BY day ORDER BY day',
  'proven-share':
    'SELECT evidence_tier, count(), round(avg(evidence_probability), 6) FROM {} GROUP BY evidence_tier ORDER BY evidence_tier',
  'top-payees':
    'SELECT payee, sum(amount_usd) AS usd FROM {} GROUP BY payee ORDER BY usd DESC, payee LIMIT 10',
  'unique-payers': 'SELECT uniqExact(payer) FROM {}',
  'self-payments':
    'SELECT facilitator, countIf(is_self_payment), max(amount_usd) FROM {} GROUP BY facilitator ORDER BY facilitator',
} as const;

const COUNT = 'scan-count';
const COUNT_GOAL_MS = 8;

/** Full scans through the public view against the same question on a plain copy of its rows, both as the guest. */
export async function measureScans(context: BenchContext): Promise<Figure[]> {
  const guest = guestPeer(context, await sqlLab(context));
  const questions = Object.entries(SCANS).map(([name, sql]) => ({ name: `scan-${name}`, sql }));
  return askEach(questions, context.say, async ({ name, sql }) => {
    const over = (table: string) => () => guest.ask(sql.replace('{}', table));
    const race = await inTurn(
      { view: over('settlements'), plain: over(PLAIN_TABLE) },
      { rounds: context.sized(SCAN_ROUNDS), warmUp: 1 },
    );
    if (new Set([...race.view, ...race.plain].map(({ digest }) => digest)).size !== 1)
      throw new Error('the view and the copy answer differently');
    const ms = (answers: readonly SqlAnswer[]): number => median(answers.map((answer) => answer.ms));
    // The engine answers it over a plain table without reading.
    if (name === COUNT)
      return [
        shown(`${name}-p50`, ms(race.view), 'ms'),
        judged(`${name}-over-plain`, ms(race.view) - ms(race.plain), 'ms', '<=', COUNT_GOAL_MS),
      ];
    return [
      shown(`${name}-p50`, ms(race.view), 'ms'),
      judged(`${name}-against-plain`, ms(race.view) / ms(race.plain), 'x', '<=', SCAN_RATIO_GOAL),
    ];
  });
}

const CLICKBENCH = new URL('../../test/fixtures/sql/clickbench-shaped.jsonl', import.meta.url);
const ROUNDS = 2;
const TOTAL_GOAL = 1.1;
const GEOMEAN_GOAL = 1.5;
const IDS_TOTAL_GOAL = 0.7;
const IDS_GEOMEAN_GOAL = 0.8;

interface ClickbenchQuestion {
  readonly id: string;
  readonly sql: string;
  /** Where DuckDB spells it otherwise. */
  readonly duckdb?: string;
}

/** Milliseconds of one question on both sides. */
interface Pair {
  readonly ours: number;
  readonly theirs: number;
}

/**
 * The ClickBench-shaped questions over the public view, and over the same rows in a DuckDB file, with as many threads: by address on both
 * sides, and by the ids of wallets on ours. A question that one side refuses is a figure, as `clickbench-17-by-ids error - - short`, and
 * does not count for that comparison.
 */
export async function measureClickbench(context: BenchContext): Promise<Figure[]> {
  const { say } = context;
  const lab = await sqlLab(context);
  const duckdb = await duckdbPeer(context, lab);
  const ours = guestPeer(context, lab);
  const trying = { figures: [] as Figure[], say };
  const byAddress: Pair[] = [];
  const byId: Pair[] = [];
  for (const { id, sql, duckdb: spelled = sql } of clickbenchQuestions()) {
    const theirs = await attempt(`${id}-duckdb`, trying, () => best(duckdb, spelled));
    const ask = (name: string, text: string) =>
      attempt(name, trying, async () => {
        const answer = await best(ours, text);
        if (theirs !== undefined && answer.rows !== theirs.rows)
          throw new Error(`${answer.rows} rows, DuckDB has ${theirs.rows}`);
        return answer;
      });
    const own = await ask(id, sql);
    const ids = withIds(sql);
    const faster = ids === sql ? own : await ask(`${id}-by-ids`, ids);
    if (theirs === undefined) continue;
    if (own !== undefined) byAddress.push({ ours: own.ms, theirs: theirs.ms });
    if (faster !== undefined) byId.push({ ours: faster.ms, theirs: theirs.ms });
    say(`${id} ${spellMs(own)}, by ids ${spellMs(faster)}, DuckDB ${spellMs(theirs)}`);
  }
  const sum = (pairs: readonly Pair[], side: keyof Pair): number =>
    pairs.reduce((total, pair) => total + pair[side], 0);
  const total = (pairs: readonly Pair[]): number => sum(pairs, 'ours') / sum(pairs, 'theirs');
  const geomean = (pairs: readonly Pair[]): number =>
    Math.exp(pairs.reduce((logs, pair) => logs + Math.log(pair.ours / pair.theirs), 0) / pairs.length);
  return [
    ...trying.figures,
    shown('clickbench-questions', byAddress.length, 'questions'),
    shown('clickbench-total', sum(byAddress, 'ours'), 'ms'),
    shown('clickbench-by-ids-total', sum(byId, 'ours'), 'ms'),
    shown('clickbench-duckdb-total', sum(byAddress, 'theirs'), 'ms'),
    judged('clickbench-against-duckdb-total', total(byAddress), 'x', '<=', TOTAL_GOAL),
    judged('clickbench-against-duckdb-geomean', geomean(byAddress), 'x', '<=', GEOMEAN_GOAL),
    judged('clickbench-by-ids-against-duckdb-total', total(byId), 'x', '<=', IDS_TOTAL_GOAL),
    judged('clickbench-by-ids-against-duckdb-geomean', geomean(byId), 'x', '<=', IDS_GEOMEAN_GOAL),
  ];
}

export function clickbenchQuestions(): ClickbenchQuestion[] {
  return readFileSync(CLICKBENCH, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ClickbenchQuestion); // our own fixture
}

function spellMs(answer: SqlAnswer | undefined): string {
  return answer === undefined ? 'error' : `${answer.ms.toFixed(0)} ms`;
}

/** The fastest of some rounds. */
async function best(peer: SqlPeer, text: string): Promise<SqlAnswer> {
  let fastest = await peer.ask(text);
  for (let round = 1; round < ROUNDS; round++) {
    const again = await peer.ask(text);
    if (again.ms < fastest.ms) fastest = again;
  }
  return fastest;
}

/** What needs the address itself: a comparison with a text, or a function of text. */
const NEEDS_ADDRESS =
  /\b(payer|payee)\s*(=|LIKE\b|NOT\b|IN\b)|\b(REGEXP_REPLACE|length|lower)\((payer|payee)\b/i;

/** The same question with ids as keys. */
export function withIds(text: string): string {
  const known = text.replaceAll(/\b(payer|payee) <> ''/g, '$1_id <> 0');
  return NEEDS_ADDRESS.test(known) ? text : known.replaceAll(/\b(payer|payee)\b/g, '$1_id');
}
