import { type Receipt, receiptOf } from './payment.ts';
import { connectionLost, type Sent } from './send.ts';
import type { SqlWarning } from './wire.ts';

/** Answers of `POST /sql` that are not JSON: rows one by one, and files. */

/** The facts in the headers of an answer in bytes (docs/sql.md). */

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
  /** Query Units that the organization has left; null where the call was paid over x402. */
  readonly balance: number | null;
  /** RFC 3339, UTC. */
  readonly asOf: string;
  readonly warnings: readonly SqlWarning[];
  /** The text that ran; null where it is too long for a header. */
  readonly sql: string | null;
  /** Rows of the answer; null where a proxy took the header away. */
  readonly rowCount: number | null;
  /** Whether there are more rows than `maxRows` left in the answer; null like `rowCount`. */
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

/** The rows of a query as they arrive. They can be iterated once; the request is sent when the iteration begins. */
export class SqlRows<Row> implements AsyncIterable<Row> {
  readonly #open: (signal: AbortSignal) => Promise<Sent>;
  readonly #signal: AbortSignal | undefined;
  #begun = false;
  #sent: Sent | null = null;
  #rowCount = 0;
  #truncated: boolean | null = null;

  /** @internal */
  constructor(open: (signal: AbortSignal) => Promise<Sent>, signal: AbortSignal | undefined) {
    this.#open = open;
    this.#signal = signal;
  }

  /** Engine time, units and the like; null before the first row. */
  get facts(): SqlFacts | null {
    return this.#sent === null ? null : factsOf(this.#sent.response.headers);
  }

  /** Of the payment for the query; null where nothing was paid, and before the first row. */
  get receipt(): Receipt | null {
    return this.#sent?.receipt ?? null;
  }

  /** Rows yielded so far. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Whether there are more rows than were yielded. Known after the last row; null before, and after leaving the loop. */
  get truncated(): boolean | null {
    return this.#truncated;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row, void, undefined> {
    if (this.#begun)
      throw new TypeError('rows of a query can be iterated once: run the query again for another iteration');
    this.#begun = true;
    const stopping = new AbortController();
    const signal = this.#signal;
    const signals = signal === undefined ? stopping.signal : AbortSignal.any([signal, stopping.signal]);
    try {
      const sent = await this.#open(signals);
      this.#sent = sent;
      for await (const line of this.#lines(sent)) {
        this.#rowCount += 1;
        yield JSON.parse(line) as Row; // the caller’s claim
      }
    } finally {
      // Closes the connection where the loop was left early.
      stopping.abort();
    }
  }

  async *#lines({ response, payment }: Sent): AsyncGenerator<string, void, undefined> {
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    let rest = '';
    for (let lines = 0; ; ) {
      const { done, value } = await this.#read(reader, response, payment);
      if (done) {
        this.#end(response, { lines, isComplete: rest === '' && decoder.decode() === '', payment });
        return;
      }
      const text = decoder.decode(value, { stream: true });
      // A long row arrives in many chunks; each chunk is searched once.
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
      this.#signal?.throwIfAborted();
      throw connectionLost(response, cause).withPayment(payment);
    }
  }

  /** An incomplete answer must not look complete. */
  #end(
    response: Response,
    end: {
      readonly lines: number;
      readonly isComplete: boolean;
      readonly payment: string | null;
    },
  ): void {
    const { rowCount, truncated } = factsOf(response.headers);
    if (!end.isComplete || (rowCount !== null && rowCount !== end.lines))
      throw connectionLost(response).withPayment(end.payment);
    this.#truncated = truncated;
  }
}

export type SqlFileFormat = 'csv' | 'parquet' | 'arrow' | 'ndjson';

/** An answer as bytes. Read it once with `stream`, `bytes` or `text`, or cancel the stream: the connection is open until then. */
export class SqlFile {
  /** Units, rows read and so on, where the headers have them. */
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

  /** The bytes as they arrive, no faster than they are read. The stream errors where the answer breaks off. */
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
