/**
 * An error that the user must correct: in the command line, the configuration, a directory or the database. The command prints only
 * its message, which says how; any other error is a defect and is printed with its stack.
 */
export class UserError extends Error {
  /** One line per problem; with a single problem, just the message. */
  readonly problems: readonly string[];

  constructor(message: string, options?: ErrorOptions & { readonly problems?: readonly string[] }) {
    super(message, options);
    this.name = 'UserError';
    this.problems = options?.problems ?? [message];
  }
}

/** Several problems under one heading. */
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

/** Whether an import or require failed because the package is missing, not because it is broken. */
export function isMissingPackage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NOT_FOUND.has(error.code);
}
