import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { fail } from '../../core/errors.ts';
import { createKeySet, KeySetUnreachable } from './key-set.ts';
import { audiencesOf } from './protected-resource.ts';

/** Bearer tokens (JWT) of one configured issuer. Source: RFC 7519, RFC 8725, api.md 4. */

export interface BearerTokens {
  /** Null for whatever is not a valid token of the issuer for us. Rejects with `upstream_unavailable` when that cannot be known. */
  read(token: string): Promise<TokenFacts | null>;
}

export interface TokenFacts {
  readonly subject: string;
  /** What the token says of the organization that it spends for; nobody has looked it up yet. */
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

/** Why a token is refused stays inside: it helps nobody but who forges one. */
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
