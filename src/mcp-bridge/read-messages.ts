import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Response } from 'undici';

/** The messages of an answer, as they arrive. Null where it is no answer of the protocol, but says so in `body`. */
interface NoMessages {
  readonly body: unknown;
}

const EVENT_STREAM = 'text/event-stream';

/** Whether messages come as a stream of events. */
export function isEventStream(response: Response): boolean {
  return mediaType(response) === EVENT_STREAM;
}

/** Messages of an event stream: notifications on the way, then the answer. */
export async function* eventMessages({ body }: Response): AsyncGenerator<JSONRPCMessage, void, undefined> {
  if (body === null) return;
  // undici's streams are those of the platform, under types of their own.
  const events = (body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    const message = asMessage(parse(data));
    if (message !== null) yield message;
  }
}

/** The message, or the batch, of a JSON answer; what it is instead where it is none. */
export async function jsonMessages(
  response: Response,
): Promise<{ readonly messages: JSONRPCMessage[] } | NoMessages> {
  const body = parse(await response.text());
  const messages = (Array.isArray(body) ? body : [body]).map(asMessage);
  const all = messages.filter((message) => message !== null);
  return all.length === messages.length && all.length > 0 ? { messages: all } : { body };
}

function mediaType(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whatever else is in a message is for the two ends to understand. */
function asMessage(value: unknown): JSONRPCMessage | null {
  const isMessage = typeof value === 'object' && value !== null && Reflect.get(value, 'jsonrpc') === '2.0';
  return isMessage ? (value as JSONRPCMessage) : null;
}
