import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { readBounded } from '../../core/bounded-body.ts';
import type { Clock } from '../../core/clock.ts';
import { isTrustworthyUrl } from '../../core/config/access.ts';
import type { Config } from '../../core/config/config.ts';
import { MCP_PATHS } from '../../core/domain/resources.ts';
import { fail } from '../../core/errors.ts';
import { withDeadline } from '../../core/process/deadline.ts';

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

/** Empty where the public URL is not configured: the deployment cannot name itself then. */
export function protectedResources(publicUrl: Config['http']['publicUrl']): readonly ProtectedResource[] {
  const base = (publicUrl ?? '').replace(/(?<!\/)\/+$/, '');
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

/** Bearer tokens (JWT) of one configured issuer. Source: RFC 7519, RFC 8725. */

export interface BearerTokens {
  /** Null for anything but a valid token of the issuer for this deployment. Rejects with `upstream_unavailable` when it cannot be verified. */
  read(token: string): Promise<TokenFacts | null>;
}

export interface TokenFacts {
  readonly subject: string;
  /** The organization named by the token; not looked up yet. */
  readonly organization: string | null;
}

/** Signatures with a private key only: with a shared secret (HS*) our own audience could mint tokens, `none` needs no key. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const CLOCK_TOLERANCE_SECONDS = 30;
const TOKEN_MAX_CHARS = 8_192;
const RETRY_AFTER_SECONDS = 5;
const JWT_SHAPE = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Null where no issuer is configured. */
export function createBearerTokens(
  config: Pick<Config, 'oauth' | 'http'>,
  clock: Clock,
): BearerTokens | null {
  const { oauth } = config;
  const { issuer, organizationClaim } = oauth;
  if (issuer === null) return null;
  const audience = [...audiencesOf(config)];
  const keys = createKeySet(oauth, clock);
  return {
    read: async (token) => {
      if (token.length > TOKEN_MAX_CHARS || !JWT_SHAPE.test(token)) return null;
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          requiredClaims: ['exp', 'sub'],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: new Date(clock.nowMs()),
        });
        return factsOf(payload, organizationClaim);
      } catch (error) {
        return refused(error);
      }
    },
  };
}

function factsOf(payload: JWTPayload, organizationClaim: string): TokenFacts | null {
  const { sub, [organizationClaim]: organization } = payload;
  if (typeof sub !== 'string' || sub === '') return null;
  return { subject: sub, organization: typeof organization === 'string' ? organization : null };
}

