import type { Readable } from 'node:stream';
import type { AuthorShare } from '../../core/domain/sale.ts';
import { Failure, fail } from '../../core/errors.ts';

export type { AuthorShare } from '../../core/domain/sale.ts';

/** The result of a run: first what it used, then, once that is charged, the answer. */

/** An object, printed by the operation's schema, bytes that are ready to leave, or a file that lies ready. */
export type Answer =
  | { readonly body: Record<string, unknown> }
  | { readonly stream: StreamedAnswer }
  | { readonly file: FileAnswer };

/** A file: a caller may want a range of it or, where it has it, nothing. Nothing is opened until a stream is asked for. */
export interface FileAnswer {
  readonly mediaType: string;
  readonly bytes: number;
  /** Strong where ranges are taken. */
  readonly etag: string;
  readonly takesRanges: boolean;
  /** Further facts, by header name (lower case). */
  readonly headers?: Readonly<Record<string, string>>;
  /** All of it, where it is in memory. */
  readonly content?: Buffer;
  /** `end` is the last byte, included. */
  stream(range?: { readonly start: number; readonly end: number }): Readable;
}

export interface StreamedAnswer {
  /** In place of the operation's own. */
  readonly status?: 202;
  readonly mediaType: string;
  /** Facts that are known before the first byte, by header name (lower case). */
  readonly headers: Readonly<Record<string, string>>;
  /** A reader that does not read it to its end must destroy it. */
  readonly body: Readable;
}

/** A run that succeeded. Nothing of its answer has left. */
export interface Outcome {
  /** Query Units used, between 0 and those held, where the price goes by use; null where the price is fixed. */
  readonly usedQu: number | null;
  /** Rows of a query's result. */
  readonly rows?: number;
  /** True where a job took over the hold of the call, and captures or releases it when it ends. */
  readonly keepsHold?: boolean;
  /** A part of the charge that belongs to another organization, which gets it with the charge. */
  readonly share?: AuthorShare;
  answer(charge: Charge): Answer;
  /** Instead of `answer`, where its charge could not be written and it is withheld. Frees what it holds. */
  discard(): void;
}

/** The charge for a call, which its answer reports. */
export interface Charge {
  /** Units set aside; on the x402 lane, the units that the offer covered. */
  readonly heldQu: number;
  readonly chargedQu: number;
  /** What the organization has left; null on the x402 lane. */
  readonly balance: number | null;
}

export const NOT_CHARGED: Charge = { heldQu: 0, chargedQu: 0, balance: null };

/** The failure of a run that was charged all the same; its answer states the charge. */
export function withCharge(error: unknown, charged: Charge): unknown {
  return error instanceof Failure ? fail(error.code, { ...error.context, charged }) : error;
}

/** The outcome of a run whose price does not depend on it. */
export function fixedOutcome(body: Record<string, unknown>): Outcome {
  return new FixedOutcome(body);
}

class FixedOutcome implements Outcome {
  readonly usedQu = null;
  private readonly body: Record<string, unknown>;

  constructor(body: Record<string, unknown>) {
    this.body = body;
  }

  answer(): Answer {
    return { body: this.body };
  }

  discard(): void {
    // A body in memory holds nothing.
  }
}
