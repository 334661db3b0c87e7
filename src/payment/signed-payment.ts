import { parsePaymentPayload } from '@x402/core/schemas';
import { type Address, address, toChecksum } from '../../core/domain/account.ts';
import { readTransfer, type SponsoredTransfer } from './solana/transfer.ts';

/** The contracts through which a ceiling is settled, the same on every chain. */
export const PERMIT2 = address('0x000000000022D473030F116dDEE9F6B43aC78BA3');
export const UPTO_PROXY = address('0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002');

const NONCE_ID = /^permit2:(0x[0-9a-f]{64})$/;

/**
 * How a Permit2 nonce is written in an `AuthorizationId`. Marked, because a payer may use the same 32 bytes as the nonce of an
 * EIP-3009 authorization, which is another thing and looked up elsewhere on the chain.
 */
export function permit2NonceId(nonce: bigint): string {
  return `permit2:0x${nonce.toString(16).padStart(64, '0')}`;
}

/** The nonce behind such an id; null for the nonce of an EIP-3009 authorization. */
export function permit2NonceOf(nonceId: string): bigint | null {
  const hex = NONCE_ID.exec(nonceId)?.[1];
  return hex === undefined ? null : BigInt(hex);
}

/** The nonce alone, as the payer finds it on the chain, and of a message of Solana its digest: 32 bytes of hex for each kind. */
export function nonceHex(nonceId: string): string {
  return NONCE_ID.exec(nonceId)?.[1] ?? nonceId;
}

/**
 * Reads a payment header: base64, JSON, the schema of the x402 packages, then our own stricter one. The description of
 * an unreadable header quotes nothing of it: the header holds a signature that can still be spent.
 */

/** A payment as signed. The texts are the payer's, checked for their shape only. */
export type SignedPayment = SignedTransfer | SignedCeiling | SignedTransaction;

interface Signed {
  /** A v1 name or CAIP-2, as the version has it. */
  readonly network: string;
  /** Version 2: the URL that the payer says it buys, when it does. */
  readonly resourceUrl: string | null;
  /** Spendable together with what it signs: never logged. */
  readonly signature: string;
}

/** Scheme `exact` on EVM chains: an EIP-3009 authorization of the whole price. */
export interface SignedTransfer extends Signed {
  readonly kind: 'authorization';
  readonly scheme: 'exact';
  readonly x402Version: 1 | 2;
  /** Null in version 1, which has no such echo. */
  readonly accepted: AcceptedTerms | null;
  readonly authorization: SignedAuthorization;
}

/** Scheme `upto`: a Permit2 permission to take any amount up to a ceiling, once. Version 2 only. */
export interface SignedCeiling extends Signed {
  readonly kind: 'permit';
  readonly scheme: 'upto';
  readonly x402Version: 2;
  readonly accepted: AcceptedTerms;
  readonly permit: PermitAuthorization;
}

/** Scheme `exact` on Solana: a transaction that lacks the facilitator's signature alone. Its base64 is its `signature`. */
export interface SignedTransaction extends Signed {
  readonly kind: 'transaction';
  readonly scheme: 'exact';
  readonly x402Version: 1 | 2;
  readonly accepted: AcceptedTerms | null;
  readonly transfer: SponsoredTransfer;
}

/** The entry of the offer that the payer says it accepted. */
export interface AcceptedTerms {
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
}

/** EIP-3009; amounts and Unix seconds as decimal texts. */
export interface SignedAuthorization {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

/** Why a header is no payment; quotes nothing of it. */
export interface UnreadablePayment {
  readonly problem: string;
}

/** The fault of a payment: a code, and a sentence that says what to do. */
export interface PaymentFault {
  readonly reason: string;
  readonly detail: string;
}

/** A payment is about 1 KiB of base64; a contract wallet's signature can make it several. */
export const PAYMENT_HEADER_CHARS_MAX = 16 * 1024;
/** 65 bytes for a key, or 64 in the compact form; up to 4 KiB for a contract wallet (EIP-1271, EIP-6492). */
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){64,4096}$/;
const COMPACT_SIGNATURE_CHARS = 2 + 2 * 64;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Never throws, whatever the text. A fault is that of a transaction which pays nothing that could be checked. */
export function readPayment(header: string): SignedPayment | UnreadablePayment | PaymentFault {
  if (header.length > PAYMENT_HEADER_CHARS_MAX)
    return { problem: `The payment header is longer than ${PAYMENT_HEADER_CHARS_MAX} characters.` };
  if (!BASE64.test(header))
    return { problem: 'The payment header is not base64 (standard alphabet) of a JSON object.' };
  const parsed = parsePaymentPayload(decodeJson(header));
  if (!parsed.success)
    return { problem: 'The payment header does not decode to an x402 payment of version 1 or 2.' };
  return fromPayload(parsed.data);
}

