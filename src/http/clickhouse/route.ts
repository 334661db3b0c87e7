import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ENGINE_OUTPUT } from '../../../clickhouse/engine/output.ts';
import type { SqlTierId } from '../../../core/domain/plan.ts';
import { Failure } from '../../../core/errors.ts';
import { mayBeIntrospection } from '../../../sandbox/catalogue/introspect.ts';
import { formSettings, progressIntervalMs, type SqlSetting } from '../../../sandbox/policy/settings.ts';
import type { SqlSandbox } from '../../../sandbox/sandbox.ts';
import type { Gate, GateAnswer, GateRequest, Sender } from '../../gate/gate.ts';
import type { AnyOperation } from '../../operations/define.ts';
import type { OperationDeps } from '../../operations/deps.ts';
import {
  CLICKHOUSE_HEADERS,
  ClickhouseQuery,
  chargeHeaders,
  runClickhouse,
  tiersFor,
} from '../../operations/sql/clickhouse.ts';
import { type FailureOptions, httpFailure, refusal } from '../failures.ts';
import { exposedWith, sentText } from '../headers.ts';
import { AnswerHeaders, HttpSender, whenSent } from '../http-call.ts';
import { installRefusedMethods } from '../methods.ts';
import { boundDeps, factsOf, type RequestFacts } from '../request-facts.ts';
import { JSON_BODY_MAX_BYTES } from '../request-input.ts';
import { sendStream } from '../send-stream.ts';
import { exception, exceptionOf } from './exceptions.ts';
import { introspectClickhouse, Question } from './introspection.ts';
import { sendProgress } from './progress.ts';
import {
  type ClickhouseLogin,
  type ClickhouseRequest,
  queryIdOf,
  readLogin,
  readRequest,
} from './request.ts';

/** Where the interface is below the API's address. A port of its own has it at its root (listener.ts). */
export const CLICKHOUSE_PATH = '/clickhouse';
const PING_PATH = `${CLICKHOUSE_PATH}/ping`;

/** Clients put queries into the URL. The head of a request has 16 KiB in all. */
const URL_MAX_CHARS = 15 * 1024;
const TIME_ZONE = 'UTC';
const SERVER_NAME = 'settlement-index';
/** A server's answer to a request without a query, and to /ping. */
const OK = 'Ok.\n';

export interface ClickhouseRouteOptions {
  readonly gate: Gate;
  readonly deps: OperationDeps;
  readonly sandbox: SqlSandbox;
  readonly failures: FailureOptions;
}

/** Serves the ClickHouse HTTP interface over the metered sandbox. */
export function installClickhouse(app: FastifyInstance, options: ClickhouseRouteOptions): void {
  const exposed = exposedWith(CLICKHOUSE_HEADERS);
  const common = {
    bodyLimit: JSON_BODY_MAX_BYTES,
    config: { observedAs: 'clickhouse', urlMaxChars: URL_MAX_CHARS },
    // The engine compresses, and the body may be anything.
    decompress: false,
    compress: false,
    onRequest: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
      reply
        .header('access-control-expose-headers', exposed)
        .header('x-clickhouse-timezone', TIME_ZONE)
        .header('x-clickhouse-server-display-name', SERVER_NAME);
      done(request.routeOptions.url === PING_PATH ? undefined : refusedPage(request));
    },
    errorHandler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      sendException(request, reply, httpFailure(error), options.failures);
    },
  } as const;
  app.route({
    ...common,
    method: ['GET', 'POST'],
    url: CLICKHOUSE_PATH,
    handler: (request, reply) => answer(options, request, reply),
  });
  installRefusedMethods(app, CLICKHOUSE_PATH, ['GET', 'POST']);
  app.route({
    ...common,
    method: 'GET',
    url: PING_PATH,
    handler: (_request, reply) => sendOk(reply),
  });
  installRefusedMethods(app, PING_PATH);
}

function sendOk(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').type('text/html; charset=UTF-8').send(OK);
}

/** What was read of a request, or why it cannot be read: the gate counts it in either case. */
type Read =
  | { readonly login: ClickhouseLogin; readonly asked: ClickhouseRequest }
  | { readonly login: ClickhouseLogin; readonly failure: unknown };

const ANONYMOUS: ClickhouseLogin = { user: 'default', password: '', bearer: undefined };

async function read(request: FastifyRequest): Promise<Read> {
  let login = ANONYMOUS;
  try {
    login = readLogin(request);
    return { login, asked: await readRequest(request) };
  } catch (failure) {
    return { login, failure };
  }
}

async function answer(
  options: ClickhouseRouteOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const queryId = queryIdOf(request);
  reply.header('x-clickhouse-query-id', queryId);
  // Clients look whether a URL is there before they read it; nothing is run for that.
  if (request.method === 'HEAD') return sendOk(reply);
  const was = await read(request);
  if ('asked' in was && was.asked.text.trim() === '' && request.method === 'GET') return sendOk(reply);
  const calls = new Calls(options, { request, reply, login: was.login, queryId });
  if (!('asked' in was)) return sent(request, reply, await calls.refused(was.failure));
  return sent(request, reply, (await calls.question(was.asked)) ?? (await calls.query(was.asked)));
}

function sent(
  request: FastifyRequest,
  reply: FastifyReply,
  { answer: answered, delivered }: GateAnswer,
): FastifyReply {
  if (!('stream' in answered)) throw new Error('an answer of the ClickHouse interface without a body');
  if (delivered !== null) whenSent(reply, delivered);
  return sendStream(request, reply, answered.stream);
}

interface Caller {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly login: ClickhouseLogin;
  readonly queryId: string;
}

