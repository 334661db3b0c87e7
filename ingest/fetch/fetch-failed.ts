import type { FetchProblem } from './document-fetcher.ts';

/** Thrown inside the fetcher, answered as a problem at its door; never leaves it. */
export class FetchFailed extends Error {
  readonly problem: FetchProblem;

  constructor(problem: FetchProblem, cause?: unknown) {
    super(problem, { cause });
    this.name = 'FetchFailed';
    this.problem = problem;
  }
}
