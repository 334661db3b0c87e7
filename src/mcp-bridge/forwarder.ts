import { setTimeout as sleep } from 'node:timers/promises';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';
import { Agent, fetch, type Response } from 'undici';
import { messageHeaders } from './message-headers.ts';
import { eventMessages, isEventStream, jsonMessages } from './read-messages.ts';
import { refusal, ServiceTrouble, unreachable } from './service-trouble.ts';
import type { ServiceUrls } from './service-url.ts';

/** Passes messages on to the service and its answers back, whatever they say: new tools need no new bridge. */
export interface Forwarder {
  /** Settles when everything that the message led to was handed to `deliver`. Rejects only where that does. */
  forward(message: JSONRPCMessage): Promise<void>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

interface ForwarderOptions {
  readonly urls: ServiceUrls;
  readonly key: string | undefined;
  /** How long a request waits for a service that is away. */
  readonly waitMs: number;
  readonly deliver: (message: JSONRPCMessage) => Promise<void>;
  /** A line for people. */
  readonly tell: (line: string) => void;
}

/** A query of the longest tier, and its wait for a turn. */
const ANSWER_TIMEOUT_MS = 600_000;
/** What nobody waits for. */
const NOTICE_TIMEOUT_MS = 8_000;
const RETRY_EVERY_MS = 400;
/** JSON-RPC leaves this to servers: the message reached no service that could answer it. */
const TROUBLE_CODE = -32_000;
const ACCEPTED = 202;

export function createForwarder(options: ForwarderOptions): Forwarder {
  return new HttpForwarder(options);
}

class HttpForwarder implements Forwarder {
  private readonly options: ForwarderOptions;
  private readonly agent = new Agent({ headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS });
  private readonly underWay = new Map<RequestId, AbortController>();
  /** The version that `initialize` agreed on. */
  private negotiated: string | null = null;

  constructor(options: ForwarderOptions) {
    this.options = options;
  }

  async forward(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCRequest(message)) return this.request(message);
    const cancelled = cancelledIn(message);
    // The service keeps no sessions: the end of its connection is what ends a call.
    if (cancelled !== undefined) return this.underWay.get(cancelled)?.abort();
    await this.pass(message, AbortSignal.timeout(NOTICE_TIMEOUT_MS)).catch((error: unknown) =>
      this.options.tell(textOf(error)),
    );
  }

  async close(): Promise<void> {
    for (const leaving of this.underWay.values()) leaving.abort();
    await this.agent.destroy();
  }

  private async request(message: JSONRPCMessage & { readonly id: RequestId }): Promise<void> {
    const leaving = new AbortController();
    this.underWay.set(message.id, leaving);
    try {
      await this.passWithin(message, leaving.signal);
    } catch (error) {
      // Whoever cancels a request wants no answer to it.
      if (leaving.signal.aborted) return;
      this.options.tell(textOf(error));
      await this.options.deliver({ jsonrpc: '2.0', id: message.id, error: errorOf(error) });
    } finally {
      this.underWay.delete(message.id);
    }
  }

  private async passWithin(message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    const until = performance.now() + this.options.waitMs;
    for (let isTold = false; ; isTold = true) {
      try {
        return await this.pass(message, signal);
      } catch (error) {
        const again = error instanceof ServiceTrouble && error.harmless && performance.now() < until;
        if (!again) throw error;
        if (!isTold) this.options.tell(`${error.message} Waiting for it.`);
        await sleep(RETRY_EVERY_MS, undefined, { signal });
      }
    }
  }

  private async pass(message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    const { urls, deliver } = this.options;
    const response = await this.post(message, signal);
    let isAnswered = !isJSONRPCRequest(message);
    for await (const answer of messagesOf(response, urls.shown)) {
      const own = addressed(answer, message);
      if (isJSONRPCRequest(message) && 'id' in own && own.id === message.id) {
        isAnswered = true;
        this.negotiated = versionIn(message, own) ?? this.negotiated;
      }
      await deliver(own);
    }
    if (!isAnswered) throw unreachable(urls.shown, null);
  }

  private async post(message: JSONRPCMessage, signal: AbortSignal): Promise<Response> {
    const { urls, key } = this.options;
    try {
      return await fetch(urls.mcp, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...messageHeaders(message, this.negotiated),
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(message),
        redirect: 'manual',
        dispatcher: this.agent,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(urls.shown, error);
    }
  }
}

async function* messagesOf(
  response: Response,
  shown: string,
): AsyncGenerator<JSONRPCMessage, void, undefined> {
  if (response.status === ACCEPTED) return void (await response.body?.cancel());
  if (response.ok && isEventStream(response)) {
    try {
      yield* eventMessages(response);
    } catch (error) {
      throw unreachable(shown, error);
    }
    return;
  }
  const read = await jsonMessages(response).catch((error: unknown) => {
    throw unreachable(shown, error);
  });
  if ('messages' in read) return yield* read.messages;
  throw refusal(shown, {
    status: response.status,
    location: response.headers.get('location'),
    body: read.body,
  });
}

/** A service that could not read a request does not know whose it was; we do. */
function addressed(answer: JSONRPCMessage, message: JSONRPCMessage): JSONRPCMessage {
  const isNobodys = 'error' in answer && (answer.id ?? null) === null;
  return isNobodys && isJSONRPCRequest(message) ? { ...answer, id: message.id } : answer;
}

/** What `initialize` agreed on. */
function versionIn(message: JSONRPCMessage, answer: JSONRPCMessage): string | null {
  if (!isJSONRPCRequest(message) || message.method !== 'initialize' || !isJSONRPCResultResponse(answer))
    return null;
  const version = answer.result['protocolVersion'];
  return typeof version === 'string' ? version : null;
}

function cancelledIn(message: JSONRPCMessage): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function errorOf(error: unknown) {
  const problem = error instanceof ServiceTrouble ? error.problem : undefined;
  return { code: TROUBLE_CODE, message: textOf(error), ...(problem === undefined ? {} : { data: problem }) };
}

/** Texts of other errors could say anything. */
function textOf(error: unknown): string {
  return error instanceof ServiceTrouble
    ? error.message
    : `The bridge failed to pass the message on (${error instanceof Error ? error.name : 'unknown'}).`;
}
