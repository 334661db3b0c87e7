import { parsePaymentPayload } from '@x402/core/schemas';

/**
 * Reads a payment header: base64, JSON, the schema of the x402 packages, then our own stricter one. What cannot be read is
 * told without a word of it: the header holds a signature that can still be spent. Source: read-api.md 2.5, protocol.md 1.3.
 */

/** A payment as signed. The texts are the payer's, checked for their shape only. */
export interface SignedPayment {
  readonly x402Version: 1 | 2;
  /** A v1 name or CAIP-2, as the version has it. */
  readonly network: string;
  /** Version 2: the entry of the offer that the payer says it accepted. */
  readonly accepted: {
    readonly amount: string;
    readonly asset: string;
    readonly payTo: string;
  } | null;
  /** Version 2: the URL that the payer says it buys, when it does. */
  readonly resourceUrl: string | null;
  /** Spendable together with the authorization: never logged. */
  readonly signature: string;
  readonly authorization: SignedAuthorization;
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
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NONCE = /^0x[0-9a-fA-F]{64}$/;
/** A uint256 has at most 78 digits. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

const AUTHORIZATION_SHAPE: Readonly<Record<keyof SignedAuthorization, RegExp>> = {
  from: ADDRESS,
  to: ADDRESS,
  value: DECIMAL,
  validAfter: DECIMAL,
  validBefore: DECIMAL,
  nonce: NONCE,
};

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
  if (scheme !== 'exact') return { problem: 'The scheme of the payment is not `exact`.' };
  const { signature } = payload.payload;
  if (typeof signature !== 'string' || !SIGNATURE.test(signature))
    return { problem: '`payload.signature` is not the hex of a signature of at least 65 bytes.' };
  const authorization = readAuthorization(payload.payload['authorization']);
  if ('problem' in authorization) return authorization;
  const common = { network, signature, authorization };
  if (payload.x402Version === 1) return { x402Version: 1, accepted: null, resourceUrl: null, ...common };
  const { amount, asset, payTo } = payload.accepted;
  return {
    x402Version: 2,
    accepted: { amount, asset, payTo },
    resourceUrl: payload.resource?.url ?? null,
    ...common,
  };
}

function readAuthorization(raw: unknown): SignedAuthorization | UnreadablePayment {
  if (typeof raw !== 'object' || raw === null)
    return { problem: '`payload.authorization` is missing: an EIP-3009 authorization is needed.' };
  const fields = raw as Readonly<Record<string, unknown>>; // an object of JSON; every field is checked here
  const read = (key: keyof SignedAuthorization): string | undefined => {
    const value = fields[key];
    return typeof value === 'string' && AUTHORIZATION_SHAPE[key].test(value) ? value : undefined;
  };
  const [from, to, value] = [read('from'), read('to'), read('value')];
  const [validAfter, validBefore, nonce] = [read('validAfter'), read('validBefore'), read('nonce')];
  if (from === undefined || to === undefined || nonce === undefined)
    return { problem: '`from`, `to` or `nonce` of the authorization is not hex of the right length.' };
  if (value === undefined || validAfter === undefined || validBefore === undefined)
    return {
      problem:
        '`value`, `validAfter` or `validBefore` of the authorization is not a decimal integer as text.',
    };
  return { from, to, value, validAfter, validBefore, nonce };
}

/** The payment as a facilitator takes it, rebuilt from what was read: nothing else of the header travels on. */
export function payloadFor(
  { x402Version, network, signature, authorization }: SignedPayment,
  requirement: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const payload = { signature, authorization };
  return x402Version === 1
    ? { x402Version, scheme: 'exact', network, payload }
    : { x402Version, accepted: requirement, payload };
}
