import { text } from 'node:stream/consumers';
import { ERRORS } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Gate } from '../gate/gate.ts';
import { asFailure, problemOf } from '../openapi/problem.ts';
import type { StreamedAnswer } from '../operations/answer.ts';
import { type McpExchange, toolCall } from './mcp-call.ts';
import type { Tool } from './tool.ts';
import { answered, refused, type ToolAnswer } from './tool-answer.ts';
import type { ToolWords } from './tool-words.ts';

export interface CallFacts {
  readonly gate: Pick<Gate, 'call'>;
  readonly publicUrl: string;
  readonly log: Log;
  readonly words: ToolWords;
  readonly exchange: McpExchange;
}

/** Calls a tool through the gate. Rejects never: a refusal is an answer that says what to do. */
export async function callTool(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  { gate, publicUrl, log, words, exchange }: CallFacts,
): Promise<ToolAnswer> {
  const { operation } = tool;
  const call = { tool, operation, given, words, url: exchange.url };
  try {
    const { answer, delivered } = await gate.call(toolCall(operation, given, exchange));
    if (delivered !== null) exchange.whenSent(delivered);
    const body = 'stream' in answer ? await readObject(answer.stream) : answer.body;
    return answered(call, body);
  } catch (error) {
    const failure = asFailure(error);
    exchange.onRefused(failure);
    if (ERRORS[failure.code].status >= 500)
      log.error(
        { err: failure.context.cause, code: failure.code, request_id: exchange.requestId },
        'tool failed',
      );
    const place = { path: '/mcp', requestId: exchange.requestId, publicUrl };
    return refused(call, problemOf(failure.code, failure.context, place), failure);
  }
}

/** An answer that REST sends as printed text: JSON, because no other format passes `toolCall`. Its size is bounded by the sandbox. */
async function readObject({ body }: StreamedAnswer): Promise<Record<string, unknown>> {
  return JSON.parse(await text(body)) as Record<string, unknown>; // printed by us from an object
}
