import { Readable } from 'node:stream';
import { ERRORS, type Failure } from '../../../core/errors.ts';

/**
 * Clients of OAuth look for one thing: a 401 with the way to the issuer. A tool call is refused inside the protocol, when the
 * status of a streamed answer has long been sent; so nothing is sent before the call runs or is refused. What runs was
 * admitted, and streams on as it comes. Source: MCP authorization, "Protected Resource Metadata Discovery".
 */
export class CallWatch {
  /** Why the call was refused; undefined while it was not. */
  refusal: Failure | undefined;
  /** Resolves when the run begins; never for what runs nothing. */
  readonly running: Promise<void>;
  private begin: () => void = () => undefined;

  constructor() {
    this.running = new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  onRun(): void {
    this.begin();
  }

  onRefused(failure: Failure): void {
    this.refusal = failure;
  }
}

const UNAUTHORIZED = 401;

/**
 * The body of the answer; with `watch` not before the call is admitted. Throws the refusal where a credential was missing or is
 * not good.
 */
export async function bodyOnceAdmitted({ body }: Response, watch: CallWatch | null): Promise<Readable | ''> {
  if (body === null) return '';
  const reader = body.getReader();
  const first = reader.read();
  if (watch !== null) await Promise.race([first, watch.running]);
  const refusal = watch?.refusal;
  if (refusal !== undefined && ERRORS[refusal.code].status === UNAUTHORIZED) {
    await reader.cancel();
    throw refusal;
  }
  return Readable.from(chunks(first, reader), { objectMode: false });
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

async function* chunks(
  first: ReturnType<BodyReader['read']>,
  reader: BodyReader,
): AsyncGenerator<Uint8Array> {
  try {
    for (let read = await first; !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel();
  }
}
