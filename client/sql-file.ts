import { type Receipt, receiptOf } from './payment.ts';
import { connectionLost, type Sent } from './send.ts';
import { factsOf, type SqlFacts } from './sql-facts.ts';

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
