import type { Figure } from '../support/figure.ts';
import type { Cost, MeasuredApi } from '../support/measured-api.ts';
import { costFigures } from '../support/page-costs.ts';
import { median, quantile } from '../support/quantiles.ts';
import { requireSameFacts } from './facts.ts';
import type { PostgresSession } from './postgres-session.ts';
import type { Ask, PeerQuestion, Question } from './question.ts';
import type { SwingingClock } from './swinging-clock.ts';

export interface Asked {
  readonly question: Question;
  readonly costs: readonly Cost[];
  /** Milliseconds of PostgreSQL for the same asks in the same rounds; undefined where it was not asked. */
  readonly peerMs: readonly number[] | undefined;
}

interface AskDeps {
  readonly api: MeasuredApi;
  readonly clock: SwingingClock;
  readonly postgres: PostgresSession | undefined;
  readonly quick: boolean;
}

const ROUNDS = 60;
const ROUNDS_QUICK = 12;
/** Rounds of a question end here, whichever side is slow, once it has been asked a few times. */
const QUESTION_MS_MAX = 15_000;
const QUESTION_MS_MAX_QUICK = 1_500;
const ROUNDS_MIN = 5;
/** Rows a bounded question may read, whatever the size of the index. */
const ROWS_READ_GOAL = 300_000;
/** Has freshness and names loaded, which all requests of a second share and PostgreSQL is not asked for; no answer of a wallet. */
const FACTS_OF_THE_INDEX = `/v0/entities/0x${'0'.repeat(36)}dead/settlements?limit=1`;
const RATIO_GOALS = { aggregate: 20, page: 1 } as const;

/**
 * First every ask is compared with PostgreSQL's answer, which also warms both sides; then both are asked in turn, so that a
 * busy moment of the machine meets both.
 */
export async function askQuestion(question: Question, deps: AskDeps): Promise<Asked> {
  const { api, clock, postgres, quick } = deps;
  for (const ask of question.asks) {
    const { body } = await api.get<unknown>(ask.path);
    if (postgres !== undefined && ask.peer !== undefined)
      await compare(`${question.name} ${ask.path}`, { body, peer: ask.peer }, { postgres, question });
  }
  const costs: Cost[] = [];
  const peerMs: number[] = [];
  const began = performance.now();
  for (let round = 0; round < (quick ? ROUNDS_QUICK : ROUNDS); round++) {
    const over = performance.now() - began > (quick ? QUESTION_MS_MAX_QUICK : QUESTION_MS_MAX);
    if (over && round >= ROUNDS_MIN) break;
    const ask = askOf(question, round);
    clock.swing();
    await api.get(FACTS_OF_THE_INDEX);
    costs.push((await api.get<unknown>(ask.path)).cost);
    if (postgres !== undefined && ask.peer !== undefined)
      peerMs.push((await askPeer(ask.peer, { postgres, question })).ms);
  }
  return { question, costs, peerMs: peerMs.length === 0 ? undefined : peerMs };
}

function askOf({ name, asks }: Question, round: number): Ask {
  const ask = asks[round % asks.length];
  if (ask === undefined) throw new Error(`${name}: nothing to ask`);
  return ask;
}

interface Peer {
  readonly postgres: PostgresSession;
  readonly question: Question;
}

async function compare(
  name: string,
  { body, peer }: { readonly body: unknown; readonly peer: PeerQuestion },
  deps: Peer,
): Promise<void> {
  const { answers } = await askPeer(peer, deps);
  requireSameFacts(name, peer.ours(body), peer.theirs(answers));
}

async function askPeer({ statements }: PeerQuestion, { postgres, question }: Peer) {
  const answers: (readonly (readonly string[])[])[] = [];
  let ms = 0;
  for (const statement of statements) {
    const answer =
      question.kind === 'page' ? await postgres.askPrepared(statement) : await postgres.ask(statement);
    answers.push(answer.rows);
    ms += answer.ms;
  }
  return { answers, ms };
}

/** Latencies and rows read, and PostgreSQL's latencies with the ratio to it. `judged`: false where the data is too small. */
export function figuresOf({ question, costs, peerMs }: Asked, stage: string, judged: boolean): Figure[] {
  const { bounded, kind } = question;
  const name = `${question.name}${stage}`;
  const own = costFigures(name, costs, bounded ? ROWS_READ_GOAL : undefined);
  if (peerMs === undefined) return own;
  const total = median(costs.map(({ totalMs }) => totalMs));
  const engine = median(costs.map(({ engineMs }) => engineMs));
  const peer = median(peerMs);
  const goal = RATIO_GOALS[kind];
  return [
    ...own,
    { name: `${name}-postgres-p50`, value: peer, unit: 'ms', goal: '-', ok: true },
    { name: `${name}-postgres-p99`, value: quantile(peerMs, 0.99), unit: 'ms', goal: '-', ok: true },
    { name: `${name}-engine-faster-than-postgres`, value: peer / engine, unit: 'x', goal: '-', ok: true },
    {
      name: `${name}-faster-than-postgres`,
      value: peer / total,
      unit: 'x',
      goal: judged ? `>=${goal}` : '-',
      ok: !judged || peer / total >= goal,
    },
  ];
}
