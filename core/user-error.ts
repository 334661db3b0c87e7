/**
 * What a user must correct: the command line, the configuration, the state of a directory or of the database. Its text says how and is all that
 * the command prints; any other error is a defect and is printed with its stack.
 */
export class UserError extends Error {
  /** One line each; the message alone where there is one thing to correct. */
  readonly problems: readonly string[];

  constructor(message: string, options?: ErrorOptions & { readonly problems?: readonly string[] }) {
    super(message, options);
    this.name = 'UserError';
    this.problems = options?.problems ?? [message];
  }
}

/** Several things to correct, below a line that says of what. */
export function userErrors(heading: string, problems: readonly string[]): UserError {
  const lines = problems.map((problem) => `  - ${problem}`);
  return new UserError([`${heading}:`, ...lines].join('\n'), { problems });
}
