import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SqlSandbox } from '../../sandbox/sql-sandbox.ts';
import type { OperationDeps } from '../catalogue/operation.ts';
import type { Config } from '../config/config.ts';
import { fail } from '../errors.ts';
import type { McpExchange } from '../mcp/mcp-call.ts';
import type { McpSurface } from '../mcp/mcp-server.ts';
import { BASE_PATHS, installRefusedMethods } from './api-routes.ts';
import { RateHeaders } from './headers.ts';
import { JSON_BODY_MAX_BYTES, readJsonBody } from './read-body.ts';
import { BoundReader, RequestSandbox, startRun } from './request-facts.ts';

/** Where agents find the MCP surface; the same under each base path (read-api.md 9.2). */
export const MCP_PATHS = ['/mcp', ...BASE_PATHS.map((base) => `${base}/mcp`)] as const;

export interface McpRouteOptions {
  readonly surface: McpSurface;
  readonly deps: OperationDeps;
  readonly sandbox: SqlSandbox;
  /** Host names that callers may use; null where the deployment cannot know them (it listens on every address). */
  readonly hostnames: ReadonlySet<string> | null;
}

/** Addresses that mean every interface of the machine. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/**
 * The names that MCP callers may use: loopback, the listening address, and the public URL. A service that listens on every
 * address and was not told its URL is behind something that knows; it takes any name.
 */
export function mcpHostnames({ host, publicUrl }: Config['http']): McpRouteOptions['hostnames'] {
  if (publicUrl === null && ANY_ADDRESS.has(host)) return null;
  const listening = host.includes(':') ? `[${host}]` : host;
  return new Set([
    'localhost',
    '127.0.0.1',
    '[::1]',
    listening,
    ...(publicUrl === null ? [] : [hostnameOf(publicUrl)]),
  ]);
}

/** Serves MCP over Streamable HTTP: stateless, so POST is all there is. */
export function installMcp(app: FastifyInstance, options: McpRouteOptions): void {
  for (const url of MCP_PATHS) {
    app.route({
      method: 'POST',
      url,
      bodyLimit: JSON_BODY_MAX_BYTES,
      decompress: false,
      onRequest: (request, _reply, done) => done(refusalOf(request, options.hostnames)),
      handler: (request, reply) => answer(options, request, reply),
    });
    installRefusedMethods(app, url, ['POST']);
  }
}

/**
 * A page on another site must not talk to a service on this machine by way of a name that it resolves to here (DNS rebinding).
 * Clients that are no browsers send no Origin.
 */
function refusalOf(request: FastifyRequest, hostnames: McpRouteOptions['hostnames']): Error | undefined {
  if (hostnames === null) return undefined;
  const { origin } = request.headers;
  if (!hostnames.has(hostnameOf(`http://${request.headers.host ?? ''}`)))
    return fail('forbidden_origin', {
      detail: 'This host name is not one that this service is served under.',
    });
  if (origin !== undefined && !hostnames.has(hostnameOf(origin)))
    return fail('forbidden_origin', { detail: 'Pages of this origin may not use the MCP surface.' });
  return undefined;
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

async function answer(
  { surface, deps, sandbox }: McpRouteOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { facts } = request;
  if (facts === undefined) throw new Error('a request without facts reached a handler');
  const body = readJsonBody(request.body as Buffer | undefined, request.headers);
  const windows = new RateHeaders(reply);
  const sent: ((answered: boolean) => Promise<void>)[] = [];
  const exchange: McpExchange = {
    credentials: request.headers,
    address: request.ip,
    requestId: request.id,
    deps: { ...deps, reader: new BoundReader(deps.reader, facts), sql: new RequestSandbox(sandbox, facts) },
    onRate: (decision, tier) => windows.add(decision, tier),
    onRun: () => startRun(facts),
    whenSent: (delivered) => void sent.push(delivered),
  };
  const response = await surface.fetch(webRequest(request), exchange, body);
  tellWhenSent(reply, sent);
  return sendResponse(reply, response);
}

/** As the SDK takes it. The body travels beside it, read and checked. */
function webRequest(request: FastifyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(new URL(request.url, 'http://mcp.invalid'), { method: 'POST', headers });
}

function tellWhenSent({ raw }: FastifyReply, sent: readonly ((answered: boolean) => Promise<void>)[]): void {
  let told = false;
  const tell = (isAnswered: boolean): void => {
    if (told) return;
    told = true;
    for (const delivered of sent) void delivered(isAnswered);
  };
  if (raw.destroyed) tell(false);
  raw.once('finish', () => tell(raw.statusCode < 400));
  raw.once('close', () => tell(false));
}

function sendResponse(reply: FastifyReply, response: Response): unknown {
  reply.code(response.status).header('cache-control', 'no-store');
  for (const [name, value] of response.headers) reply.header(name, value);
  // The web's stream and Node's are the same at run time; their types differ.
  return reply.send(
    response.body === null ? '' : Readable.fromWeb(response.body as import('node:stream/web').ReadableStream),
  );
}
