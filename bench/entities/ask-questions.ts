import type { Reader } from '../../clickhouse/engine/engine.ts';
import { shown } from '../scale/index-size.ts';
import type { Figure } from '../support/figure.ts';
import type { Answer, Cost, MeasuredApi } from '../support/measured-api.ts';
import { costFigures } from '../support/page-costs.ts';
import { median, quantile } from '../support/quantiles.ts';
import { requireSameFacts } from './facts.ts';
import type { PostgresAnswer, PostgresSession } from './postgres-session.ts';
import { type Ask, QUESTION_KINDS, type Question } from './question.ts';
import type { SwingingClock } from './swinging-clock.ts';

export interface Asked {
  readonly question: Question;
  /** Empty when it failed. */
  readonly costs: readonly Cost[];
  /** Milliseconds of PostgreSQL for the same requests in the same rounds; undefined where it was not asked. */
  readonly peerMs: readonly number[] | undefined;
}

interface AskDeps {
  readonly api: MeasuredApi;
  readonly reader: Reader;
  readonly clock: SwingingClock;
  readonly postgres: PostgresSession | undefined;
  readonly quick: boolean;
}

interface Effort {
  readonly rounds: number;
  readonly asksMax: number;
  /** Rounds of a question end here, whichever side is slow, once it has been asked a few times. */
  readonly msMax: number;
}

const FULL: Effort = { rounds: 60, asksMax: 100, msMax: 6_000 };
const QUICK: Effort = { rounds: 8, asksMax: 4, msMax: 800 };
const ROUNDS_MIN = 5;
/** Rows a bounded question may read, whatever the size of the index. */
const ROWS_READ_GOAL = 300_000;
/** Has freshness and names loaded, which all requests of a second share and PostgreSQL is not asked for; no answer of a wallet. */
const FACTS_OF_THE_INDEX = `/v0/entities/0x${'0'.repeat(36)}dead/settlements?limit=1`;
/** Before an answer from memory is measured: until V8 has compiled the path of a request, it takes several times as long. */
const WARM_UP_REQUESTS = 300;
const ROWS_FOR_GOALS = [10_000_000, 50_000_000] as const;

/**
 * First compares every answer with that of PostgreSQL, which also warms up both sides; then asks both in turn, so that a
 * busy moment of the machine affects both.
 */
export async function askQuestion(question: Question, deps: AskDeps): Promise<Asked> {
  const { api, clock } = deps;
  const effort = deps.quick ? QUICK : FULL;
  const asks = question.asks.slice(0, effort.asksMax);
  for (const ask of asks) await verify(ask, question, deps);
  for (let asked = asks.length; question.kept === true && asked < WARM_UP_REQUESTS; asked++) {
    const ask = asks[asked % asks.length];
    if (ask !== undefined) await answerOf(ask.source, deps);
  }
  const costs: Cost[] = [];
  const peerMs: number[] = [];
  const began = performance.now();
  const isOver = (): boolean => performance.now() - began > effort.msMax;
  for (let round = 0; round < effort.rounds && !(round >= ROUNDS_MIN && isOver()); round++) {
    const ask = asks[round % asks.length];
    if (ask === undefined) throw new Error(`${question.name}: nothing to ask`);
    if (question.kept !== true) {
      clock.swing();
      await api.get(FACTS_OF_THE_INDEX);
    }
    const reworded = question.kept === true ? undefined : ask.reworded?.(round);
    costs.push((await answerOf(reworded ?? ask.source, deps)).cost);
    peerMs.push(...(await askPeer(ask, question, deps)).map(({ ms }) => ms));
  }
  return { question, costs, peerMs: peerMs.length === 0 ? undefined : peerMs };
}

async function answerOf(source: Ask['source'], { api, reader }: AskDeps): Promise<Answer<unknown>> {
  if (typeof source === 'string') return api.get<unknown>(source);
  const { rows, elapsedMs, readRows } = await reader.rows(source);
  return {
    body: rows,
    cost: { totalMs: elapsedMs, apiMs: elapsedMs, engineMs: elapsedMs, statements: 1, rowsRead: readRows },
  };
}

async function verify(ask: Ask, question: Question, deps: AskDeps): Promise<void> {
  const { body } = await answerOf(ask.source, deps);
  const asked = typeof ask.source === 'string' ? ask.source : ask.source.name;
  for (const { answers } of await askPeer(ask, question, deps)) {
    if (ask.peer !== undefined)
      requireSameFacts(`${question.name} ${asked}`, ask.peer.ours(body), ask.peer.theirs(answers));
  }
}

interface PeerAnswer {
  /** Rows of each statement. */
  readonly answers: readonly (readonly (readonly string[])[])[];
  /** All statements together. */
  readonly ms: number;
}

/** Nothing where PostgreSQL is not asked. */
async function askPeer({ peer }: Ask, { kind }: Question, { postgres }: AskDeps): Promise<PeerAnswer[]> {
  if (postgres === undefined || peer === undefined) return [];
  const answers: PostgresAnswer[] = [];
  for (const statement of peer.statements) {
    answers.push(
      kind === 'point' || kind === 'newest'
        ? await postgres.askPrepared(statement)
        : await postgres.ask(statement),
    );
  }
  return [{ answers: answers.map(({ rows }) => rows), ms: answers.reduce((total, { ms }) => total + ms, 0) }];
}

/** Latencies and rows read, and PostgreSQL's latencies with the ratio to it. `rows`: of the index; few are not judged. */
export function figuresOf({ question, costs, peerMs }: Asked, rows: number): Figure[] {
  const { bounded, kind, name } = question;
  if (costs.length === 0)
    return [{ name: `${name}-answered`, value: 0, unit: 'runs', goal: '>=1', ok: false }];
  const total = median(costs.map(({ totalMs }) => totalMs));
  const judged = question.judgedInApi === true ? 'api-p50' : 'p50';
  const own = costFigures(name, costs, bounded ? ROWS_READ_GOAL : undefined).map((figure) =>
    figure.name === `${name}-${judged}` ? { ...figure, ...judgedMs(question, figure.value, rows) } : figure,
  );
  if (peerMs === undefined) return own;
  const engine = median(costs.map(({ engineMs }) => engineMs));
  const peer = median(peerMs);
  const ratio = peer / total;
  const goal = rows < ROWS_FOR_GOALS[0] ? undefined : QUESTION_KINDS[kind];
  return [
    ...own,
    { name: `${name}-postgres-p50`, value: peer, unit: 'ms', goal: '-', ok: true },
    { name: `${name}-postgres-p99`, value: quantile(peerMs, 0.99), unit: 'ms', goal: '-', ok: true },
    ...(engine === 0 ? [] : [shown(`${name}-engine-faster-than-postgres`, peer / engine, 'x')]),
    {
      name: `${name}-faster-than-postgres`,
      value: ratio,
      unit: 'x',
      goal: goal === undefined ? '-' : `>=${goal}`,
      ok: goal === undefined || ratio >= goal,
    },
  ];
}

function judgedMs({ goalMs }: Question, ms: number, rows: number): Pick<Figure, 'goal' | 'ok'> {
  const reached = ROWS_FOR_GOALS.findLastIndex((from) => rows >= from);
  const most = goalMs?.[reached] ?? null;
  return most === null ? { goal: '-', ok: true } : { goal: `<=${most}`, ok: ms <= most };
}
