import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import {
  addressName,
  isApiKey,
  type KeyDigest,
  keyDigest,
  organizationName,
} from '../../core/domain/caller.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import { type Failure, fail } from '../../core/errors.ts';
import { customerOf } from '../../core/ip-address.ts';
import type { AccountStore, Credential, Organization } from '../accounts/account-store.ts';
import { askStore } from '../accounts/store-failure.ts';
import type { Caller } from '../operations/define.ts';
import type { BearerTokens } from './bearer-token.ts';
import type { CredentialHeaders, GateRequest } from './gate.ts';
import { type Quota, type RequestCounter, refuseOverLimit } from './rate-limit.ts';

/** From the headers of a request to the caller behind them, and the window of requests that it shares. */

export interface Identity {
  readonly caller: Caller;
  readonly quota: Quota;
}

export interface IdentityDeps {
  readonly accounts: Pick<AccountStore, 'findKey' | 'findOrganization'>;
  /** Null where no bearer tokens are accepted. */
  readonly bearer: BearerTokens | null;
  readonly plans: Readonly<Record<PlanId, Plan>>;
  readonly trialRequestsPerMinute: number;
  /** Of an address, and of every caller without a plan. */
  readonly requestsPerMinute: number;
  readonly clock: Clock;
}

/** What begins like this is one of our keys or nothing, never a token: it is shown to no identity provider. */
const KEY_PREFIX = 'six_';

const ANONYMOUS: Caller = {
  keyPresent: false,
  keyRecognised: null,
  standing: 'anonymous',
  organization: null,
  organizationMissing: false,
};
const UNKNOWN: Caller = { ...ANONYMOUS, keyPresent: true, keyRecognised: false };

/** A credential as it was sent. */
export interface SentCredential {
  readonly text: string;
  /** Null for what is not spelled like a key. */
  readonly digest: KeyDigest | null;
}

/**
 * What was sent as a credential; null for nothing, '' for something that can be no credential of ours. `X-API-Key` and a
 * bearer that say different things are refused: whichever we chose, the caller may have meant the other. An `Authorization`
 * of another scheme (a proxy's, say) is not ours when there is an `X-API-Key`.
 */
export function readCredential(headers: CredentialHeaders): SentCredential | null {
  const text = credentialText(headers);
  return text === null ? null : { text, digest: isApiKey(text) ? keyDigest(text) : null };
}

function credentialText({ authorization = '', 'x-api-key': sent = '' }: CredentialHeaders): string | null {
  const key = (typeof sent === 'string' ? sent : sent.join(', ')).trim();
  const token = authorization.trim();
  if (token === '') return key === '' ? null : key;
  const bearer = /^bearer +(\S+)$/i.exec(token)?.[1];
  if (key === '') return bearer ?? '';
  if (bearer === undefined || bearer === key) return key;
  throw fail('malformed_request', {
    detail: 'Authorization and X-API-Key carry different credentials. Send one of them.',
  });
}

/** The bearer token, where it is all that was sent; null for nothing, and for what is spelled like one of our keys. */
function readToken({ authorization = '', 'x-api-key': key = '' }: CredentialHeaders): string | null {
  const token = key.length > 0 ? undefined : /^bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  return token === undefined || token.startsWith(KEY_PREFIX) ? null : token;
}

/**
 * Who calls. Everything that is not a valid credential makes the same caller, `keyRecognised: false`. Rejects with
 * `upstream_unavailable` where the store (`accounts`) or the issuer's key set (`identity_provider`) cannot be asked.
 */
export async function identify(
  credential: SentCredential | null,
  address: string,
  deps: IdentityDeps,
): Promise<Identity> {
  if (credential === null) return { caller: ANONYMOUS, quota: addressQuota(address, deps) };
  const { text, digest } = credential;
  let known: Identity | null;
  if (!text.startsWith(KEY_PREFIX)) known = await identifyToken(text, deps);
  else
    known = digest === null ? null : identityOf(await askStore(deps.accounts.findKey(digest)), digest, deps);
  return known ?? { caller: UNKNOWN, quota: addressQuota(address, deps) };
}

export function addressQuota(address: string, deps: Pick<IdentityDeps, 'requestsPerMinute'>): Quota {
  return {
    key: addressName(customerOf(address)),
    requestsPerMinute: deps.requestsPerMinute,
    whose: 'this address',
  };
}

