import { DOLLAR_TOKENS } from './dollar-tokens.ts';
import { parseJson, SettlementIndexError } from './errors.ts';

/** Base64 of JSON, as x402 writes its headers: the same in Node and in browsers, which know base64 of bytes only. */

export function encodeBase64Json(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Undefined for what is neither base64 nor JSON. */
export function decodeBase64Json(text: string): unknown {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  return parseJson(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))));
}

/** Dollars as exact numbers of micros: a cap is compared, never rounded. */

const MICRO_DIGITS = 6;
const USD = /^(\d{1,12})(?:\.(\d{1,6}))?$/;

/** Micros of a dollar. Throws a `TypeError` that names the option for anything but a decimal text such as `'0.05'`. */
export function usdMicros(option: string, text: string): bigint {
  const [matched, whole, fraction = ''] = USD.exec(text) ?? [];
  if (matched === undefined || whole === undefined)
    throw new TypeError(`${option} must be dollars as a decimal text, such as '0.05'`);
  return BigInt(whole) * 10n ** BigInt(MICRO_DIGITS) + BigInt(fraction.padEnd(MICRO_DIGITS, '0'));
}

/** Micros of an amount in atomic units, rounded up; null for what is no amount. */
export function microsOfAtoms(atoms: unknown, decimals: number): bigint | null {
  if (typeof atoms !== 'string' || !/^\d{1,78}$/.test(atoms)) return null;
  const scale = 10n ** BigInt(decimals);
  return (BigInt(atoms) * 10n ** BigInt(MICRO_DIGITS) + scale - 1n) / scale;
}

/** `30000n` is `'0.03'`. */
export function usdText(micros: bigint): string {
  const scale = 10n ** BigInt(MICRO_DIGITS);
  const fraction = String(micros % scale)
    .padStart(MICRO_DIGITS, '0')
    .replace(/0+$/, '');
  return `${micros / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Paying for single calls over x402. */

/** One way to pay, as x402 version 2 writes it. */
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

/** What the service asks for, x402 version 2 (`PAYMENT-REQUIRED`). */
export interface PaymentRequired {
  readonly x402Version: number;
  readonly error?: string;
  readonly resource: { readonly url: string; readonly description?: string; readonly mimeType?: string };
  readonly accepts: PaymentTerms[];
}

/** A call that wants to be paid for. Only terms within the caps are in it. */
export interface PaymentOffer {
  readonly method: string;
  readonly url: string;
  /** The most that paying one of the terms costs, dollars: `'0.03'`. */
  readonly usd: string;
  readonly required: PaymentRequired;
}

/** Signs one of `offer.required.accepts` and gives the base64 text of the x402 payment, version 1 or 2. */
export type Payer = (offer: PaymentOffer) => Promise<string>;

/** What a settled payment left: where to find it on the chain. */
export interface Receipt {
  readonly success: boolean;
  /** Hash of the settlement. */
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
  /** Atomic units that were taken; `upto` only. */
  readonly amount?: string;
}

/** The part of an `x402Client` of `@x402/fetch` or `@x402/core` that signs. */
export interface PaymentSigner {
  createPaymentPayload(required: PaymentRequired): Promise<object>;
}

/** A payer that signs with an `x402Client` of `@x402/fetch`, with whatever schemes it has registered. */
export function payWith(client: PaymentSigner): Payer {
  return async ({ required }) => encodeBase64Json(await client.createPaymentPayload(required));
}

/** Above every single price of the service but those of long SQL tiers. */
export const MAX_USD_DEFAULT = '0.10';

export interface WalletOptions {
  readonly payer: Payer;
  readonly maxUsd?: string | undefined;
  readonly maxTotalUsd?: string | undefined;
  readonly dollarTokens?: Readonly<Record<string, number>> | undefined;
}

/** Signs offers within the caps. */
export interface Wallet {
  /** The payment header's text. Throws `payment_over_cap` before anything is signed. */
  pay(call: { readonly method: string; readonly url: string }, response: Response): Promise<string>;
  /** Dollars signed for until now. A signature counts whether or not it was settled: it could be. */
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
  dollarTokens,
}: WalletOptions): Wallet {
  const perCall = usdMicros('maxUsd', maxUsd);
  const total = maxTotalUsd === undefined ? null : usdMicros('maxTotalUsd', maxTotalUsd);
  const tokens = { ...DOLLAR_TOKENS, ...lowerKeys(dollarTokens ?? {}) };
  let signed = 0n;
  return {
    async pay(call, response) {
      const required = readRequired(response);
      const priced = required.accepts.flatMap((terms) => priceOf(terms, tokens));
      const left = total === null || total - signed > perCall ? perCall : total - signed;
      const payable = priced.filter(({ micros }) => micros <= left);
      if (payable.length === 0) throw overCap(priced, { left, perCall });
      const most = payable.toSorted(cheapestFirst).at(-1)?.micros ?? 0n;
      // Before the payer is asked, so that calls at the same time cannot share what is left.
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

function lowerKeys(tokens: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(tokens).map(([name, decimals]) => [name.toLowerCase(), decimals]));
}

/** Nothing for tokens whose value nobody vouches for: ten of them may be a fortune. */
function priceOf(terms: PaymentTerms, tokens: Readonly<Record<string, number>>): Priced[] {
  const decimals = tokens[`${terms.network}/${terms.asset}`.toLowerCase()];
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
      'The call is sold for tokens whose value is not known here; dollarTokens can name them. Nothing was signed.';
    return new SettlementIndexError({ code, status: 402, detail });
  }
  const cap = caps.left < caps.perCall ? 'what maxTotalUsd leaves' : 'maxUsd';
  const detail = `The call costs ${usdText(cheapest.micros)} USD, more than ${cap} (${usdText(caps.left < 0n ? 0n : caps.left)} USD). Nothing was signed.`;
  return new SettlementIndexError({ code, status: 402, detail });
}

/** Version 2 has everything that version 1 has. */
function readRequired(response: Response): PaymentRequired {
  const required = decodeBase64Json(response.headers.get('payment-required') ?? '');
  if (isRequired(required)) return required;
  throw new SettlementIndexError({
    code: 'unexpected_answer',
    status: response.status,
    detail:
      'The answer asks for a payment and does not say which: PAYMENT-REQUIRED is missing or cannot be read.',
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
  return isThere ? (receipt as Receipt) : null; // the service's own, tested against the document
}
