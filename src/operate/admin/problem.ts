/** What an operator must correct in a command; its message says how. */
export class AdminProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AdminProblem';
  }
}
