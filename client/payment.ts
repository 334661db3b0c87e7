import { DOLLAR_TOKENS } from './dollar-tokens.ts';
import { parseJson, SettlementIndexError } from './errors.ts';

/** JSON in base64, as in the headers of x402. `btoa` works in Node and in browsers, but takes one byte a character only. */

export function encodeBase64Json(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Undefined where the text is not base64 or not JSON. */
export function decodeBase64Json(text: string): unknown {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  return parseJson(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))));
}

const MICRO_DIGITS = 6;
const USD = /^(\d{1,12})(?:\.(\d{1,6}))?$/;

/** Dollars in micros, which are exact. Throws a `TypeError` that names the option unless the text is a decimal such as `'0.05'`. */
export function usdMicros(option: string, text: string): bigint {
  const [matched, whole, fraction = ''] = USD.exec(text) ?? [];
  if (matched === undefined || whole === undefined)
    throw new TypeError(`${option} must be dollars as a decimal text, such as '0.05'`);
  return BigInt(whole) * 10n ** BigInt(MICRO_DIGITS) + BigInt(fraction.padEnd(MICRO_DIGITS, '0'));
}

/** An amount of atomic units in micros, rounded up; null where it is not an amount. */
export function microsOfAtoms(atoms: unknown, decimals: number): bigint | null {
  if (typeof atoms !== 'string' || !/^\d{1,78}$/.test(atoms)) return null;
  const scale = 10n ** BigInt(decimals);
  return (BigInt(atoms) * 10n ** BigInt(MICRO_DIGITS) + scale - 1n) / scale;
}

