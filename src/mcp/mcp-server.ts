import { text } from 'node:stream/consumers';
import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { StreamedAnswer } from '../catalogue/answer.ts';
import type { AnyOperation } from '../catalogue/operation.ts';
import { ERRORS, Failure, fail } from '../errors.ts';
import type { Gate } from '../gate/gate.ts';
import type { Log } from '../log.ts';
import { problemOf } from '../problem.ts';
import { McpCall, type McpExchange } from './mcp-call.ts';
import type { McpResource } from './resources.ts';
import { type Tool, toolsOf } from './tool.ts';
import { answered, refused, type ToolAnswer } from './tool-answer.ts';

export interface McpOptions {
  readonly operations: readonly AnyOperation[];
  readonly resources: readonly McpResource[];
  readonly gate: Gate;
  readonly version: string;
  readonly publicUrl: string;
  readonly log: Log;
}

/** The MCP surface: answers one HTTP exchange, statelessly, in the current protocol and the two before it. */
export interface McpSurface {
  fetch(request: Request, exchange: McpExchange, parsedBody: unknown): Promise<Response>;
}

/** Seconds for which a client may keep lists, which change with the program only. */
const LISTS_TTL_MS = 300_000;
const INSTRUCTIONS =
  'An index of x402 settlements (agent payments in stablecoins) and ERC-8004 agent identities. Start with get_account: it says what your key may do. Lists go on with next_call. For questions that no tool answers use run_sql; read the resource docs://sql first, and try explain_only, which is free. An empty list is an answer; a failure says so.';

export function createMcpSurface(options: McpOptions): McpSurface {
  const tools = toolsOf(options.operations);
  return {
    // One handler for each exchange: it is a closure over who calls, and holds nothing besides.
    fetch: (request, exchange, parsedBody) =>
      createMcpHandler(() => serverFor(options, tools, exchange), {
        onerror: (error) => options.log.debug({ err: error, request_id: exchange.requestId }, 'MCP'),
      }).fetch(request, { parsedBody }),
  };
}

function serverFor(options: McpOptions, tools: ReadonlyMap<string, Tool>, exchange: McpExchange): Server {
  const hint = { ttlMs: LISTS_TTL_MS, cacheScope: 'public' } as const;
  const server = new Server(
    { name: 'settlement-index', title: 'Settlement Index', version: options.version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      cacheHints: {
        'tools/list': hint,
        'resources/list': hint,
        'resources/read': hint,
        'server/discover': hint,
      },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [...tools.values()].map(({ definition }) => definition),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = tools.get(params.name);
    if (tool === undefined) {
      const known = [...tools.keys()].join(', ');
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool of that name. Tools: ${known}.`,
      );
    }
    const answer = await call(tool, params.arguments ?? {}, { ...options, exchange });
    return server.projectCallToolResult(answer, tool.definition.outputSchema);
  });
  server.setRequestHandler('resources/list', () => ({
    resources: options.resources.map(({ read: _read, ...listed }) => listed),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }) => {
    const resource = options.resources.find(({ uri }) => uri === params.uri);
    if (resource === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'There is no resource of that URI; resources/list has them all.',
      );
    return { contents: [{ uri: resource.uri, mimeType: resource.mimeType, text: resource.read() }] };
  });
  return server;
}

interface CallContext extends Pick<McpOptions, 'gate' | 'publicUrl' | 'log'> {
  readonly exchange: McpExchange;
}

async function call(
  { operation }: Tool,
  given: Readonly<Record<string, unknown>>,
  { gate, publicUrl, log, exchange }: CallContext,
): Promise<ToolAnswer> {
  try {
    const { answer, delivered } = await gate.call(new McpCall(operation, given, exchange));
    if (delivered !== null) exchange.whenSent(delivered);
    const body = 'stream' in answer ? await readObject(answer.stream) : answer.body;
    return answered(operation, body, given);
  } catch (error) {
    const failure = asFailure(error);
    if (ERRORS[failure.code].status >= 500)
      log.error(
        { err: failure.context.cause, code: failure.code, request_id: exchange.requestId },
        'tool failed',
      );
    const place = { path: '/mcp', requestId: exchange.requestId, publicUrl };
    return refused(problemOf(failure.code, failure.context, place));
  }
}

/** An answer that REST sends as printed text: JSON, because no other format passes `McpCall`. Its size is bounded by the sandbox. */
async function readObject({ body }: StreamedAnswer): Promise<Record<string, unknown>> {
  return JSON.parse(await text(body)) as Record<string, unknown>; // printed by us from an object
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return fail('internal_error', {
    detail: 'The service failed to answer this call. The fault is on our side and was logged.',
    cause: error,
  });
}
