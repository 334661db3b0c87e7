import type { FastifyInstance } from 'fastify';

/** Paths of this service and their methods, for requests with a method that no route can be registered for. */

interface KnownPath {
  readonly pattern: RegExp;
  /** As the Allow header lists them. */
  readonly allow: string;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Absent where nothing was remembered. */
    knownPaths?: KnownPath[];
  }
}

/** To be called on the root, so that every part of the application remembers in the same place. */
export function installKnownPaths(app: FastifyInstance): void {
  app.decorate('knownPaths', []);
}

/** `url` as routes are written: `/v0/agents/:wallet`. */
export function rememberPath(app: FastifyInstance, url: string, allow: string): void {
  const text = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
  app.knownPaths?.push({ pattern: new RegExp(`^${text}$`), allow });
}

/** The methods that a path takes; undefined for an unknown path. */
export function allowedAt(app: FastifyInstance, path: string): string | undefined {
  return app.knownPaths?.find(({ pattern }) => pattern.test(path))?.allow;
}
