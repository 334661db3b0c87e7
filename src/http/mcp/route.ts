import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MCP_PATHS } from '../../../core/domain/resources.ts';
import type { SqlSandbox } from '../../../sandbox/sandbox.ts';
import type { Gate } from '../../gate/gate.ts';
import type { McpExchange } from '../../mcp/exchange.ts';
import type { McpSurface } from '../../mcp/server.ts';
import type { OperationDeps } from '../../operations/define.ts';
import { type FailureOptions, httpFailure } from '../failures.ts';
import { AnswerHeaders, baseUrl, HttpSender, whenSent } from '../http-call.ts';
import { installRefusedMethods } from '../methods.ts';
import { boundDeps, factsOf, type RequestFacts } from '../request-facts.ts';
import { JSON_BODY_MAX_BYTES } from '../request-input.ts';
import { readMessage, sendRpcFailure } from './message.ts';
import { type Hostnames, refusedOrigin } from './origin.ts';
import { bodyOnceAdmitted, CallWatch } from './refusal.ts';

export interface McpRouteOptions {
  readonly surface: McpSurface;
  readonly gate: Pick<Gate, 'checkToken'>;
  readonly deps: OperationDeps;
  readonly sandbox: SqlSandbox;
  readonly hostnames: Hostnames;
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
      onRequest: (request, _reply, done) => done(refusedOrigin(request, options.hostnames)),
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
  const response = await options.surface.fetch(webRequest(request), exchange, message);
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
    sender: new HttpSender(request, facts),
    deps: boundDeps(deps, sandbox, facts),
    progress: new AnswerHeaders(reply, facts, () => watch.onRun()),
    onRefused: (failure) => watch.onRefused(failure),
    whenSent: (delivered) => void sent.push(delivered),
  };
}

/** As the SDK takes it. The body travels beside it, read and checked. */
function webRequest(request: FastifyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(new URL(request.url, 'http://mcp.invalid'), { method: 'POST', headers });
}
