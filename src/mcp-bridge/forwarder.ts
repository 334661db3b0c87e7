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
  /** Settles when everything that the message led to was handed to `deliver`. Never rejects. */
  forward(message: JSONRPCMessage): Promise<void>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface ForwarderOptions {
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

export function createForwarder({ urls, key, waitMs, deliver, tell }: ForwarderOptions): Forwarder {
  const agent = new Agent({ headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS });
  const underWay = new Map<RequestId, AbortController>();
  let negotiated: string | null = null;

  const post = async (message: JSONRPCMessage, signal: AbortSignal): Promise<Response> => {
    try {
      return await fetch(urls.mcp, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...messageHeaders(message, negotiated),
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify(message),
        redirect: 'manual',
        dispatcher: agent,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(urls.shown, error);
    }
  };

  const pass = async (message: JSONRPCMessage, signal: AbortSignal): Promise<void> => {
    const response = await post(message, signal);
    const answers = messagesOf(response, urls.shown);
    let isAnswered = !isJSONRPCRequest(message);
    for await (const answer of answers) {
      if (isJSONRPCRequest(message) && 'id' in answer && answer.id === message.id) {
        isAnswered = true;
        negotiated = versionIn(message, answer) ?? negotiated;
      }
      await deliver(answer);
    }
    if (!isAnswered) throw unreachable(urls.shown, null);
  };

  const passWithin = async (message: JSONRPCMessage, signal: AbortSignal): Promise<void> => {
    const until = performance.now() + waitMs;
    for (let isTold = false; ; isTold = true) {
      try {
        return await pass(message, signal);
      } catch (error) {
        const again = error instanceof ServiceTrouble && error.harmless && performance.now() < until;
        if (!again) throw error;
        if (!isTold) tell(`${error.message} Waiting for it.`);
        await sleep(RETRY_EVERY_MS, undefined, { signal });
      }
    }
  };

  const request = async (message: JSONRPCMessage & { readonly id: RequestId }): Promise<void> => {
    const leaving = new AbortController();
    underWay.set(message.id, leaving);
    try {
      await passWithin(message, leaving.signal);
    } catch (error) {
      // Whoever cancels a request wants no answer to it.
      if (leaving.signal.aborted) return;
      tell(textOf(error));
      await deliver({ jsonrpc: '2.0', id: message.id, error: errorOf(error) });
    } finally {
      underWay.delete(message.id);
    }
  };

  return {
    async forward(message) {
      if (isJSONRPCRequest(message)) return request(message);
      const cancelled = cancelledIn(message);
      // The service keeps no sessions: the end of its connection is what ends a call.
      if (cancelled !== undefined) return underWay.get(cancelled)?.abort();
      await pass(message, AbortSignal.timeout(NOTICE_TIMEOUT_MS)).catch((error: unknown) =>
        tell(textOf(error)),
      );
    },
    async close() {
      for (const leaving of underWay.values()) leaving.abort();
      await agent.destroy();
    },
  };
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
  const read = await jsonMessages(response);
  if ('messages' in read) return yield* read.messages;
  throw refusal(shown, {
    status: response.status,
    location: response.headers.get('location'),
    body: read.body,
  });
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
