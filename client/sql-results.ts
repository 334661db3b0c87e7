import { type Receipt, receiptOf } from './payment.ts';
import { connectionLost, type Sent } from './send.ts';
import type { SqlWarning } from './wire.ts';

/** What the headers of an answer in lines or files say beside its rows. Source: docs/sql.md. */

export interface SqlFacts {
  /** Engine time, milliseconds. */
  readonly durationMs: number;
  readonly rowsRead: number;
  /** Uncompressed. */
  readonly bytesRead: number;
  readonly memoryBytes: number;
  readonly queryTier: string;
  readonly unitsHeld: number;
  readonly unitsCharged: number;
  /** Query Units that the organization has left; null where the call was paid for over x402. */
  readonly balance: number | null;
  /** RFC 3339, UTC. */
  readonly asOf: string;
  readonly warnings: readonly SqlWarning[];
  /** The text that ran; null where it is longer than a header may be. */
  readonly sql: string | null;
  /** Null where only the end of a long answer tells, in trailers, which `fetch` does not show. */
  readonly rowCount: number | null;
  /** Null like `rowCount`. */
  readonly truncated: boolean | null;
}

export function factsOf(headers: Headers): SqlFacts {
  const number = (name: string): number => Number(headers.get(name) ?? 0);
  const optional = (name: string): number | null => (headers.has(name) ? number(name) : null);
  const truncated = headers.get('x-truncated');
  const sql = headers.get('x-sql');
  return {
    durationMs: number('x-duration-ms'),
    rowsRead: number('x-rows-read'),
    bytesRead: number('x-bytes-read'),
    memoryBytes: number('x-memory-bytes'),
    queryTier: headers.get('x-query-tier') ?? '',
    unitsHeld: number('x-units-held'),
    unitsCharged: number('x-units-charged'),
    balance: optional('x-units-balance'),
    asOf: headers.get('x-as-of') ?? '',
    warnings: JSON.parse(headers.get('x-warnings') ?? '[]'),
    sql: sql === null ? null : decodeURIComponent(sql),
    rowCount: optional('x-row-count'),
    truncated: truncated === null ? null : truncated === 'true',
  };
}

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

export type SqlFileFormat = 'csv' | 'parquet' | 'arrow' | 'ndjson';

/** An answer as bytes. Read it once, by `stream`, `bytes` or `text`, or cancel the stream: until then the connection is open. */
export class SqlFile {
  /** Units, rows read and the like, where the headers say them. */
  readonly facts: SqlFacts;
  readonly mediaType: string;
  readonly receipt: Receipt | null;
  readonly #sent: Sent;
  readonly #signal: AbortSignal | undefined;

  /** @internal */
  constructor(sent: Sent, signal: AbortSignal | undefined) {
    this.#sent = sent;
    this.#signal = signal;
    const { headers } = sent.response;
    this.facts = factsOf(headers);
    this.mediaType = headers.get('content-type') ?? '';
    this.receipt = receiptOf(headers);
  }

  /** The bytes as they arrive, no faster than they are read. An answer that breaks off errors the stream. */
  stream(): ReadableStream<Uint8Array> {
    const { body } = this.#sent.response;
    if (body === null) throw new TypeError('the answer has no body');
    return body;
  }

  /** Rejects with `connection_lost` where the answer breaks off. */
  async bytes(): Promise<Uint8Array> {
    const buffer = await this.#sent.response.arrayBuffer().catch((cause: unknown) => this.#fail(cause));
    return new Uint8Array(buffer);
  }

  /** Rejects with `connection_lost` where the answer breaks off. */
  text(): Promise<string> {
    return this.#sent.response.text().catch((cause: unknown) => this.#fail(cause));
  }

  #fail(cause: unknown): never {
    this.#signal?.throwIfAborted();
    throw connectionLost(this.#sent.response, cause).withPayment(this.#sent.payment);
  }
}
