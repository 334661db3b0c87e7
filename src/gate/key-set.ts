import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { readBounded } from '../../core/bounded-body.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { isTrustworthyUrl } from '../../core/config/resolve-access.ts';
import { withDeadline } from '../../core/process/deadline.ts';

/**
 * The public keys of the issuer of bearer tokens: fetched when first needed, kept for a while, fetched anew for a key that is
 * not among them, and never more often than the bounds below whatever tokens arrive. Source: RFC 7517, RFC 8414, OpenID Connect
 * Discovery 1.0.
 */

/** The keys cannot be read: whether a token is good is then not known. Its message holds no URL. */
export class KeySetUnreachable extends Error {
  constructor(cause: unknown) {
    super('the key set of the token issuer cannot be read', { cause });
    this.name = 'KeySetUnreachable';
  }
}

/** A caller waits for this at most once or twice, so it is short. */
const FETCH_TIMEOUT_MS = 3_000;
/** A withdrawn key is still believed for so long. */
const KEYS_MAX_AGE_MS = 10 * 60_000;
/** Tokens that name unknown keys cause no more than one fetch in this time. */
const REFETCH_AFTER_MS = 30_000;
/** After a failed fetch nobody waits for another one until this has passed. */
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

/** The `jwks_uri` of the issuer's metadata; the two places are those of OpenID Connect and of OAuth. */
async function discover(issuer: string): Promise<string> {
  const base = new URL(issuer);
  const path = base.pathname.replace(/\/+$/, '');
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

/** What failed is not tried again at once: every caller with a token would wait for its time-out. */
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