/** `30000n` → `'0.03'`. */
export function usdText(micros: bigint): string {
  const scale = 10n ** BigInt(MICRO_DIGITS);
  const fraction = String(micros % scale)
    .padStart(MICRO_DIGITS, '0')
    .replace(/(?<!0)0+$/, '');
  return `${micros / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Paying for single calls over x402. */

/** One way to pay, in the form of x402 version 2. */
export interface PaymentTerms {
  /** `exact` takes the amount, `upto` at most the amount. */
  readonly scheme: string;
  /** CAIP-2. */
  readonly network: `${string}:${string}`;
  /** Token contract. */
  readonly asset: string;
  readonly payTo: string;
  /** Atomic units of the token: `'1000'` is 0.001 USDC. */
  readonly amount: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Record<string, unknown>;
}

/** The payment that the service requires, in the form of x402 version 2 (`PAYMENT-REQUIRED`). */
export interface PaymentRequired {
  readonly x402Version: number;
  readonly error?: string;
  readonly resource: { readonly url: string; readonly description?: string; readonly mimeType?: string };
  readonly accepts: PaymentTerms[];
}

/** A call that requires a payment, with the terms that are within the caps. */
export interface PaymentOffer {
  readonly method: string;
  readonly url: string;
  /** The price of the dearest of the terms, dollars: `'0.03'`. */
  readonly usd: string;
  readonly required: PaymentRequired;
}

/** Signs one of `offer.required.accepts` and returns the x402 payment, version 1 or 2, in base64. */
export type Payer = (offer: PaymentOffer) => Promise<string>;

/** The receipt of a settled payment, with its transaction on the chain. */
export interface Receipt {
  readonly success: boolean;
  /** Hash of the settlement. */
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
  /** Atomic units that were charged; for `upto` only. */
  readonly amount?: string;
}

/** The part of an `x402Client` of `@x402/fetch` or `@x402/core` that signs. */
export interface PaymentSigner {
  createPaymentPayload(required: PaymentRequired): Promise<object>;
}

/** A payer that signs with the registered schemes of an `x402Client` of `@x402/fetch`. */
export function payWith(client: PaymentSigner): Payer {
  return async ({ required }) => encodeBase64Json(await client.createPaymentPayload(required));
}

/** Above all prices of the service except the prices of long SQL tiers. */
export const MAX_USD_DEFAULT = '0.10';

export interface WalletOptions {
  readonly payer: Payer;
  readonly maxUsd?: string | undefined;
  readonly maxTotalUsd?: string | undefined;
  readonly offerTokens?: Readonly<Record<string, number>> | undefined;
}

/** Signs offers within the caps. */
export interface Wallet {
  /** The text of the payment header. Throws `payment_over_cap` before anything is signed. */
  pay(call: { readonly method: string; readonly url: string }, response: Response): Promise<string>;
  /** Dollars signed for so far. A signature counts even before it is settled, because it can be at any time. */
  signedUsd(): string;
}

interface Priced {
  readonly terms: PaymentTerms;
  readonly micros: bigint;
}

export function createWallet({
  payer,
  maxUsd = MAX_USD_DEFAULT,
  maxTotalUsd,
  offerTokens,
}: WalletOptions): Wallet {
  const perCall = usdMicros('maxUsd', maxUsd);
  const total = maxTotalUsd === undefined ? null : usdMicros('maxTotalUsd', maxTotalUsd);
  const tokens = { ...DOLLAR_TOKENS, ...byTokenKey(offerTokens ?? {}) };
  let signed = 0n;
  return {
    async pay(call, response) {
      const required = readRequired(response);
      const priced = required.accepts.flatMap((terms) => priceOf(terms, tokens));
      const left = total === null || total - signed > perCall ? perCall : total - signed;
      const payable = priced.filter(({ micros }) => micros <= left);
      if (payable.length === 0) throw overCap(priced, { left, perCall });
      const most = payable.toSorted(cheapestFirst).at(-1)?.micros ?? 0n;
      // Before the payer signs, so that concurrent calls cannot spend the same rest.
      signed += most;
      try {
        const accepts = payable.map(({ terms }) => terms);
        return await payer({ ...call, usd: usdText(most), required: { ...required, accepts } });
      } catch (error) {
        signed -= most;
        throw error;
      }
    },
    signedUsd: () => usdText(signed),
  };
}

function cheapestFirst(one: Priced, other: Priced): number {
  if (one.micros === other.micros) return 0;
  return one.micros < other.micros ? -1 : 1;
}

function byTokenKey(tokens: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(tokens).map(([name, decimals]) => [tokenKey(name), decimals]));
}

/** As `DOLLAR_TOKENS` names tokens: hex in lower case; base58, whose case counts, as it is. */
function tokenKey(name: string): string {
  const lower = name.toLowerCase();
  return lower.startsWith('eip155:') ? lower : name;
}

/** Empty for tokens of unknown value. */
function priceOf(terms: PaymentTerms, tokens: Readonly<Record<string, number>>): Priced[] {
  const decimals = tokens[tokenKey(`${terms.network}/${terms.asset}`)];
  const micros = decimals === undefined ? null : microsOfAtoms(terms.amount, decimals);
  return micros === null ? [] : [{ terms, micros }];
}

function overCap(
  priced: readonly Priced[],
  caps: { readonly left: bigint; readonly perCall: bigint },
): Error {
  const code = 'payment_over_cap';
  const [cheapest] = priced.toSorted(cheapestFirst);
  if (cheapest === undefined) {
    const detail =
      'The call is sold only for tokens of unknown value. Declare them in offerTokens to pay with them. Nothing was signed.';
    return new SettlementIndexError({ code, status: 402, detail });
  }
  const cap = caps.left < caps.perCall ? 'the rest of maxTotalUsd' : 'maxUsd';
  const detail = `The call costs ${usdText(cheapest.micros)} USD, more than ${cap} (${usdText(caps.left < 0n ? 0n : caps.left)} USD). Nothing was signed.`;
  return new SettlementIndexError({ code, status: 402, detail });
}

/** The service sends versions 1 and 2; version 2 contains all of version 1. */
function readRequired(response: Response): PaymentRequired {
  const required = decodeBase64Json(response.headers.get('payment-required') ?? '');
  if (isRequired(required)) return required;
  throw new SettlementIndexError({
    code: 'unexpected_answer',
    status: response.status,
    detail: 'The answer requires a payment, but its header PAYMENT-REQUIRED is missing or unreadable.',
  });
}

function isRequired(value: unknown): value is PaymentRequired {
  if (typeof value !== 'object' || value === null || !('accepts' in value)) return false;
  return Array.isArray(value.accepts) && value.accepts.every(isTerms);
}

function isTerms(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ['scheme', 'network', 'asset', 'payTo', 'amount'].every(
    (name) => typeof Reflect.get(value, name) === 'string',
  );
}

/** Null where nothing was paid. */
export function receiptOf(headers: Headers): Receipt | null {
  const sent = headers.get('payment-response') ?? headers.get('x-payment-response');
  const receipt = sent === null ? undefined : decodeBase64Json(sent);
  const isThere = typeof receipt === 'object' && receipt !== null && 'transaction' in receipt;
  return isThere ? (receipt as Receipt) : null; // the service is tested against the document
}
