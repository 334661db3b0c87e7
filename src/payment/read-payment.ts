import { parsePaymentPayload } from '@x402/core/schemas';
import { type PermitAuthorization, permitPayload, readPermit } from './read-permit.ts';
import { ADDRESS, DECIMAL, fieldReader, NONCE } from './signed-fields.ts';

/**
 * Reads a payment header: base64, JSON, the schema of the x402 packages, then our own stricter one. What cannot be read is
 * told without a word of it: the header holds a signature that can still be spent. Source: read-api.md 2.5, protocol.md 1.3.
 */

/** A payment as signed. The texts are the payer's, checked for their shape only. */
export type SignedPayment = SignedTransfer | SignedCeiling;

interface Signed {
  /** A v1 name or CAIP-2, as the version has it. */
  readonly network: string;
  /** Version 2: the URL that the payer says it buys, when it does. */
  readonly resourceUrl: string | null;
  /** Spendable together with what it signs: never logged. */
  readonly signature: string;
}

/** Scheme `exact`: an EIP-3009 authorization of the whole price. */
export interface SignedTransfer extends Signed {
  readonly scheme: 'exact';
  readonly x402Version: 1 | 2;
  /** Null in version 1, which has no such echo. */
  readonly accepted: AcceptedTerms | null;
  readonly authorization: SignedAuthorization;
}

/** Scheme `upto`: a Permit2 permission to take any amount up to a ceiling, once. Version 2 only. */
export interface SignedCeiling extends Signed {
  readonly scheme: 'upto';
  readonly x402Version: 2;
  readonly accepted: AcceptedTerms;
  readonly permit: PermitAuthorization;
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

/** Why a header is no payment, in words that repeat nothing of it. */
export interface UnreadablePayment {
  readonly problem: string;
}

/** A payment is about 1 KiB of base64; a contract wallet's signature can make it several. */
export const PAYMENT_HEADER_CHARS_MAX = 16 * 1024;
/** 65 bytes for a key, up to 4 KiB for a contract wallet (EIP-1271, EIP-6492). */
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){65,4096}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Never throws, whatever the text. */
export function readPayment(header: string): SignedPayment | UnreadablePayment {
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

function fromPayload(payload: Payload): SignedPayment | UnreadablePayment {
  const { scheme, network } = payload.x402Version === 1 ? payload : payload.accepted;
  const { signature } = payload.payload;
  if (scheme !== 'exact' && !(scheme === 'upto' && payload.x402Version === 2))
    return { problem: 'The scheme of the payment is neither `exact` nor, in version 2, `upto`.' };
  if (typeof signature !== 'string' || !SIGNATURE.test(signature))
    return { problem: '`payload.signature` is not the hex of a signature of at least 65 bytes.' };
  if (payload.x402Version === 2 && scheme === 'upto') {
    const permit = readPermit(payload.payload['permit2Authorization']);
    if ('problem' in permit) return permit;
    return { scheme, x402Version: 2, network, signature, permit, ...acceptedIn(payload) };
  }
  const authorization = readAuthorization(payload.payload['authorization']);
  if ('problem' in authorization) return authorization;
  const common = { scheme: 'exact', network, signature, authorization } as const;
  return payload.x402Version === 1
    ? { x402Version: 1, accepted: null, resourceUrl: null, ...common }
    : { x402Version: 2, ...acceptedIn(payload), ...common };
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

/** The payment as a facilitator takes it, rebuilt from what was read: nothing else of the header travels on. */
export function payloadFor(
  payment: SignedPayment,
  requirement: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { x402Version, network, signature } = payment;
  if (payment.scheme === 'upto')
    return {
      x402Version,
      accepted: requirement,
      payload: { signature, permit2Authorization: permitPayload(payment.permit) },
    };
  const payload = { signature, authorization: payment.authorization };
  return x402Version === 1
    ? { x402Version, scheme: 'exact', network, payload }
    : { x402Version, accepted: requirement, payload };
}
