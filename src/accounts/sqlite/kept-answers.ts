import { setImmediate } from 'node:timers';
import type Database from 'libsql';
import { prepare } from './statement.ts';

/** A few hundred bytes each. */
const ANSWERS_MAX = 10_000;
/** Bounds a turn of the event loop: one with thousands of ready sockets can last for seconds. */
const LOOK_MAX_MS = 2;

/** Keeps what a reading connection was answered until anybody, in whatever process, commits to the file. */
interface KeptAnswers {
  /** A question whose answers are kept. */
  keep<Answer>(ask: (name: string) => Answer): (name: string) => Answer;
  /** To be called when this process has committed something: whoever is told so must see it at once. */
  lookAgain(): void;
}

/**
 * Whether somebody committed is asked before an answer, once in a turn of the event loop: within a turn only requests are read
 * that had arrived before it, so nobody who was told of a change is given what was before it. The connection must not write: its
 * own changes do not count. Source: https://sqlite.org/pragma.html#pragma_data_version
 */
export function keepAnswers(db: Database.Database): KeptAnswers {
  const version = prepare<{ readonly data_version: number }>(db, 'PRAGMA data_version');
  const questions: Map<string, unknown>[] = [];
  let of: number | undefined;
  let goodUntilMs = 0;
  const lookAgain = (): void => {
    goodUntilMs = 0;
  };
  const look = (): void => {
    const nowMs = performance.now();
    if (nowMs < goodUntilMs) return;
    const now = version.one({})?.data_version;
    if (now !== of) for (const answers of questions) answers.clear();
    of = now;
    goodUntilMs = nowMs + LOOK_MAX_MS;
    setImmediate(lookAgain);
  };
  return {
    keep: <Answer>(ask: (name: string) => Answer) => {
      const answers = new Map<string, Answer>();
      questions.push(answers);
      return (name) => {
        look();
        const known = answers.get(name);
        if (known !== undefined) return known;
        const answer = ask(name);
        if (answers.size >= ANSWERS_MAX) answers.clear();
        // What is not there is asked again: guesses at keys must not push out what is.
        if (answer !== null) answers.set(name, answer);
        return answer;
      };
    },
    lookAgain,
  };
}
