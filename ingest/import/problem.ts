import { type UserError, userErrors } from '../../core/user-error.ts';

/** What the user of an import must correct. */
export function importProblems(problems: readonly string[]): UserError {
  return userErrors('The files cannot be imported', problems);
}
