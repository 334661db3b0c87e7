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
