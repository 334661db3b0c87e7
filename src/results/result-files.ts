import { fail } from '../../core/errors.ts';

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
  /** Null for a file that is not there. `part`: only these bytes of it, which are there. */
  read(name: string, part?: FilePart): Promise<Buffer | null>;
  /** Does nothing for a file that is not there. */
  remove(name: string): Promise<void>;
  /** Names of at most `limit` files that were written at or before a time. */
  writtenUntil(question: { readonly atMs: number; readonly limit: number }): Promise<readonly string[]>;
  /** What all files take, unfinished ones too, and what the disk has left; null for a storage without a known end. */
  room(): Promise<FilesRoom>;
}

/** Bytes of a file: the first one, and the one behind the last one. */
export interface FilePart {
  readonly from: number;
  readonly to: number;
}

export interface FilesRoom {
  readonly usedBytes: number;
  readonly freeBytes: number | null;
}

/** The storage does not answer. Its message holds no URL, no path and no key. */
export class ResultFilesUnavailable extends Error {
  /** It answers that it has no room for the file. */
  readonly isFull: boolean;

  constructor(cause: unknown, isFull = false) {
    super('the storage of results does not answer', { cause });
    this.name = 'ResultFilesUnavailable';
    this.isFull = isFull;
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

const STORAGE_RETRY_AFTER_SECONDS = 5;

/** A storage that does not answer is 503. */
export async function askFiles<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (cause) {
    if (!(cause instanceof ResultFilesUnavailable)) throw cause;
    throw fail('upstream_unavailable', {
      detail: 'Kept results cannot be read or written right now.',
      resource: 'results',
      retryAfterSeconds: STORAGE_RETRY_AFTER_SECONDS,
      cause,
    });
  }
}