function decodeJson(base64: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64')));
  } catch {
    return undefined; // no schema accepts it; the error would quote the payment
  }
}

type Payload = NonNullable<ReturnType<typeof parsePaymentPayload>['data']>;

function fromPayload(payload: Payload): SignedPayment | UnreadablePayment | PaymentFault {
  const { scheme, network } = payload.x402Version === 1 ? payload : payload.accepted;
  const { signature: sent, transaction } = payload.payload;
  if (scheme !== 'exact' && !(scheme === 'upto' && payload.x402Version === 2))
    return { problem: 'The scheme of the payment is neither `exact` nor, in version 2, `upto`.' };
  if (scheme === 'exact' && typeof transaction === 'string') {
    const transfer = readTransfer(transaction);
    if (!('digest' in transfer)) return transfer;
    return { kind: 'transaction', scheme, network, signature: transaction, transfer, ...echoIn(payload) };
  }
  if (typeof sent !== 'string' || !SIGNATURE.test(sent))
    return { problem: '`payload.signature` is not the hex of a signature of at least 64 bytes.' };
  const signature = wholeSignature(sent);
  if (payload.x402Version === 2 && scheme === 'upto') {
    const permit = readPermit(payload.payload['permit2Authorization']);
    if ('problem' in permit) return permit;
    return { kind: 'permit', scheme, x402Version: 2, network, signature, permit, ...acceptedIn(payload) };
  }
  const authorization = readAuthorization(payload.payload['authorization']);
  if ('problem' in authorization) return authorization;
  return { kind: 'authorization', scheme: 'exact', network, signature, authorization, ...echoIn(payload) };
}

type Echo = Pick<SignedTransfer, 'x402Version' | 'accepted' | 'resourceUrl'>;

function echoIn(payload: Payload): Echo {
  return payload.x402Version === 1
    ? { x402Version: 1, accepted: null, resourceUrl: null }
    : { x402Version: 2, ...acceptedIn(payload) };
}

/** The 65 bytes that token contracts take: the compact form has the parity in the highest bit of `s`. Source: ERC-2098. */
function wholeSignature(sent: string): string {
  if (sent.length !== COMPACT_SIGNATURE_CHARS) return sent;
  const [r, s] = [sent.slice(0, 66), BigInt(`0x${sent.slice(66)}`)];
  const parity = s >> 255n;
  const bareS = (s & ((1n << 255n) - 1n)).toString(16).padStart(64, '0');
  return `${r}${bareS}${(27n + parity).toString(16)}`;
}

function acceptedIn({ accepted, resource }: Extract<Payload, { x402Version: 2 }>): {
  readonly accepted: AcceptedTerms;
  readonly resourceUrl: string | null;
} {
  const { amount, asset, payTo } = accepted;
  return { accepted: { amount, asset, payTo }, resourceUrl: resource?.url ?? null };
}

function readAuthorization(raw: unknown): SignedAuthorization | UnreadablePayment {
  const read = fieldReader(raw);
  if (read === null)
    return { problem: '`payload.authorization` is missing: an EIP-3009 authorization is needed.' };
  const [from, to, nonce] = [read('from', ADDRESS), read('to', ADDRESS), read('nonce', NONCE)];
  if (from === undefined || to === undefined || nonce === undefined)
    return { problem: '`from`, `to` or `nonce` of the authorization is not hex of the right length.' };
  const value = read('value', DECIMAL);
  const [validAfter, validBefore] = [read('validAfter', DECIMAL), read('validBefore', DECIMAL)];
  if (value === undefined || validAfter === undefined || validBefore === undefined)
    return {
      problem:
        '`value`, `validAfter` or `validBefore` of the authorization is not a decimal integer as text.',
    };
  return { from, to, value, validAfter, validBefore, nonce };
}

/** The payment as a facilitator takes it, rebuilt from the fields that were read: the rest of the header is dropped. */
export function payloadFor(
  payment: SignedPayment,
  requirement: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { x402Version, network } = payment;
  const payload = signedPart(payment);
  return x402Version === 1
    ? { x402Version, scheme: 'exact', network, payload }
    : { x402Version, accepted: requirement, payload };
}

