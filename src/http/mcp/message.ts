import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS, type Failure, fail } from '../../../core/errors.ts';
import { type FailureOptions, refusal } from '../failures.ts';
import { bodyOf, readJsonBody } from '../request-input.ts';

/** JSON-RPC 2.0 messages that this layer handles itself: the incoming message, and refusals before the SDK sees it. */

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
/** "Server error": any failure that is not a fault of the message. `data` holds the problem with its `code`. */
const SERVER_ERROR = -32_000;

/** The one message of a POST. Throws what `readJsonBody` throws. */
export function readMessage(request: FastifyRequest): Record<string, unknown> {
  if (isBatch(request))
    throw fail('malformed_request', {
      detail:
        'A batch of messages is not part of the protocol since 2025-06-18. Send each message in a request of its own.',
    });
  return withoutNulls(readJsonBody(bodyOf(request), request.headers));
}

/** Clients write `params: null` and `arguments: null` for none. */
function withoutNulls({ params, ...message }: Record<string, unknown>): Record<string, unknown> {
  if (params === undefined || params === null) return message;
  if (typeof params !== 'object' || Object(params).arguments !== null) return { ...message, params };
  const { arguments: _none, ...others } = params as Record<string, unknown>; // an object, as was seen
  return { ...message, params: others };
}

/** Answers with the problem inside a JSON-RPC error, which is all that clients of this route read. */
export function sendRpcFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  options: FailureOptions,
): FastifyReply {
  const problem = refusal(request, reply, failure, options);
  const message = `${problem.detail} (${problem.code})`;
  const error = { code: rpcCode(failure, request), message, data: problem };
  const body = JSON.stringify({ jsonrpc: '2.0', id: idOf(request), error });
  return reply.header('content-type', 'application/json').serializer(String).send(body);
}

function rpcCode({ code }: Failure, request: FastifyRequest): number {
  if (code !== 'malformed_request') return SERVER_ERROR;
  return isBatch(request) ? INVALID_REQUEST : PARSE_ERROR;
}

function isBatch(request: FastifyRequest): boolean {
  return /^\s*\[/.test(bodyOf(request)?.toString('utf8', 0, 64) ?? '');
}

/** Null where no message could be read, as JSON-RPC wants it. */
function idOf(request: FastifyRequest): string | number | null {
  try {
    const { id } = readMessage(request);
    return typeof id === 'string' || typeof id === 'number' ? id : null;
  } catch {
    return null;
  }
}

/**
 * OAuth clients need a 401 that names the issuer. A tool call is refused inside the protocol, after the status of a streamed answer
 * was sent; so nothing is sent before the call runs or is refused. A call that runs was admitted, and its answer is streamed as it
 * comes. Source: MCP authorization, "Protected Resource Metadata Discovery".
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
