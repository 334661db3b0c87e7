import { SettlementIndexError } from './errors.ts';
import type { Receipt } from './payment.ts';
import type { CallOptions, Sent } from './send.ts';
import type { Answer, OperationId, Params } from './wire.ts';

/** What the methods of the client return: lazy promises of answers. */

/** An answer with its headers and receipt. */
export interface Reply<Body> {
  readonly body: Body;
  readonly status: number;
  readonly headers: Headers;
  /** The id of the request in the logs of the service. */
  readonly requestId: string | null;
  /** Of the payment for this call; null where nothing was paid. */
  readonly receipt: Receipt | null;
}

/**
 * A promise of an answer. The request is sent once, when the call is first awaited (or `then` or `withReply` is called). A call that
 * is never awaited sends nothing.
 */
export class Call<Body> implements Promise<Body> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #send: () => Promise<Sent>;
  #reply: Promise<Reply<Body>> | null = null;

  /** @internal */
  constructor(send: () => Promise<Sent>) {
    this.#send = send;
  }

  /** The answer with its headers and, where the call was paid for, the receipt. */
  withReply(): Promise<Reply<Body>> {
    this.#reply ??= this.#send().then(({ response, body, receipt }) => ({
      body: body as Body, // the service is tested against the document that the types are made from
      status: response.status,
      headers: response.headers,
      requestId: response.headers.get('x-request-id'),
      receipt,
    }));
    return this.#reply;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise whose request waits for the first listener
  then<Kept = Body, Caught = never>(
    kept?: ((body: Body) => Kept | PromiseLike<Kept>) | null,
    failed?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.withReply()
      .then(({ body }) => body)
      .then(kept, failed);
  }

  catch<Caught = never>(
    failed?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Body | Caught> {
    return this.then(null, failed);
  }

  finally(done?: (() => void) | null): Promise<Body> {
    return this.then().finally(done);
  }
}

/** The start of a page: a cursor or an offset. Null for the first page, and after the last one. */
type Place = string | number | null;

/** How a list is paged. */
export interface Paging {
  /** The field of the answer that holds the rows. */
  readonly rows: string;
  /** The parameter for the start of a page. The answer has that of the next page as `next_…`. */
  readonly paging: 'before' | 'offset';
}

/** A call that answers one page of a list and can read the pages after it. */
export class ListCall<Page, Row> extends Call<Page> {
  readonly #page: (from: Place) => Call<Page>;
  readonly #paging: Paging;

  /** @internal */
  constructor(page: (from: Place) => Call<Page>, send: () => Promise<Sent>, paging: Paging) {
    super(send);
    this.#page = page;
    this.#paging = paging;
  }

  /**
   * All pages from this one to the end. Each page is requested when the loop reaches it; leaving the loop requests no more. Each page
   * is a call of its own, and is paid for as one where calls are paid for.
   */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    const next = `next_${this.#paging.paging}`;
    for (let from: Place = null; ; ) {
      const page: Page = await this.#page(from);
      yield page;
      const following = fieldOf(page, next) as Place; // by the declared type of the answer
      if (following === null) return;
      if (following === from || following === undefined) throw unpageable(next);
      from = following;
    }
  }

  /** All rows from this page to the end of the list. Leaving the loop requests no more pages. */
  async *items(): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* fieldOf(page, this.#paging.rows) as Row[];
  }
}

function fieldOf(page: unknown, name: string): unknown {
  return typeof page === 'object' && page !== null ? Reflect.get(page, name) : undefined;
}

function unpageable(field: string): SettlementIndexError {
  const detail = `A page of the list has no usable ${field}.`;
  return new SettlementIndexError({ code: 'unexpected_answer', detail });
}

/** The arguments may be left out where no parameter is required. */
type Arguments<Id extends OperationId, Options> =
  Record<never, never> extends Params<Id>
    ? [params?: Params<Id>, options?: Options]
    : [params: Params<Id>, options?: Options];

export type Method<Id extends OperationId, Options = CallOptions> = (
  ...given: Arguments<Id, Options>
) => Call<Answer<Id>>;

type RowOf<Page, Rows extends string> = Page extends { [field in Rows]: readonly (infer Row)[] }
  ? Row
  : never;

export type ListMethod<Id extends OperationId, Rows extends string> = (
  ...given: Arguments<Id, CallOptions>
) => ListCall<Answer<Id>, RowOf<Answer<Id>, Rows>>;

/** Of operations that repeat an answer for the same idempotency key. */
export interface RepeatableOptions extends CallOptions {
  /** At most 255 characters, chosen by the caller. Its effect is described at the operation. */
  readonly idempotencyKey?: string | undefined;
}