function signedPart(payment: SignedPayment): Readonly<Record<string, unknown>> {
  const { signature } = payment;
  switch (payment.kind) {
    case 'authorization':
      return { signature, authorization: payment.authorization };
    case 'permit':
      return { signature, permit2Authorization: permitPayload(payment.permit) };
    case 'transaction':
      return { transaction: signature };
  }
}

/**
 * A Permit2 `PermitWitnessTransferFrom` of the scheme `upto`, as signed. Addresses in lower case: their bytes are signed, not
 * their spelling.
 */
export interface PermitAuthorization {
  readonly from: Address;
  readonly token: Address;
  /** The ceiling, atomic units. */
  readonly amount: bigint;
  readonly spender: Address;
  readonly nonce: bigint;
  /** Unix seconds. */
  readonly deadline: bigint;
  /** The witness: who is paid, who alone may settle, from when on (Unix seconds). */
  readonly to: Address;
  readonly facilitator: Address;
  readonly validAfter: bigint;
}

const UINT256_END = 2n ** 256n;

/** Never throws. The problem repeats nothing of what was read. */
function readPermit(raw: unknown): PermitAuthorization | { readonly problem: string } {
  const addresses = {
    from: addressIn(raw, 'from'),
    token: addressIn(innerOf(raw, 'permitted'), 'token'),
    spender: addressIn(raw, 'spender'),
    to: addressIn(innerOf(raw, 'witness'), 'to'),
    facilitator: addressIn(innerOf(raw, 'witness'), 'facilitator'),
  };
  const integers = {
    amount: integerIn(innerOf(raw, 'permitted'), 'amount'),
    nonce: integerIn(raw, 'nonce'),
    deadline: integerIn(raw, 'deadline'),
    validAfter: integerIn(innerOf(raw, 'witness'), 'validAfter'),
  };
  if (!isWhole(addresses))
    return {
      problem:
        '`payload.permit2Authorization` is missing, or one of its addresses (`from`, `permitted.token`, `spender`, `witness.to`, `witness.facilitator`) is none.',
    };
  if (!isWhole(integers))
    return {
      problem:
        '`permitted.amount`, `nonce`, `deadline` or `witness.validAfter` of the Permit2 authorization is not a uint256 as decimal text.',
    };
  return { ...addresses, ...integers };
}

function addressIn(raw: unknown, key: string): Address | undefined {
  return fieldReader(raw)?.(key, ADDRESS)?.toLowerCase() as Address | undefined; // 40 hex digits by its shape
}

function integerIn(raw: unknown, key: string): bigint | undefined {
  const text = fieldReader(raw)?.(key, DECIMAL);
  const value = text === undefined ? undefined : BigInt(text);
  return value === undefined || value >= UINT256_END ? undefined : value;
}

function isWhole<Fields extends object>(
  fields: Fields,
): fields is { [Key in keyof Fields]: NonNullable<Fields[Key]> } & Fields {
  return Object.values(fields).every((value) => value !== undefined);
}

/** `payload.permit2Authorization` as facilitators take it. */
function permitPayload(permit: PermitAuthorization): Readonly<Record<string, unknown>> {
  const { from, token, amount, spender, nonce, deadline, to, facilitator, validAfter } = permit;
  return {
    from: toChecksum(from),
    permitted: { token: toChecksum(token), amount: String(amount) },
    spender: toChecksum(spender),
    nonce: String(nonce),
    deadline: String(deadline),
    witness: {
      to: toChecksum(to),
      facilitator: toChecksum(facilitator),
      validAfter: String(validAfter),
    },
  };
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** 32 bytes, as EIP-3009 has its nonces. */
const NONCE = /^0x[0-9a-fA-F]{64}$/;
/** A uint256 has at most 78 digits. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

/** Reads fields of an object of JSON, each only in its shape; null for anything but an object. */
function fieldReader(raw: unknown): ((key: string, shape: RegExp) => string | undefined) | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const fields = raw as Readonly<Record<string, unknown>>; // an object of JSON; every field is checked here
  return (key, shape) => {
    const value = fields[key];
    return typeof value === 'string' && shape.test(value) ? value : undefined;
  };
}

/** A field that should be an object itself. */
function innerOf(raw: unknown, key: string): unknown {
  return typeof raw === 'object' && raw !== null
    ? (raw as Readonly<Record<string, unknown>>)[key]
    : undefined; // as above
}
