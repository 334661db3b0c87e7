/** What a user must correct in the command; its message says how. */
export class BridgeProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BridgeProblem';
  }
}
