import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import type { Log } from '../../core/log.ts';
import { nearest } from '../../core/nearest-name.ts';
import type { Gate } from '../gate/gate.ts';
import type { AnyOperation } from '../operations/define.ts';
import { callTool } from './call-tool.ts';
import { INSTRUCTIONS } from './instructions.ts';
import type { McpExchange } from './mcp-call.ts';
import { EARLIER_PROTOCOLS } from './protocol-versions.ts';
import type { McpResource } from './resources.ts';
import { definitionAt, type Tool, toolsOf } from './tool.ts';
import { type ToolWords, toolWordsOf } from './tool-words.ts';

export interface McpOptions {
  readonly operations: readonly AnyOperation[];
  readonly resources: readonly McpResource[];
  readonly gate: Pick<Gate, 'call'>;
  readonly version: string;
  readonly publicUrl: string;
  readonly log: Log;
}

/** The MCP surface: answers one HTTP exchange, statelessly, in the current protocol and the two before it. */
export interface McpSurface {
  fetch(request: Request, exchange: McpExchange, parsedBody: unknown): Promise<Response>;
}

/** What all exchanges have in common. */
interface Surface extends McpOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly words: ToolWords;
}

/** For how long a client may keep lists, which change with the program only. */
const LISTS_TTL_MS = 300_000;
const LISTS_HINT = { ttlMs: LISTS_TTL_MS, cacheScope: 'public' } as const;

export function createMcpSurface(options: McpOptions): McpSurface {
  const words = toolWordsOf(options.operations);
  const surface: Surface = {
    ...options,
    words,
    tools: toolsOf(options.operations, words),
  };
  return {
    // One handler for each exchange: it is a closure over who calls, and holds nothing besides.
    fetch: (request, exchange, parsedBody) =>
      createMcpHandler(() => serverFor(surface, exchange), {
        onerror: (error) => options.log.debug({ err: error, request_id: exchange.requestId }, 'MCP'),
      }).fetch(request, { parsedBody }),
  };
}

function serverFor(surface: Surface, exchange: McpExchange): Server {
  const server = new Server(
    { name: 'settlement-index', title: 'Settlement Index', version: surface.version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      supportedProtocolVersions: [...EARLIER_PROTOCOLS],
      cacheHints: {
        'tools/list': LISTS_HINT,
        'resources/list': LISTS_HINT,
        'resources/templates/list': LISTS_HINT,
        'resources/read': LISTS_HINT,
        'server/discover': LISTS_HINT,
      },
    },
  );
  serveTools(server, surface, exchange);
  serveResources(server, surface);
  return server;
}

function serveTools(server: Server, surface: Surface, exchange: McpExchange): void {
  const { tools } = surface;
  server.setRequestHandler('tools/list', () => ({
    tools: [...tools.values()].map((tool) => definitionAt(tool, exchange.url)),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = tools.get(params.name);
    if (tool === undefined) throw unknownTool(params.name, [...tools.keys()]);
    const answer = await callTool(tool, params.arguments ?? {}, { ...surface, exchange });
    return server.projectCallToolResult(answer, tool.definition.outputSchema);
  });
}

function unknownTool(name: string, known: readonly string[]): ProtocolError {
  const meant = nearest(name.slice(0, NAME_MAX_CHARS), known);
  const guess = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool of that name.${guess} Tools: ${known.join(', ')}.`,
    { tools: known, ...(meant === undefined ? {} : { did_you_mean: meant }) },
  );
}

/** Of what a caller took for a name; no tool's or resource's is as long. */
const NAME_MAX_CHARS = 64;

function serveResources(server: Server, { resources }: Surface): void {
  server.setRequestHandler('resources/list', () => ({
    resources: resources.map(({ read: _read, ...listed }) => listed),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }) => {
    const resource = resources.find(({ uri }) => uri === params.uri);
    if (resource === undefined) {
      const known = resources.map(({ uri }) => uri);
      const meant = nearest(params.uri.slice(0, NAME_MAX_CHARS), known);
      const guess = meant === undefined ? '' : ` Did you mean ${meant}?`;
      throw new ResourceNotFoundError(
        params.uri,
        `There is no resource of that URI.${guess} resources/list has them all: ${known.join(', ')}.`,
      );
    }
    return { contents: [{ uri: resource.uri, mimeType: resource.mimeType, text: resource.read() }] };
  });
}
