import type { FastifyRequest } from 'fastify';
import type { Config } from '../../../core/config/config.ts';
import { type Failure, fail } from '../../../core/errors.ts';

/** Host names that callers may use; null where the deployment cannot know them (it listens on every address). */
export type Hostnames = ReadonlySet<string> | null;

/** Addresses that mean every interface of the machine. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The names that MCP callers may use: loopback, the listening address, and the public URL. A service that listens on every
 * address and was not told its URL is behind something that knows; it takes any name.
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
export function refusedOrigin(request: FastifyRequest, hostnames: Hostnames): Failure | undefined {
  const { origin } = request.headers;
  // What a proxy says that was called, where proxies are believed.
  const called = hostnameOf(`http://${request.host}`);
  if (hostnames !== null && !hostnames.has(called))
    return fail('forbidden_origin', {
      detail: 'This host name is not one that this service is served under.',
    });
  if (origin === undefined) return undefined;
  const allowed = hostnames ?? new Set([...LOOPBACK, called]);
  return allowed.has(hostnameOf(origin))
    ? undefined
    : fail('forbidden_origin', { detail: 'Pages of this origin may not use the MCP surface.' });
}

function hostnameOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}