/** Null for a key that is not there, or not good now. */
function identityOf(found: Credential | null, digest: KeyDigest, deps: IdentityDeps): Identity | null {
  if (found === null || !isSameDigest(found.key.digest, digest)) return null;
  if (!isValid(found.key, deps.clock.nowMs())) return null;
  const { id, kind } = found.key;
  const { organization } = found;
  const standing = kind === 'trial' ? 'trial' : 'organization';
  const caller = callerOf(standing, organization, kind === 'live' && organization === null);
  if (organization !== null) return { caller, quota: organizationQuota(organization, deps) };
  const requestsPerMinute = kind === 'trial' ? deps.trialRequestsPerMinute : deps.requestsPerMinute;
  return { caller, quota: { key: `key:${id}`, requestsPerMinute, whose: 'this key' } };
}

const DIGEST_CHARS = 64;
/** Written anew for each comparison, which awaits nothing in between: buffers of its own would be garbage of every call. */
const STORED = Buffer.alloc(DIGEST_CHARS);
const SENT = Buffer.alloc(DIGEST_CHARS);

/** The store found the row by its digest; a store that compares loosely (case, prefixes) must still let no other key in. */
function isSameDigest(stored: string, digest: string): boolean {
  if (stored.length !== digest.length) return false;
  // As many bytes as characters: ASCII, so that both are there as a whole.
  const [written, wanted] = [STORED.write(stored), SENT.write(digest)];
  return written === DIGEST_CHARS && wanted === DIGEST_CHARS && timingSafeEqual(STORED, SENT);
}

function isValid({ revokedAtMs, expiresAtMs }: Credential['key'], nowMs: number): boolean {
  return (revokedAtMs === null || revokedAtMs > nowMs) && (expiresAtMs === null || expiresAtMs > nowMs);
}

/** A token whose organization is not there is a caller without one: it may be created later, the token is good already. */
async function identifyToken(credential: string, deps: IdentityDeps): Promise<Identity | null> {
  const token = deps.bearer === null ? null : await deps.bearer.read(credential);
  if (token === null) return null;
  const organization =
    token.organization === null ? null : await askStore(deps.accounts.findOrganization(token.organization));
  const caller = callerOf('oauth', organization, false);
  if (organization !== null) return { caller, quota: organizationQuota(organization, deps) };
  // Subjects may be mail addresses: the window is named by their digest.
  const key = `sub:${createHash('sha256').update(token.subject).digest('base64url')}`;
  return { caller, quota: { key, requestsPerMinute: deps.requestsPerMinute, whose: 'this account' } };
}

function callerOf(
  standing: Caller['standing'],
  organization: Organization | null,
  organizationMissing: boolean,
): Caller {
  return { keyPresent: true, keyRecognised: true, standing, organization, organizationMissing };
}

function organizationQuota({ id, plan }: Organization, { plans }: IdentityDeps): Quota {
  return {
    key: organizationName(id),
    requestsPerMinute: plans[plan].requestsPerMinute,
    whose: 'the keys of this organization',
  };
}

/** Refuses a key that resolves to nothing, except where the operation answers such callers. */
export function admitKey(caller: Caller, operation: { readonly acceptsUnknownKey: boolean }): void {
  if (caller.keyRecognised !== false || operation.acceptsUnknownKey) return;
  throw unknownKey();
}

function unknownKey(): Failure {
  return fail('invalid_api_key', {
    detail: 'The key that was sent is not known here, is revoked or has expired.',
  });
}

interface TokenCheck {
  readonly bearer: BearerTokens | null;
  readonly count: RequestCounter['count'];
  readonly requestsPerMinute: number;
}

/** `checkToken` of the gate. What it refuses is counted for its address, like every request of an unknown caller. */
export async function checkToken(
  { bearer, count, requestsPerMinute }: TokenCheck,
  { sender, progress }: Pick<GateRequest, 'sender' | 'progress'>,
): Promise<void> {
  const token = bearer === null ? null : readToken(sender.credentials);
  if (token === null || (await bearer?.read(token)) !== null) return;
  const quota = addressQuota(sender.address, { requestsPerMinute });
  const decision = await count(quota);
  progress.onRate(decision, null);
  refuseOverLimit(decision, quota);
  throw unknownKey();
}
