import type Database from 'libsql';
import { prepare } from './statement.ts';

/** A few hundred bytes each. */
const ANSWERS_MAX = 10_000;

/**
 * Keeps what a reading connection was answered until anybody, in whatever process, commits to the file: then all is forgotten.
 * Whether somebody did is asked before every answer, and costs a fraction of the question. The connection must not write: its
 * own changes do not count. Source: https://sqlite.org/pragma.html#pragma_data_version
 */
export function keepAnswers(
  db: Database.Database,
): <Answer>(ask: (name: string) => Answer) => (name: string) => Answer {
  const version = prepare<{ readonly data_version: number }>(db, 'PRAGMA data_version');
  return (ask) => {
    const answers = new Map<string, ReturnType<typeof ask>>();
    let of: number | undefined;
    return (name) => {
      const now = version.one({})?.data_version;
      if (now !== of || answers.size >= ANSWERS_MAX) answers.clear();
      of = now;
      const known = answers.get(name);
      if (known !== undefined) return known;
      const answer = ask(name);
      // What is not there is asked again: guesses at keys must not push out what is.
      if (answer !== null) answers.set(name, answer);
      return answer;
    };
  };
}
