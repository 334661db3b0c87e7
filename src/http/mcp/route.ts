import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../core/config/config.ts';
import { MCP_PATHS } from '../../../core/domain/resources.ts';
import { type Failure, fail } from '../../../core/errors.ts';
import type { SqlSandbox } from '../../../sandbox/sandbox.ts';
import type { Gate } from '../../gate/gate.ts';
import type { McpExchange } from '../../mcp/exchange.ts';
import { ownerOf } from '../../mcp/saved-tools.ts';
import type { McpSurface } from '../../mcp/server.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import { type FailureOptions, httpFailure } from '../failures.ts';
import { AnswerHeaders, baseUrl, HttpSender, whenSent } from '../http-call.ts';
import { installRefusedMethods } from '../methods.ts';
import { boundDeps, factsOf, type RequestFacts } from '../request-facts.ts';
import { JSON_BODY_MAX_BYTES } from '../request-input.ts';
import { answerForm, BOTH_FORMS, inForm } from './answer-form.ts';
import { bodyOnceAdmitted, CallWatch, readMessage, sendRpcFailure } from './message.ts';

/** Host names that callers may use; null where the deployment cannot know them (it listens on every address). */
export type Hostnames = ReadonlySet<string> | null;

/** Addresses that mean every interface of the machine. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The host names that MCP callers may use: loopback, the listening address, and that of the public URL. A service that listens on
 * every address without a configured public URL cannot know its name and takes any: the proxy in front of it has to check.
 */
export function mcpHostnames({ host, publicUrl }: Config['http']): Hostnames {
  const named = hostnameOf(publicUrl ?? '');
  if (named === '' && ANY_ADDRESS.has(host)) return null;
  const listening = host.includes(':') ? `[${host}]` : host;
  return new Set([...LOOPBACK, listening, ...(named === '' ? [] : [named])]);
}

/**
 * A page on another site must not talk to a service on this machine by way of a name that it resolves to here (DNS rebinding).
 * Clients that are no browsers send no Origin. Where the names are not known, a page must be of the host that it calls.
 * Source: MCP transports, "Security warning".
 */
export function refusedOrigin(
  request: FastifyRequest,
  { hostnames, origins = new Set() }: Pick<McpRouteOptions, 'hostnames' | 'origins'>,
): Failure | undefined {
  const { origin } = request.headers;
  // The host that a trusted proxy says was called.
  const called = hostnameOf(`http://${request.host}`);
  if (hostnames !== null && !hostnames.has(called))
    return fail('forbidden_origin', {
      detail: 'This host name is not one that this service is served under.',
    });
  if (origin === undefined || (origins.has(origin) && sendsKey(request))) return undefined;
  const allowed = hostnames ?? new Set([...LOOPBACK, called]);
  return allowed.has(hostnameOf(origin))
    ? undefined
    : fail('forbidden_origin', {
        detail:
          'Pages of this origin may not use the MCP surface: the operator lists origins (http.mcpOrigins), and their pages send a key of their own.',
      });
}

function sendsKey({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

export interface McpRouteOptions {
  readonly surface: McpSurface;
  readonly gate: Pick<Gate, 'checkToken'>;
  readonly deps: OperationDeps;
  readonly sandbox: SqlSandbox;
  readonly hostnames: Hostnames;
  /** Of other sites whose pages may call with a key of their own; absent for none. */
  readonly origins?: ReadonlySet<string>;
  /** How refusals are answered under this path. */
  failures(path: string): FailureOptions;
}

/** Serves MCP over Streamable HTTP: stateless, so POST is all there is. */
export function installMcp(app: FastifyInstance, options: McpRouteOptions): void {
  for (const url of MCP_PATHS) {
    const failures = options.failures(url);
    const signsIn = failures.tokenMetadataUrl !== null;
    app.route({
      method: 'POST',
      url,
      bodyLimit: JSON_BODY_MAX_BYTES,
      config: { observedAs: 'mcp' },
      decompress: false,
      onRequest: (request, _reply, done) => done(refusedOrigin(request, options)),
      errorHandler: (error, request, reply) => sendRpcFailure(request, reply, httpFailure(error), failures),
      handler: (request, reply) => answer(options, { request, reply, signsIn }),
    });
    installRefusedMethods(app, url, ['POST']);
  }
}

interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Whether clients can get tokens for this path: a 401 then tells them to. */
  readonly signsIn: boolean;
}

async function answer(options: McpRouteOptions, { request, reply, signsIn }: Asked): Promise<unknown> {
  const facts = factsOf(request);
  const message = readMessage(request);
  const watch = new CallWatch();
  const sent: ((answered: boolean) => Promise<void>)[] = [];
  const exchange = exchangeOf(options, { request, reply, facts, watch, sent });
  if (signsIn) await options.gate.checkToken(exchange);
  const form = answerForm(request);
  const response = await inForm(await options.surface.fetch(webRequest(request), exchange, message), form);
  const body = await bodyOnceAdmitted(response, signsIn ? watch : null);
  whenSent(reply, async (answered) => void (await Promise.all(sent.map((delivered) => delivered(answered)))));
  reply.code(response.status).header('cache-control', 'no-store');
  for (const [name, value] of response.headers) reply.header(name, value);
  return reply.send(body);
}

interface Exchanged extends Omit<Asked, 'signsIn'> {
  readonly facts: RequestFacts;
  readonly watch: CallWatch;
  readonly sent: ((answered: boolean) => Promise<void>)[];
}

function exchangeOf({ deps, sandbox }: McpRouteOptions, exchanged: Exchanged): McpExchange {
  const { request, reply, facts, watch, sent } = exchanged;
  return {
    requestId: request.id,
    url: baseUrl(request, deps.deployment.publicUrl),
    owner: ownerOf(new URL(request.url, BASE)),
    sender: new HttpSender(request, facts),
    deps: boundDeps(deps, sandbox, facts),
    progress: new AnswerHeaders(reply, facts, () => watch.onRun()),
    onRefused: (failure) => watch.onRefused(failure),
    whenSent: (delivered) => void sent.push(delivered),
  };
}

/** Requests have paths; the host is checked before. */
const BASE = 'http://mcp.invalid';

/** The request as the SDK takes it, without its body, which the caller passes parsed and checked: the SDK refuses who does not name both forms of an answer. */
function webRequest(request: FastifyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  headers.set('accept', BOTH_FORMS);
  return new Request(new URL(request.url, BASE), { method: 'POST', headers });
}
