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
  /** `aggregate`: sums over many rows. `page`: a few rows, or the figures of a wallet with few. */
  readonly kind: 'aggregate' | 'page';
  /** Whether its cost may depend only weakly on the size of the index. */
  readonly bounded: boolean;
  /** Asked in turn, so that no cache of one answer helps. */
  readonly asks: readonly Ask[];
}
