import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Meter, type RequestSpan, secondsSince, type Tracer } from '../../core/meter.ts';
import { installRequestFacts } from './request-facts.ts';

/** What one request is counted and traced as: the id of its operation, or the kind of its route. Never its path. */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by routes that are counted under a name of their own. */
    readonly observedAs?: string;
  }
  interface FastifyRequest {
    span: RequestSpan | undefined;
  }
}

/** Of routes that set no name: pages, files, what is not there. */
const UNNAMED = 'other';
/** As proxies write it for a client that closed the connection. */
const LEFT = '499';
const FAILED_FROM = 500;

function nameOf(request: FastifyRequest): string {
  return request.routeOptions.config.observedAs ?? UNNAMED;
}

export interface RequestObservation {
  readonly meter: Meter | null;
  readonly tracer: Tracer | null;
}

/** Gives every request its facts, and counts and traces it where that is wanted. To be installed before the routes. */
export function installObservation(
  app: FastifyInstance,
  { meter, tracer }: RequestObservation = { meter: null, tracer: null },
): void {
  const counter = meter === null ? null : createRequestCount(meter);
  installRequestFacts(app, counter?.left);
  if (counter !== null) app.addHook('onSend', counter.onSend);
  if (tracer !== null) traceRequests(app, tracer);
}

/** Counts every answer once, when it is ready to leave, and every caller who left before. */
function createRequestCount(meter: Meter): {
  readonly onSend: (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone) => void;
  readonly left: (request: FastifyRequest) => void;
} {
  const count = (request: FastifyRequest, status: string): void => {
    const { facts } = request;
    if (facts === undefined || facts.isCounted) return;
    facts.isCounted = true;
    const operation = nameOf(request);
    meter.count('http_requests_total', { operation, status });
    meter.observe('http_request_seconds', { operation }, secondsSince(facts.startedMs));
  };
  return {
    onSend(request, reply, payload, done) {
      count(request, String(reply.statusCode));
      done(null, payload);
    },
    left: (request) => count(request, LEFT),
  };
}

type SendDone = (error: null, payload: unknown) => void;

/** Gives every request a span, within which its handler runs. */
function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.decorateRequest('span', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    const operation = nameOf(request);
    const facts = { 'http.request.method': request.method, operation, request_id: request.id };
    request.span = tracer.request(`${request.method} ${operation}`, facts, request.headers);
    done();
  });
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function (request, reply) {
      const handle = (): unknown => handler.call(this, request, reply);
      return request.span === undefined ? handle() : request.span.within(handle);
    };
  });
  app.addHook('onResponse', (request, reply, done) => {
    request.span?.tell({ 'http.response.status_code': reply.statusCode });
    request.span?.end(reply.statusCode >= FAILED_FROM);
    done();
  });
}
