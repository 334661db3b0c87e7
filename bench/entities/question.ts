import type { Statement } from '../../clickhouse/engine/engine.ts';
import type { Facts } from './facts.ts';
import type { PostgresStatement } from './postgres-session.ts';

/** The same question put to PostgreSQL. */
export interface PeerQuestion {
  readonly statements: readonly PostgresStatement[];
  /** The facts of our answer. */
  ours(body: unknown): Facts;
  /** The facts of PostgreSQL's rows, one list for each statement. */
  theirs(answers: readonly (readonly (readonly string[])[])[]): Facts;
}

/** One request of the API, or a statement where no route asks it yet; its rows are then the answer. */
export interface Ask {
  readonly source: string | Statement;
  /** The same question in other words for each round, where its answer would be kept in memory. */
  readonly reworded?: (round: number) => string;
  readonly peer?: PeerQuestion;
}

export interface Question {
  /** kebab-case; begins the names of its figures. */
  readonly name: string;
  readonly kind: QuestionKind;
  /** Whether its cost may depend only weakly on the size of the index. */
  readonly bounded: boolean;
  /** Most milliseconds of the median, from 10 and from 50 million rows on; null where it is only shown. */
  readonly goalMs?: readonly [at10Million: number | null, at50Million: number];
  /** Whether `goalMs` is for the time in the API process, not for that at its client. */
  readonly judgedInApi?: boolean;
  /** Whether the answer is what the API keeps in memory: its clock then stands still between requests. */
  readonly kept?: boolean;
  /** Asked in turn, so that no cache of one answer helps. */
  readonly asks: readonly Ask[];
}

/** How PostgreSQL answers, which decides how many times as fast (`<question>-faster-than-postgres`) we must be. */
export const QUESTION_KINDS = {
  /** It reads rows of many wallets. */
  scan: 20,
  /** It descends an index to the rows of one wallet, pair or transaction: 0.5 ms, where our engine's floor is 1.35. */
  point: 1 / 16,
  /** It takes the newest rows of all from the end of an index. */
  newest: 1,
  /** It adds up its materialised days: shown. */
  days: undefined,
} as const;
export type QuestionKind = keyof typeof QUESTION_KINDS;
