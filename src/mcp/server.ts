import { text } from 'node:stream/consumers';
import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from '@modelcontextprotocol/server';
import { nearest } from '../../core/command-text.ts';
import { ERRORS } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { markdownOf } from '../docs-site/markdown.ts';
import { DOCS_PAGES, type DocsPage } from '../docs-site/pages.ts';
import type { Gate } from '../gate/gate.ts';
import { asFailure, problemOf } from '../openapi/problem.ts';
import type { Answer, StreamedAnswer } from '../operations/answer.ts';
import type { AnyOperation } from '../operations/define.ts';
import { answered, refused, type ToolAnswer } from './answer.ts';
import { type Arguments, meantArguments } from './arguments.ts';
import { type McpExchange, toolCall } from './exchange.ts';
import { listSavedTools, savedCall } from './saved-tools.ts';
import { definitionAt, type Tool, type ToolWords, toolsOf, toolWordsOf } from './tool.ts';

interface McpOptions {
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

/** What one caller may see, and the owner may change at any time. */
const OWN_LIST_HINT = { ttlMs: 0, cacheScope: 'private' } as const;

export function createMcpSurface(options: McpOptions): McpSurface {
  const words = toolWordsOf(options.operations);
  const surface: Surface = {
    ...options,
    words,
    tools: toolsOf(options.operations, words),
  };
  return {
    // One handler for each exchange: a closure over its caller, without other state.
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
        'tools/list': exchange.owner === null ? LISTS_HINT : OWN_LIST_HINT,
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
  const { owner } = exchange;
  server.setRequestHandler('tools/list', async () => ({
    tools:
      owner === null
        ? [...tools.values()].map((tool) => definitionAt(tool, exchange.url))
        : [...(await savedToolsOf(owner, surface, exchange))],
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const asked = { tool: params.name, given: params.arguments ?? {} };
    const call = owner === null ? asked : (savedCall(owner, asked.tool, asked.given) ?? asked);
    const tool = tools.get(call.tool);
    if (tool === undefined) throw unknownTool(params.name, [...tools.keys()]);
    const given = meantArguments(tool.operation, call.given);
    const answer = await callTool(tool, given, { ...surface, exchange });
    return server.projectCallToolResult(answer, tool.definition.outputSchema);
  });
}

/** A list has no place for a refusal but an error of the protocol. */
async function savedToolsOf(owner: string, surface: Surface, exchange: McpExchange) {
  try {
    return await listSavedTools(owner, surface, exchange);
  } catch (error) {
    const { code, context } = asFailure(error);
    if (ERRORS[code].status >= 500) throw error;
    exchange.onRefused(asFailure(error));
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, context.detail ?? ERRORS[code].title, { code });
  }
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

interface CallFacts extends Surface {
  readonly exchange: McpExchange;
}

/** Calls a tool through the gate. Rejects never: a refusal is an answer that says what to do. */
async function callTool(
  tool: Tool,
  given: Arguments,
  { gate, operations, publicUrl, log, words, exchange }: CallFacts,
): Promise<ToolAnswer> {
  const { operation } = tool;
  const { deployment } = exchange.deps;
  const call = { tool, operation, operations, given, words, url: exchange.url, deployment };
  try {
    const { answer, delivered } = await gate.call(toolCall(operation, given, exchange));
    if (delivered !== null) exchange.whenSent(delivered);
    return answered(call, await bodyOf(answer));
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

function bodyOf(answer: Answer): Promise<Record<string, unknown>> {
  if ('file' in answer) throw new Error('a file as the answer of a tool');
  return 'stream' in answer ? readObject(answer.stream) : Promise.resolve(answer.body);
}

/** An answer that REST sends as printed text: JSON, because no other format passes `toolCall`. Its size is bounded by the sandbox. */
async function readObject({ body }: StreamedAnswer): Promise<Record<string, unknown>> {
  return JSON.parse(await text(body)) as Record<string, unknown>; // printed by us from an object
}

/** The current protocol, which every request names for itself. */
export const CURRENT_PROTOCOL = '2026-07-28';

/** Earlier versions, negotiated once, newest first. Those before had batches and no structured answers, and are not supported. */
export const EARLIER_PROTOCOLS: readonly string[] = ['2025-11-25', '2025-06-18'];

/** What a client puts before its model once: enough to choose a tool and to write a first query, and no reading list. */
export const INSTRUCTIONS = `Index of x402 settlements (agents paying in stablecoins) on EVM chains and Solana, and of ERC-8004 agent identities.
Choose: whether to pay an address: get_entity_summary; a wallet that is paid: get_merchant; one that pays: get_agent; its payments: list_entity_settlements; newest payments: list_flows; services to buy: list_endpoints; agents: list_agents; who pays whom: get_graph; is the index current: get_telemetry; any other count, sum, ranking or trend: run_sql.
SQL is ClickHouse SELECT. Main table: settlements (chain, block_time, tx_hash, payer, payee, asset, amount_usd, facilitator, evidence_tier, is_self_payment, finality). Example: SELECT payee, count() AS n, sum(amount_usd) AS usd FROM settlements WHERE block_time >= now() - INTERVAL 7 DAY GROUP BY payee ORDER BY usd DESC LIMIT 10
Always filter by time. Addresses are lower-case 0x text, of Solana base58, chains are like 'eip155:8453' (Base), times are UTC. Every row counts by default: for payments that are surely x402 add evidence_tier IN ('proven','probable'). For another table call get_sql_schema with table first.
explain_only checks a query for nothing. Keys: get_account says what yours may do.
Answers are in structuredContent; the text is a summary. next_call, where present, is the next call to make, complete. An empty list is an answer, a failure says so.`;

/** A page of the documentation, which an agent may read as a resource. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: 'text/markdown';
  /** Read from the disk each time: pages are asked for rarely, and the larger ones have 100 kB. */
  read(): string;
}

/** The documentation, as `docs://sql` and so on; pages link to each other by these names. */
export const DOCS_RESOURCES: readonly McpResource[] = DOCS_PAGES.map((page) => ({
  uri: uriOf(page),
  name: page.slug,
  title: page.title,
  description: page.description,
  mimeType: 'text/markdown',
  read: () =>
    markdownOf(page, (target) =>
      'page' in target ? `${uriOf(target.page)}${target.fragment}` : target.path,
    ),
}));

function uriOf({ slug }: Pick<DocsPage, 'slug'>): string {
  return `docs://${slug}`;
}
