import type { Statement } from '../../clickhouse/engine/engine.ts';
import type { Facts } from './facts.ts';
import type { PostgresStatement } from './postgres-session.ts';

/** The same question put to PostgreSQL. */
export interface PeerQuestion {
  readonly statements: readonly PostgresStatement[];
  /** What our answer says. */
  ours(body: unknown): Facts;
  /** What PostgreSQL's rows say, one list for each statement. */
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
  /** Whether what it costs may depend on the size of the index only weakly. */
  readonly bounded: boolean;
  /** Asked in turn, so that no cache of one answer helps. */
  readonly asks: readonly Ask[];
}
