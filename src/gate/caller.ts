import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import {
  addressName,
  isApiKey,
  type KeyDigest,
  keyDigest,
  organizationName,
} from '../../core/domain/caller.ts';
import { rightsOf } from '../../core/domain/key-right.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import { type Failure, fail } from '../../core/errors.ts';
import { customerOf } from '../../core/ip-address.ts';
import {
  type AccountStore,
  type Credential,
  endOfKey,
  NO_KEY_LIMITS,
  type Organization,
} from '../accounts/account-store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { isOfOwnAccount } from '../operations/account/scope.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { Caller, CallerKey } from '../operations/deps.ts';
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
  /** The key that the console lends to its visitors, so that everybody has it; null where it lends none. */
  readonly publicKey: KeyDigest | null;
  readonly clock: Clock;
}

/** A text with this prefix is one of our keys or invalid, never a token: it is not sent to an identity provider. */
const KEY_PREFIX = 'six_';

const ANONYMOUS: Caller = {
  keyPresent: false,
  keyRecognised: null,
  standing: 'anonymous',
  organization: null,
  organizationMissing: false,
  key: null,
};
const UNKNOWN: Caller = { ...ANONYMOUS, keyPresent: true, keyRecognised: false };

/** A credential as it was sent. */
export interface SentCredential {
  readonly text: string;
  /** Null for a text that is not spelled like a key. */
  readonly digest: KeyDigest | null;
}

/**
 * The credential of the request; null without one, '' for a text that cannot be one of ours. A request whose `X-API-Key` and
 * bearer differ is refused: the caller may mean either. An `Authorization` of another scheme (a proxy's, for example) is ignored
 * when there is an `X-API-Key`.
 */
export function readCredential(headers: CredentialHeaders): SentCredential | null {
  const text = credentialText(headers);
  return text === null ? null : { text, digest: isApiKey(text) ? keyDigest(text) : null };
}

/** The digest of the key that the request carries, for a guess at its caller: the request is not checked. Null without a key. */
export function digestOf({
  authorization = '',
  'x-api-key': sent = '',
}: CredentialHeaders): KeyDigest | null {
  const key = typeof sent === 'string' && sent !== '' ? sent : authorization.replace(/^bearer +/i, '');
  const text = key.trim();
  return isApiKey(text) ? keyDigest(text) : null;
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

/** The bearer token where no key was sent; null without one, and for a text that has the form of our keys. */
function readToken({ authorization = '', 'x-api-key': key = '' }: CredentialHeaders): string | null {
  const token = key.length > 0 ? undefined : /^bearer +(\S+)$/i.exec(authorization.trim())?.[1];
  return token === undefined || token.startsWith(KEY_PREFIX) ? null : token;
}

/**
 * Identifies the caller. Every invalid credential gives the same caller, `keyRecognised: false`. Rejects with
 * `upstream_unavailable` when the store (`accounts`) or the issuer's key set (`identity_provider`) does not answer.
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

/** Keys and tokens without an organization can be made at will: turns and penalties count their holders by address. */
export function callerNameOf(
  { caller, quota }: Identity,
  address: string,
  deps: Pick<IdentityDeps, 'requestsPerMinute'>,
): string {
  return caller.organization === null ? addressQuota(address, deps).key : quota.key;
}

/** The name that the caller had last. A wrong guess costs the caller a turn, nothing else. */
export function likelyCallerName(
  { credentials, address }: Pick<GateRequest['sender'], 'credentials' | 'address'>,
  {
    knownNames,
    identity,
  }: {
    readonly knownNames: { get(digest: KeyDigest): string | undefined };
    readonly identity: IdentityDeps;
  },
): string {
  const digest = digestOf(credentials);
  const known = digest === null ? undefined : knownNames.get(digest);
  return known ?? addressQuota(address, identity).key;
}

/** Null for a key that does not exist or is not valid now. */
function identityOf(found: Credential | null, digest: KeyDigest, deps: IdentityDeps): Identity | null {
  if (found === null || !isSameDigest(found.key.digest, digest)) return null;
  if (endOfKey(found.key, deps.clock.nowMs()) !== null) return null;
  const { id, kind } = found.key;
  const { organization } = found;
  const standing = kind === 'trial' ? 'trial' : 'organization';
  const isMissing = kind === 'live' && organization === null;
  const caller = { ...callerOf(standing, organization, isMissing), key: callerKey(found, deps.publicKey) };
  if (organization !== null) return { caller, quota: organizationQuota(organization, deps) };
  const requestsPerMinute = kind === 'trial' ? deps.trialRequestsPerMinute : deps.requestsPerMinute;
  return { caller, quota: { key: `key:${id}`, requestsPerMinute, whose: 'this key' } };
}

const DIGEST_CHARS = 64;
/** Reused by each comparison, which is synchronous: buffers per call would be garbage of every request. */
const STORED = Buffer.alloc(DIGEST_CHARS);
const SENT = Buffer.alloc(DIGEST_CHARS);

/** The store found the row by its digest; a store that compares loosely (case, prefixes) must still let no other key in. */
function isSameDigest(stored: string, digest: string): boolean {
  if (stored.length !== digest.length) return false;
  // As many bytes as characters: ASCII, so that both are there as a whole.
  const [written, wanted] = [STORED.write(stored), SENT.write(digest)];
  return written === DIGEST_CHARS && wanted === DIGEST_CHARS && timingSafeEqual(STORED, SENT);
}

/** A token whose organization does not exist makes a caller without one: the token is valid, and the organization may be created later. */
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
  return { keyPresent: true, keyRecognised: true, standing, organization, organizationMissing, key: null };
}

/** A key that is limited, or that everybody has, manages none, whatever its record says; one that everybody has has no rights either. */
function callerKey({ key }: Credential, publicKey: KeyDigest | null): CallerKey {
  const { id, kind, digest, limits = NO_KEY_LIMITS, expiresAtMs } = key;
  const { operations, unitsPerDay, managesKeys } = limits;
  const isLent = digest === publicKey;
  const isLimited = kind === 'trial' || operations !== null || unitsPerDay !== null || isLent;
  const rights = isLent ? [] : rightsOf(key);
  return { id, managesKeys: managesKeys && !isLimited, isLent, rights, operations, expiresAtMs };
}

function organizationQuota({ id, plan }: Organization, { plans }: IdentityDeps): Quota {
  return {
    key: organizationName(id),
    requestsPerMinute: plans[plan].requestsPerMinute,
    whose: 'the keys of this organization',
  };
}

/**
 * Refuses a key that resolves to nothing, except where the operation answers such callers, and one that is limited to other
 * operations, also for a call that is paid for. What a key may see of its own account it may always ask.
 */
export function admitKey(
  caller: Caller,
  operation: Pick<AnyOperation, 'id' | 'path' | 'acceptsUnknownKey' | 'allowedAs'>,
): void {
  if (caller.keyRecognised === false && !operation.acceptsUnknownKey) throw unknownKey();
  const allowed = caller.key?.operations ?? null;
  if (allowed === null || isOfOwnAccount(operation)) return;
  if (allowed.includes(operation.allowedAs ?? operation.id)) return;
  throw fail('key_restricted', {
    detail: `This key may call ${allowed.join(', ')}, and what is below /v0/account; not ${operation.id}.`,
  });
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

/** `checkToken` of the gate. A refusal is counted for its address, like every request of an unknown caller. */
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
