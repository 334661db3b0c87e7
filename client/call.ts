import { SettlementIndexError } from './errors.ts';
import type { Receipt } from './payment.ts';
import type { CallOptions, Sent } from './send.ts';
import type { Answer, OperationId, Params } from './wire.ts';

/** What a method of the client gives back: a promise of the answer that can also tell what came with it. */

/** An answer with what came with it. */
export interface Reply<Body> {
  readonly body: Body;
  readonly status: number;
  readonly headers: Headers;
  /** Names the request in the logs of the service. */
  readonly requestId: string | null;
  /** Of the payment for this call; null where nothing was paid. */
  readonly receipt: Receipt | null;
}

/**
 * A promise of an answer. The request goes out when the call is awaited (or `then` or `withReply` is called), and once: a call that
 * nobody awaits sends nothing.
 */
export class Call<Body> implements Promise<Body> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #send: () => Promise<Sent>;
  #reply: Promise<Reply<Body>> | null = null;

  /** @internal */
  constructor(send: () => Promise<Sent>) {
    this.#send = send;
  }

  /** The answer together with its headers and, where it was paid for, the receipt. */
  withReply(): Promise<Reply<Body>> {
    this.#reply ??= this.#send().then(({ response, body, receipt }) => ({
      body: body as Body, // as the document says, against which the service is tested
      status: response.status,
      headers: response.headers,
      requestId: response.headers.get('x-request-id'),
      receipt,
    }));
    return this.#reply;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise, of which the request waits for the first listener
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

/** Where the next page begins: a cursor or an offset, null after the last one. */
type Place = string | number | null;

/** How a list goes on. */
export interface Paging {
  /** The field of the answer with the rows. */
  readonly rows: string;
  /** The parameter that a page begins at; the answer has the next one as `next_…`. */
  readonly paging: 'before' | 'offset';
}

/** A call that answers one page of a list, and can walk on from it. */
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
   * Every page from this one to the end, each asked for when the one before was used. Leaving the loop asks for no more. Each page is
   * a call of its own, also where calls are paid for.
   */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    const next = `next_${this.#paging.paging}`;
    for (let from: Place = null; ; ) {
      const page: Page = await this.#page(from);
      yield page;
      const following = fieldOf(page, next) as Place; // as the document says
      if (following === null) return;
      if (following === from || following === undefined) throw endless(next);
      from = following;
    }
  }

  /** Every row from this page to the end of the list. Leaving the loop asks for no more pages. */
  async *items(): AsyncGenerator<Row, void, undefined> {
    for await (const page of this.pages()) yield* fieldOf(page, this.#paging.rows) as Row[];
  }
}

function fieldOf(page: unknown, name: string): unknown {
  return typeof page === 'object' && page !== null ? Reflect.get(page, name) : undefined;
}

function endless(field: string): SettlementIndexError {
  const detail = `A page does not say in ${field} where the list goes on.`;
  return new SettlementIndexError({ code: 'unexpected_answer', detail });
}

/** Methods of operations, typed by the OpenAPI document. */

/** Parameters may be left out where none is required. */
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

/** Of operations that give the same answer again for the same key. */
export interface RepeatableOptions extends CallOptions {
  /** At most 255 characters, chosen by the caller; what it does is said at the operation. */
  readonly idempotencyKey?: string | undefined;
}
