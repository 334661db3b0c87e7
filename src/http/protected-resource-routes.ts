import type { FastifyInstance } from 'fastify';
import type { Config } from '../../core/config/config.ts';
import { fail } from '../../core/errors.ts';
import { METADATA_PATHS, type ProtectedResource } from '../gate/protected-resource.ts';
import { installRefusedMethods } from './api-routes.ts';

/**
 * Tells clients of OAuth who issues tokens for this deployment, as a whole and for the MCP surface. There are no scopes: what a
 * token may do hangs on the organization that it names. Source: RFC 9728 3.2.
 */
export function installProtectedResources(
  app: FastifyInstance,
  { issuer, resources }: { readonly issuer: string | null; readonly resources: readonly ProtectedResource[] },
): void {
  for (const [path, url] of METADATA_PATHS) {
    const named = resources.find((resource) => resource.path === path);
    app.get(url, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(metadata(named?.resource, issuer)),
    );
    installRefusedMethods(app, url);
  }
}

function metadata(resource: string | undefined, issuer: string | null): Readonly<Record<string, unknown>> {
  if (issuer === null)
    throw fail('not_found', {
      detail: 'No bearer tokens are accepted here (oauth.issuer is not set); the credential is a key.',
    });
  if (resource === undefined)
    throw fail('not_found', {
      detail: 'This deployment does not know the URL that it is called by (http.publicUrl is not set).',
    });
  return {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    resource_name: 'Settlement Index',
  };
}

/** Where the challenge of a 401 points to; null where there is nothing to read. */
export function metadataUrlOf(
  { oauth }: Pick<Config, 'oauth'>,
  resources: readonly ProtectedResource[],
  path: string,
): string | null {
  if (oauth.issuer === null) return null;
  return resources.find((resource) => resource.path === path)?.metadataUrl ?? null;
}
