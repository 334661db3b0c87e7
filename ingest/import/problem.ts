import { type UserError, userErrors } from '../../core/user-error.ts';

/** A `UserError` that lists the problems of an import. */
export function importProblems(problems: readonly string[]): UserError {
  return userErrors('The files cannot be imported', problems);
}
