import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Address, type Hash, isAddress, readAddress } from './account.ts';
import { type Chain, isChain } from './chains.ts';
import type { Position } from './settlement.ts';

/** The value that a client passes as `before`. Opaque to clients. */
export type Cursor = string & { readonly __brand: 'Cursor' };

const VERSION = 1;
const MAC_BYTES = 16;
/** A real cursor is about 130 characters; a longer text cannot be one of ours and is not worth hashing. */
export const CURSOR_MAX_CHARS = 512;
/** A decimal uint256 has at most 78 digits. */
const DECIMAL = /^\d{1,78}$/;
const ALPHABET = /^[A-Za-z0-9_-]+$/;

/**
 * Signing keys, newest first. The first one mints, all of them verify, so that rotating a key does not break clients in the middle
 * of a list.
 */
export interface CursorKeys {
  readonly keys: readonly [Buffer, ...Buffer[]];
}

/**
 * Encodes the whole sort key and the list it belongs to (`scope`: operation, and wallet if any) into a cursor. The MAC keeps
 * clients from inventing positions; the position itself is no secret.
 */
export function mintCursor(keys: CursorKeys, scope: string, position: Position): Cursor {
  const { blockTime, chain, blockNumber, logIndex } = position;
  return seal(keys, scope, [blockTime, chain, blockNumber, logIndex]);
}

/** Reads a cursor of this deployment and this list; undefined for anything else (foreign, truncated, tampered, other list). */
export function readCursor(keys: CursorKeys, scope: string, text: string): Position | undefined {
  const fields = unseal(keys, scope, text);
  if (fields === undefined) return undefined;
  return positionOf(fields);
}

function positionOf([blockTime, chain, blockNumber, logIndex]: readonly unknown[]): Position | undefined {
  return isCount(blockTime) &&
    isCount(blockNumber) &&
    isCount(logIndex) &&
    typeof chain === 'string' &&
    isChain(chain)
    ? { blockTime, chain, blockNumber, logIndex }
    : undefined;
}

/** `mintCursor` for a list of wallets, whose sort key is the address. */
export function mintWalletCursor(keys: CursorKeys, scope: string, wallet: Address): Cursor {
  return seal(keys, scope, [wallet]);
}

/** `readCursor` for a list of wallets. */
export function readWalletCursor(keys: CursorKeys, scope: string, text: string): Address | undefined {
  const wallet = unseal(keys, scope, text)?.[0];
  const outcome = readAddress(wallet);
  return isAddress(outcome) ? outcome : undefined;
}

/** What a signed link to a result allows. */
export interface ResultGrant {
  readonly id: string;
  /** Unix milliseconds. */
  readonly untilMs: number;
  /** The key that it was given to, with which it ends; null for a bearer token. */
  readonly signer: { readonly organizationId: string; readonly keyId: string } | null;
}

const RESULT_SCOPE = 'result';

export function mintResultToken(keys: CursorKeys, { id, untilMs, signer }: ResultGrant): string {
  return seal(keys, RESULT_SCOPE, [
    id,
    untilMs,
    ...(signer === null ? [] : [signer.organizationId, signer.keyId]),
  ]);
}

/** Undefined for a token that is not of this deployment, or was changed. */
export function readResultToken(keys: CursorKeys, text: string): ResultGrant | undefined {
  const [id, untilMs, organizationId, keyId] = unseal(keys, RESULT_SCOPE, text) ?? [];
  if (typeof id !== 'string' || !isCount(untilMs)) return undefined;
  const isSigned = typeof organizationId === 'string' && typeof keyId === 'string';
  return { id, untilMs, signer: isSigned ? { organizationId, keyId } : null };
}

/** A position in a list of agents: its sort key. */
export interface AgentPosition {
  readonly chain: Chain;
  readonly agentId: bigint;
}

/** `mintCursor` for a list of agents. The id may exceed what a JSON number holds, so it is a decimal text. */
export function mintAgentCursor(keys: CursorKeys, scope: string, { chain, agentId }: AgentPosition): Cursor {
  return seal(keys, scope, [chain, String(agentId)]);
}

/** `readCursor` for a list of agents. */
export function readAgentCursor(keys: CursorKeys, scope: string, text: string): AgentPosition | undefined {
  const [chain, agentId] = unseal(keys, scope, text) ?? [];
  return typeof chain === 'string' && isChain(chain) && typeof agentId === 'string' && DECIMAL.test(agentId)
    ? { chain, agentId: BigInt(agentId) }
    : undefined;
}

/** A position in a list of wallets that is ordered by a figure of a window of time. */
export interface RankedPosition {
  /** End of the window, excluded, Unix seconds: every page of a walk is about the same window. */
  readonly until: number;
  readonly value: bigint;
  /** Decides between equal values. */
  readonly wallet: Address;
}

/** `mintCursor` for a ranked list. */
export function mintRankedCursor(
  keys: CursorKeys,
  scope: string,
  { until, value, wallet }: RankedPosition,
): Cursor {
  return seal(keys, scope, [until, String(value), wallet]);
}

/** `readCursor` for a ranked list. */
export function readRankedCursor(keys: CursorKeys, scope: string, text: string): RankedPosition | undefined {
  const [until, value, wallet] = unseal(keys, scope, text) ?? [];
  const outcome = readAddress(wallet);
  return isCount(until) && typeof value === 'string' && DECIMAL.test(value) && isAddress(outcome)
    ? { until, value: BigInt(value), wallet: outcome }
    : undefined;
}