/** Gives no reason: it would help only a forger. */
function refused(error: unknown): null {
  if (error instanceof KeySetUnreachable)
    throw fail('upstream_unavailable', {
      detail: 'The issuer of bearer tokens does not answer, so the token cannot be checked.',
      resource: 'identity_provider',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  if (error instanceof errors.JOSEError) return null;
  throw error;
}

/**
 * The public keys of the issuer of bearer tokens: fetched when first needed, kept for a while, fetched anew for a key that is
 * not among them, and never more often than the bounds below whatever tokens arrive. Source: RFC 7517, RFC 8414, OpenID Connect
 * Discovery 1.0.
 */

/** The keys cannot be read, so that no token can be verified. Its message holds no URL. */
export class KeySetUnreachable extends Error {
  constructor(cause: unknown) {
    super('the key set of the token issuer cannot be read', { cause });
    this.name = 'KeySetUnreachable';
  }
}

/** A caller waits for this at most once or twice, so it is short. */
const FETCH_TIMEOUT_MS = 3_000;
/** For so long a withdrawn key is still accepted. */
const KEYS_MAX_AGE_MS = 10 * 60_000;
/** Tokens that name unknown keys cause no more than one fetch in this time. */
const REFETCH_AFTER_MS = 30_000;
/** After a failed fetch no caller waits for another one until this has passed. */
const RETRY_AFTER_MS = 5_000;
/** Real key sets have a few KiB. */
const DOCUMENT_MAX_BYTES = 256 * 1024;

type KeySetSource = Pick<Config['oauth'], 'issuer' | 'jwksUrl'>;

/**
 * Resolves the key that a token names. Rejects with `KeySetUnreachable`, or with the error of jose for a token that names no
 * key of the set.
 */
export function createKeySet(oauth: KeySetSource, clock: Clock): JWTVerifyGetKey {
  const find = pausedAfterFailure(() => openKeySet(oauth, clock), clock);
  let opening: Promise<JWTVerifyGetKey> | undefined;
  const open = (): Promise<JWTVerifyGetKey> => {
    opening ??= find().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return async (header, token) => {
    try {
      const keys = await open();
      return await keys(header, token);
    } catch (error) {
      throw isAboutTheToken(error) ? error : new KeySetUnreachable(error);
    }
  };
}

function isAboutTheToken(error: unknown): boolean {
  return [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported].some(
    (kind) => error instanceof kind,
  );
}

/** Where the key set lies is asked once in the life of the process. */
async function openKeySet({ issuer, jwksUrl }: KeySetSource, clock: Clock): Promise<JWTVerifyGetKey> {
  if (issuer === null) throw new Error('a key set without an issuer');
  const url = jwksUrl ?? (await discover(issuer));
  const fetchKeys = pausedAfterFailure(async () => {
    const text = await fetchBounded(url);
    const { keys } = Object(JSON.parse(text)) as Record<string, unknown>; // any JSON; checked here
    if (!Array.isArray(keys)) throw new Error('the answer is no key set');
    return text;
  }, clock);
  return createRemoteJWKSet(new URL(url), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: REFETCH_AFTER_MS,
    cacheMaxAge: KEYS_MAX_AGE_MS,
    [customFetch]: async () => new Response(await fetchKeys()),
  });
}

/** The `jwks_uri` of the issuer's metadata; the two places come from OpenID Connect and OAuth. */
async function discover(issuer: string): Promise<string> {
  const base = new URL(issuer);
  const path = base.pathname.replace(/(?<!\/)\/+$/, '');
  const places = [
    `${base.origin}${path}/.well-known/openid-configuration`,
    `${base.origin}/.well-known/oauth-authorization-server${path}`,
  ];
  let last: unknown;
  for (const place of places) {
    try {
      return keySetUrl(JSON.parse(await fetchBounded(place)), issuer);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

function keySetUrl(metadata: unknown, issuer: string): string {
  const { issuer: named, jwks_uri: url } = Object(metadata) as Record<string, unknown>; // any JSON; checked below
  if (named !== issuer) throw new Error('the metadata names another issuer');
  if (typeof url !== 'string' || !isTrustworthyUrl(url))
    throw new Error('the metadata names no key set that can be trusted');
  return url;
}

/** Pauses after a failure: otherwise every caller with a token would wait for the time-out. */
function pausedAfterFailure<Value>(work: () => Promise<Value>, clock: Clock): () => Promise<Value> {
  let failed: { readonly untilMs: number; readonly cause: unknown } | undefined;
  return async () => {
    if (failed !== undefined && clock.nowMs() < failed.untilMs) throw failed.cause;
    try {
      const value = await work();
      failed = undefined;
      return value;
    } catch (cause) {
      failed = { untilMs: clock.nowMs() + RETRY_AFTER_MS, cause };
      throw cause;
    }
  };
}

function fetchBounded(url: string): Promise<string> {
  return withDeadline(FETCH_TIMEOUT_MS, undefined, async ({ signal }) => {
    const answer = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'error', signal });
    if (answer.status !== 200 || answer.body === null) {
      await answer.body?.cancel();
      throw new Error(`the answer is ${answer.status}`);
    }
    return (await readBounded(answer.body, DOCUMENT_MAX_BYTES)).toString('utf8');
  });
}
