/** What the user of an import must correct, one line per problem. Nothing is wrong with the program. */
export class ImportProblem extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The files cannot be imported:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ImportProblem';
    this.problems = problems;
  }
}