/** The calls of the gate that one request makes. */
class Calls {
  private readonly options: ClickhouseRouteOptions;
  private readonly caller: Caller;
  private readonly facts: RequestFacts;
  private readonly sender: Sender;
  private readonly deps: OperationDeps;

  constructor(options: ClickhouseRouteOptions, caller: Caller) {
    const { request, login, queryId } = caller;
    const facts = factsOf(request);
    facts.queryId = queryId;
    this.options = options;
    this.caller = caller;
    this.facts = facts;
    const { password, bearer } = login;
    this.sender = new HttpSender(
      request,
      facts,
      password === '' ? { authorization: bearer } : { 'x-api-key': password },
    );
    this.deps = boundDeps(options.deps, options.sandbox, facts);
  }

  /** Lets the gate count a request that cannot be read, and throws why. */
  refused(failure: unknown): Promise<GateAnswer> {
    return this.call(runClickhouse, () => {
      throw failure;
    });
  }

  /** Null where the text asks nothing about the server. */
  async question(asked: ClickhouseRequest): Promise<GateAnswer | null> {
    const { text, parameters, format, database, compression } = asked;
    // Any other text is run without asking, so that it is counted once; one that only looks like a question is counted twice.
    if (!mayBeIntrospection(text)) return null;
    const signal = this.sender.left();
    const written = { settings: { ...ENGINE_OUTPUT, ...formSettings(asked.settings) }, compression };
    const question = new Question((asker) =>
      this.options.sandbox.introspect({ ...asker, text, parameters, format, database, written, signal }),
    );
    const answered = await this.call(introspectClickhouse, () => ({ question }));
    return 'stream' in answered.answer ? answered : null;
  }

  async query(asked: ClickhouseRequest): Promise<GateAnswer> {
    const endProgress = this.showProgress(asked.settings);
    try {
      return await this.inTiers(asked);
    } finally {
      endProgress?.();
    }
  }

  /** Sends headers of progress where the client asks for them; the function that ends it. */
  private showProgress(settings: readonly SqlSetting[]): (() => void) | null {
    const intervalMs = progressIntervalMs(settings);
    if (intervalMs === null) return null;
    const look = async () => {
      const { runId } = this.facts;
      return runId === undefined ? null : this.options.sandbox.progress(runId);
    };
    return sendProgress(this.caller.reply.raw, { intervalMs, look });
  }

  /** In the smallest tier that has the time that was asked for, or the next smaller one that the plan includes. */
  private async inTiers(asked: ClickhouseRequest): Promise<GateAnswer> {
    const [first, ...smaller] = tiersFor(asked.settings);
    if (first === undefined) throw new Error('no tier of SQL');
    const run = (tier: SqlTierId) =>
      this.call(runClickhouse, () => ({ query: new ClickhouseQuery({ ...asked, tier }) }));
    let answered = run(first);
    for (const tier of smaller)
      answered = answered.catch((error: unknown) => {
        if (error instanceof Failure && error.code === 'upgrade_required') return run(tier);
        throw error;
      });
    return answered;
  }

  private call(operation: AnyOperation, raw: GateRequest['raw']): Promise<GateAnswer> {
    const { reply } = this.caller;
    return this.options.gate.call({
      operation,
      surface: 'clickhouse',
      sender: this.sender,
      raw,
      // Nothing is paid for over x402 here.
      charging: { mayCharge: true, idempotencyKey: undefined },
      deps: this.deps,
      progress: new AnswerHeaders(reply, this.facts),
    });
  }
}

/** Every refusal as a ClickHouse server words it. Results are whole before their first byte leaves: only one above the bytes of an answer breaks off. */
function sendException(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
  options: FailureOptions,
): FastifyReply {
  refusal(request, reply, failure, options);
  const { code, status, text } = exceptionOf(failure, userOf(request));
  const { charged } = failure.context;
  reply
    .code(status)
    .removeHeader('content-encoding')
    .headers({
      'x-clickhouse-exception-code': String(code),
      ...(charged === undefined ? {} : chargeHeaders(charged)),
    });
  if (status === 401) reply.header('www-authenticate', 'Basic realm="settlement-index"');
  return reply.type('text/plain; charset=UTF-8').serializer(String).send(text);
}

function userOf(request: FastifyRequest): string {
  try {
    return readLogin(request).user;
  } catch {
    return ANONYMOUS.user;
  }
}

/** What browsers say of a request that no page of another origin made: `none` is a visitor's own, such as a typed address. */
const OWN_SITES: ReadonlySet<string> = new Set(['', 'same-origin', 'none']);

/**
 * A browser adds a remembered Basic password to requests that pages of other sites make, by a picture, a form or a script, and they
 * would spend its units. A foreign page needs a key that it sends itself: in a header that no browser adds, or in the address. Programs
 * send no `Sec-Fetch-Site`. Source: Fetch Metadata Request Headers, W3C.
 */
function refusedPage({ headers, query }: FastifyRequest): Error | undefined {
  if (OWN_SITES.has(sentText(headers['sec-fetch-site']).toLowerCase())) return undefined;
  const words = query as Record<string, unknown>; // texts, or lists of repeated ones
  const isSentByPage =
    [headers['x-clickhouse-key'], headers['x-api-key']].some((key) => sentText(key) !== '') ||
    /^bearer /i.test(sentText(headers.authorization)) ||
    (words['password'] !== undefined && words['password'] !== '');
  if (isSentByPage) return undefined;
  return exception(
    'ACCESS_DENIED',
    'A page of another site may use this interface only with a key in the header X-ClickHouse-Key.',
    'forbidden_origin',
  );
}
