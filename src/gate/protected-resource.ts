import type { Config } from '../../core/config/config.ts';
import { MCP_PATHS } from '../../core/domain/paths.ts';

/**
 * What bearer tokens are for, in the words of OAuth: this deployment by its public URL, and the MCP surface under each of its
 * paths. One list, because three must agree: `resource` of the metadata, the `resource` that clients ask the issuer for, and
 * `aud` of the token that comes back. Source: RFC 9728, RFC 8707 2, MCP authorization (2025-06-18 and later).
 */
export interface ProtectedResource {
  /** Below the public URL; '' for the deployment as a whole. */
  readonly path: string;
  /** The identifier: an absolute URL without a trailing slash. */
  readonly resource: string;
  /** Where its metadata is served. */
  readonly metadataUrl: string;
}

const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** RFC 9728 3.1: the well-known path stands before the path of the resource. */
export const METADATA_PATHS: ReadonlyMap<string, string> = new Map(
  ['', ...MCP_PATHS].map((path) => [path, `${METADATA_PATH}${path}`]),
);

/** Empty where the deployment was not told the URL that callers use: it cannot name itself then. */
export function protectedResources(publicUrl: Config['http']['publicUrl']): readonly ProtectedResource[] {
  const base = (publicUrl ?? '').replace(/\/+$/, '');
  if (base === '') return [];
  return [...METADATA_PATHS].map(([path, metadataPath]) => ({
    path,
    resource: `${base}${path}`,
    metadataUrl: `${base}${metadataPath}`,
  }));
}

/** What `aud` of a token may be. Clients write the URL of an origin with and without its slash. */
export function audiencesOf({ oauth, http }: Pick<Config, 'oauth' | 'http'>): readonly string[] {
  const named = protectedResources(http.publicUrl).map(({ resource }) => resource);
  return [oauth.audience, ...named, ...named.slice(0, 1).map((origin) => `${origin}/`)];
}