/** A position in the list of bundles. */
export interface BundlePosition {
  /** UTC, such as 2026-11-20. */
  readonly day: string;
  readonly chain: string;
  readonly table: string;
}

/** `mintCursor` for the list of bundles. */
export function mintBundleCursor(
  keys: CursorKeys,
  scope: string,
  { day, chain, table }: BundlePosition,
): Cursor {
  return seal(keys, scope, [day, chain, table]);
}

/** `readCursor` for the list of bundles. */
export function readBundleCursor(keys: CursorKeys, scope: string, text: string): BundlePosition | undefined {
  const [day, chain, table] = unseal(keys, scope, text) ?? [];
  return typeof day === 'string' && typeof chain === 'string' && typeof table === 'string'
    ? { day, chain, table }
    : undefined;
}

/** A position in the list of the channels of a wallet. */
export interface ChannelPosition {
  /** Unix seconds. */
  readonly openedAt: number;
  readonly channel: Hash;
}

/** `mintCursor` for a list of channels. */
export function mintChannelCursor(
  keys: CursorKeys,
  scope: string,
  { openedAt, channel }: ChannelPosition,
): Cursor {
  return seal(keys, scope, [openedAt, channel]);
}

/** `readCursor` for a list of channels. */
export function readChannelCursor(
  keys: CursorKeys,
  scope: string,
  text: string,
): ChannelPosition | undefined {
  const [openedAt, channel] = unseal(keys, scope, text) ?? [];
  return isCount(openedAt) && typeof channel === 'string' && channel.startsWith('0x')
    ? { openedAt, channel: channel as Hash } // as we minted it
    : undefined;
}

/** A saved query, by its owner and slug. */
export interface QueryPosition {
  readonly handle: string;
  readonly slug: string;
}

/** `mintCursor` for the list of saved queries. */
export function mintQueryCursor(keys: CursorKeys, scope: string, { handle, slug }: QueryPosition): Cursor {
  return seal(keys, scope, [handle, slug]);
}

/** `readCursor` for the list of saved queries. */
export function readQueryCursor(keys: CursorKeys, scope: string, text: string): QueryPosition | undefined {
  const [handle, slug] = unseal(keys, scope, text) ?? [];
  return typeof handle === 'string' && typeof slug === 'string' ? { handle, slug } : undefined;
}

/** How far a reader of changes is, by the engine's clock in microseconds. */
export interface ChangesPosition {
  /** Everything up to this time was given. */
  readonly from: number;
  /** The part of the change that the walk has reached; undefined: none was begun. */
  readonly window: ChangesWindow | undefined;
}

export interface ChangesWindow {
  readonly to: number;
  /** Retractions that were given. */
  readonly gone: number;
  /** The last row that was given, undefined before the first. */
  readonly row: Position | undefined;
}

/** `mintCursor` for reading forward. */
export function mintChangesCursor(
  keys: CursorKeys,
  scope: string,
  { from, window }: ChangesPosition,
): Cursor {
  if (window === undefined) return seal(keys, scope, [from]);
  const { to, gone, row } = window;
  const at = row === undefined ? [] : [row.blockTime, row.chain, row.blockNumber, row.logIndex];
  return seal(keys, scope, [from, to, gone, ...at]);
}

/** `readCursor` for reading forward. */
export function readChangesCursor(
  keys: CursorKeys,
  scope: string,
  text: string,
): ChangesPosition | undefined {
  const [from, to, gone, ...at] = unseal(keys, scope, text) ?? [];
  if (!isCount(from)) return undefined;
  if (to === undefined) return { from, window: undefined };
  if (!isCount(to) || !isCount(gone)) return undefined;
  const row = at.length === 0 ? undefined : positionOf(at);
  return at.length > 0 && row === undefined ? undefined : { from, window: { to, gone, row } };
}

function seal(keys: CursorKeys, scope: string, fields: readonly (string | number)[]): Cursor {
  const body = Buffer.from(JSON.stringify(fields), 'utf8');
  return Buffer.concat([Buffer.of(VERSION), mac(keys.keys[0], scope, body), body]).toString(
    'base64url',
  ) as Cursor;
}

function unseal(keys: CursorKeys, scope: string, text: string): readonly unknown[] | undefined {
  if (text.length > CURSOR_MAX_CHARS || !ALPHABET.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // Re-encoding rejects texts with altered unused trailing bits: each position has exactly one encoding.
  if (bytes.toString('base64url') !== text || bytes[0] !== VERSION || bytes.length <= 1 + MAC_BYTES)
    return undefined;
  const given = bytes.subarray(1, 1 + MAC_BYTES);
  const body = bytes.subarray(1 + MAC_BYTES);
  const genuine = keys.keys.some((key) => timingSafeEqual(given, mac(key, scope, body)));
  if (!genuine) return undefined;
  const fields: unknown = JSON.parse(body.toString('utf8'));
  return Array.isArray(fields) ? fields : undefined;
}

function mac(key: Buffer, scope: string, body: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(`${VERSION}\n${scope}\n`)
    .update(body)
    .digest()
    .subarray(0, MAC_BYTES);
}

function isCount(field: unknown): field is number {
  return Number.isSafeInteger(field);
}
