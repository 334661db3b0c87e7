import type { Receipt } from './payment.ts';
import { connectionLost, type Sent } from './send.ts';
import { factsOf, type SqlFacts } from './sql-facts.ts';

/** Rows of a query, one by one as they arrive. */

export interface SqlRowsLimits {
  /** Rows that are given out at most. */
  readonly rowsMax: number;
  /** Rows that the service was asked for. */
  readonly asked: number;
  readonly signal: AbortSignal | undefined;
}

/** An answer of this size may have been cut by the service’s own limit of 64 MiB, whatever the size of its rows. */
const BYTES_SURELY_WHOLE = 32 * 1024 * 1024;

/** Can be walked once. The request goes out with the first row that is asked for. */
export class SqlRows<Row> implements AsyncIterable<Row> {
  readonly #open: (signal: AbortSignal) => Promise<Sent>;
  readonly #limits: SqlRowsLimits;
  #begun = false;
  #sent: Sent | null = null;
  #rowCount = 0;
  #truncated: boolean | null = null;

  /** @internal */
  constructor(open: (signal: AbortSignal) => Promise<Sent>, limits: SqlRowsLimits) {
    this.#open = open;
    this.#limits = limits;
  }

  /** Engine time, units and the like; null before the first row. */
  get facts(): SqlFacts | null {
    return this.#sent === null ? null : factsOf(this.#sent.response.headers);
  }

  /** Of the payment for the query; null where nothing was paid, and before the first row. */
  get receipt(): Receipt | null {
    return this.#sent?.receipt ?? null;
  }

  /** Rows given out until now. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /**
   * Whether there are more rows than were given out. Known after the last row; null before, after leaving the loop, and where a long
   * answer does not tell: with a million rows or more than 32 MiB.
   */
  get truncated(): boolean | null {
    return this.#truncated;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    if (this.#begun) throw new TypeError('rows of a query can be walked once: ask again for another walk');
    this.#begun = true;
    const leaving = new AbortController();
    const { rowsMax, signal } = this.#limits;
    const signals = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
    try {
      const sent = await this.#open(signals);
      this.#sent = sent;
      for await (const line of this.#lines(sent)) {
        if (this.#rowCount === rowsMax) {
          this.#truncated = true;
          return;
        }
        this.#rowCount += 1;
        yield JSON.parse(line) as Row; // the caller's word
      }
    } finally {
      // Nobody reads on: an answer that is still under way is not wanted any more.
      leaving.abort();
    }
  }

  async *#lines({ response, payment }: Sent): AsyncGenerator<string, void, undefined> {
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    let rest = '';
    let bytes = 0;
    for (let lines = 0; ; ) {
      const { done, value } = await this.#read(reader, response, payment);
      if (done) {
        this.#end(response, { lines, bytes, isWhole: rest === '' && decoder.decode() === '', payment });
        return;
      }
      bytes += value.length;
      const text = decoder.decode(value, { stream: true });
      // A long row arrives in many pieces: it is looked through once.
      const parts = text.includes('\n') ? (rest + text).split('\n') : [rest + text];
      rest = parts.pop() ?? '';
      lines += parts.length;
      yield* parts;
    }
  }

  async #read(
    reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
    response: Response,
    payment: string | null,
  ) {
    try {
      return (await reader?.read()) ?? { done: true as const, value: undefined };
    } catch (cause) {
      this.#limits.signal?.throwIfAborted();
      throw connectionLost(response, cause).withPayment(payment);
    }
  }

  /** A cut answer must not look like a whole one. */
  #end(
    response: Response,
    end: {
      readonly lines: number;
      readonly bytes: number;
      readonly isWhole: boolean;
      readonly payment: string | null;
    },
  ): void {
    const { rowCount, truncated } = factsOf(response.headers);
    if (!end.isWhole || (rowCount !== null && rowCount !== end.lines))
      throw connectionLost(response).withPayment(end.payment);
    const { asked } = this.#limits;
    if (truncated !== null) this.#truncated = truncated;
    else if (end.bytes < BYTES_SURELY_WHOLE && end.lines < asked) this.#truncated = false;
  }
}
