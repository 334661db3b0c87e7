/**
 * Where the bytes of kept results lie, under names that are digests of their content. Two adapters, a directory and S3-compatible
 * storage, keep this contract, and one suite tests both (test/src/results/result-files.ts).
 *
 * A file is whole or absent, whichever process dies and when. Every method rejects with `ResultFilesUnavailable` when the storage does
 * not answer, and may be repeated.
 */
export interface ResultFiles {
  /** Resolves when the file is there to stay. A file of the same name has the same content, and stays. */
  write(name: string, bytes: Buffer): Promise<void>;
  /** Null for a file that is not there. */
  read(name: string): Promise<Buffer | null>;
  /** Does nothing for a file that is not there. */
  remove(name: string): Promise<void>;
  /** Names of at most `limit` files that were written at or before a time. */
  writtenUntil(question: { readonly atMs: number; readonly limit: number }): Promise<readonly string[]>;
}

/** The storage does not answer. Its message holds no URL, no path and no key. */
export class ResultFilesUnavailable extends Error {
  constructor(cause: unknown) {
    super('the storage of results does not answer', { cause });
    this.name = 'ResultFilesUnavailable';
  }
}

/** SHA-256 in hex: no name leads out of the directory or the bucket. */
const NAME = /^[0-9a-f]{64}$/;

/** Throws TypeError for a name that is no digest: a bug of the caller. */
export function checkedName(name: string): string {
  if (NAME.test(name)) return name;
  throw new TypeError('the name of a result is no digest');
}

export function isResultName(name: string): boolean {
  return NAME.test(name);
}
