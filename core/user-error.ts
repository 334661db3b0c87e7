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

/** An optional package is needed and not installed. The message is for the operator: it names the packages and what works without them. */
export class MissingPackage extends Error {
  constructor(needed: {
    /** The subject of the sentence: `Sending traces needs …`. */
    readonly purpose: string;
    readonly packages: string;
    /** A whole sentence. */
    readonly otherwise: string;
    readonly cause: unknown;
  }) {
    const { purpose, packages, otherwise, cause } = needed;
    super(
      `${purpose} needs the optional packages ${packages}, which are not installed. Install again without --omit=optional. ${otherwise}`,
      { cause },
    );
    this.name = 'MissingPackage';
  }
}

const NOT_FOUND: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']);

/** Whether an import or a require failed because a package is not there, and not because it is broken. */
export function isMissingPackage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NOT_FOUND.has(error.code);
}
