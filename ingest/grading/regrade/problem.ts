/** What the user of the command must correct. */
export class RegradeProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegradeProblem';
  }
}
