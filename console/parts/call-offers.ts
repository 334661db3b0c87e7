import { DOLLAR_TOKENS } from '../../client/dollar-tokens.ts';
import { keptCase } from '../account-texts.ts';
import { chainText, groupDigits, moneyText, tokenText } from '../format.ts';
import type { Endpoint } from '../wire.ts';

/** The offers of a 402, in words. Pure. The answer is of a stranger. */

/** What the frame that sends requests tells (src/http/console/sender.ts). */
export type SentAnswer =
  | { readonly status: number; readonly required: string | null; readonly text: string }
  | { readonly failed: 'timeout' | 'unreadable' };

export interface AskedOffer {
  /** `$0.01`, or the amount in atomic units with its asset. */
  readonly amount: string;
  readonly scheme: string;
  readonly network: string;
  readonly payTo: string;
  /** `observed`: paid before, as this index saw; `listed`: named by a listing and not seen paid; `other`: named by none. */
  readonly payee: 'observed' | 'listed' | 'other';
}

const OFFERS_MAX = 16;
const TEXT_MAX_CHARS = 200;

/** Null where the answer has no offer that can be read: it may be in a header that the server does not let scripts of other sites read. */
export function askedOffers(
  { required, text }: Extract<SentAnswer, { status: number }>,
  endpoint: Pick<Endpoint, 'accepts' | 'claimants'>,
): readonly AskedOffer[] | null {
  for (const document of [headerJson(required), parsed(text)]) {
    const accepts = fieldOf(document, 'accepts');
    if (!Array.isArray(accepts) || accepts.length === 0) continue;
    return accepts.slice(0, OFFERS_MAX).map((offer) => offerOf(offer, endpoint));
  }
  return null;
}

function offerOf(
  offer: unknown,
  { accepts, claimants }: Pick<Endpoint, 'accepts' | 'claimants'>,
): AskedOffer {
  const network = textOf(offer, 'network');
  const asset = textOf(offer, 'asset');
  const payTo = textOf(offer, 'payTo');
  const amount = textOf(offer, 'amount') || textOf(offer, 'maxAmountRequired');
  const same = accepts.find((listed) => listed.network === network);
  const chain = /^(eip155|solana):/.test(network) ? network : (same?.chain ?? null);
  const decimals = chain === null ? undefined : DOLLAR_TOKENS[`${chain}/${keptCase(asset)}`];
  const isAmount = /^\d{1,78}$/.test(amount);
  const claimant = claimants.find(({ pay_to: listed }) => isSameAccount(listed, payTo));
  const counted = claimant?.settlement_count_30d ?? 0;
  return {
    amount:
      isAmount && decimals !== undefined
        ? moneyText(tokenText(amount, decimals).replace(/[^\d.]/g, ''))
        : `${isAmount ? groupDigits(amount) : amount || 'an unknown amount'} atomic units of ${asset || 'an unknown asset'}`,
    scheme: textOf(offer, 'scheme'),
    network: chain === null ? network : chainText(chain),
    payTo,
    payee: payeeOf(claimant !== undefined, counted),
  };
}

function payeeOf(isListed: boolean, counted: number): AskedOffer['payee'] {
  if (!isListed) return 'other';
  return counted > 0 ? 'observed' : 'listed';
}

function isSameAccount(one: string, other: string): boolean {
  return keptCase(one) === keptCase(other);
}

function headerJson(header: string | null): unknown {
  if (header === null) return null;
  try {
    const bytes = Uint8Array.from(atob(header), (char) => char.charCodeAt(0));
    return parsed(new TextDecoder().decode(bytes));
  } catch {
    return null; // no base64: the body may have the offers
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name]; // has it, by the line before
}

function textOf(value: unknown, name: string): string {
  const text = fieldOf(value, name);
  return typeof text === 'string' || typeof text === 'number' ? String(text).slice(0, TEXT_MAX_CHARS) : '';
}
