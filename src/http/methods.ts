import type { FastifyInstance, RouteOptions } from 'fastify';
import { fail } from '../../core/errors.ts';
import type { AnyOperation } from '../operations/define.ts';

/** Which methods a path takes: 405 for the others, also for a method that no route can be registered for. */

interface KnownPath {
  /** A segment that starts with a colon stands for any. */
  readonly segments: readonly string[];
  /** As the Allow header lists them. */
  readonly allow: string;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Absent where nothing was remembered. */
    knownPaths?: KnownPath[];
  }
}

/** To be called on the root, so that every part of the application shares one list. */
export function installKnownPaths(app: FastifyInstance): void {
  app.decorate('knownPaths', []);
}

/** `url` as routes are written: `/v0/agents/:wallet`. */
function rememberPath(app: FastifyInstance, url: string, allow: string): void {
  app.knownPaths?.push({ segments: url.split('/'), allow });
}

/** The methods that a path takes; undefined for an unknown path. */
export function allowedAt(app: FastifyInstance, path: string): string | undefined {
  const asked = (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  return app.knownPaths?.find(({ segments }) => fits(segments, asked))?.allow;
}

function fits(segments: readonly string[], asked: readonly string[]): boolean {
  if (segments.length !== asked.length) return false;
  return segments.every((segment, at) =>
    segment.startsWith(':') ? asked[at] !== '' : segment === asked[at],
  );
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const;

/** A known path with another method is 405 with `Allow`, refused before any body is read. `hint`: what the caller may have meant. */
export function installRefusedMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly AnyOperation['method'][] = ['GET'],
  hint = '',
): void {
  const taken: readonly string[] = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allow = [...METHODS.filter((method) => taken.includes(method)), 'OPTIONS'].join(', ');
  rememberPath(app, url, allow);
  const refuse: RouteOptions = {
    method: METHODS.filter((method) => !taken.includes(method)),
    url,
    onRequest: (request, reply, done) => {
      reply.header('allow', allow);
      done(fail('method_not_allowed', { detail: `This route does not take ${request.method}.${hint}` }));
    },
    handler: () => Promise.reject(new Error('refused in onRequest')),
  };
  app.route(refuse);
}
