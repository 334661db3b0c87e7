import { USD_DECIMALS } from './amount.ts';

/** What an organization may do. Plans are configuration; these three exist unless it changes them. See docs/design/gate.md. */
export const PLAN_IDS = ['free', 'pro', 'enterprise'] as const;
export type PlanId = (typeof PLAN_IDS)[number];

export const SQL_TIER_IDS = ['standard', 'extended', 'deep'] as const;
export type SqlTierId = (typeof SQL_TIER_IDS)[number];

/** Whose SQL is run: of everyone whom the price list admits, or only of organizations, which can be held to account for it. */
export type SqlCallers = 'everyone' | 'organizations';

export interface Plan {
  /** Requests a minute of all keys of the organization together. */
  readonly requestsPerMinute: number;
  readonly sqlTiers: readonly SqlTierId[];
  /** At or below this many units, `/account` says `low_balance`. */
  readonly lowBalanceQu: number;
  /** Units granted at the beginning of every UTC month; 0 for none. */
  readonly monthlyGrantQu: number;
}

export const DEFAULT_PLANS: Readonly<Record<PlanId, Plan>> = {
  free: { requestsPerMinute: 120, sqlTiers: ['standard'], lowBalanceQu: 20, monthlyGrantQu: 200 },
  pro: {
    requestsPerMinute: 1_200,
    sqlTiers: ['standard', 'extended'],
    lowBalanceQu: 1_000,
    monthlyGrantQu: 20_000,
  },
  enterprise: {
    requestsPerMinute: 6_000,
    sqlTiers: ['standard', 'extended', 'deep'],
    lowBalanceQu: 10_000,
    monthlyGrantQu: 200_000,
  },
};

/** Query Units: what calls on the credit lane are counted in. Whole numbers only. See docs/design/gate.md. */

/** The largest number of units one grant, hold or balance may name: exact as a JSON number and in Lua (2^53). */
export const UNITS_MAX = 1_000_000_000_000;

/** Where an organization's units are. `granted = balance + held + spent` holds after every change. */
export interface UnitBalance {
  readonly granted: number;
  /** Free to use. */
  readonly balance: number;
  /** Set aside for calls that are running. */
  readonly held: number;
  readonly spent: number;
}

export const NO_UNITS: UnitBalance = { granted: 0, balance: 0, held: 0, spent: 0 };

/** One QU per started five seconds, at least one. */
export const SQL_SECONDS_PER_QU = 5;

/** What a query that took `milliseconds` of engine time costs. */
export function quForMilliseconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / (SQL_SECONDS_PER_QU * 1_000)));
}

/**
 * Prices that sellers declare in dollars, and what an atomic amount is in dollars. Both end as whole millionths, rounded up: a
 * price that is shown is never below what is asked, and nothing that costs something is shown as free.
 */

/** A listing above a billion dollars is a mistake or a joke. */
const PRICE_MAX_MICROS = 10n ** 15n;
const TEXT_MAX_CHARS = 64;
const DECIMAL = /^(\d{1,18})(?:\.(\d{1,30}))?$/;
/** As JSON writes numbers that are not negative. */
const NUMBER = /^\d{1,18}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?$/;
const MARKED = /^(?:\$\s*(?<dollars>[\d.]+)|(?<number>[\d.]+)\s*(?:USDC?|usdc?|dollars?))$/;

/**
 * A declared price: `"$0.01"`, `"0.01 USD"`, `"0.01"`, or a number of dollars. Null for anything else. A whole number in a text
 * without a mark (`"10000"`) is refused: listings write atomic units like that, and the two must not be confused
 *. `isDollars`: the name of the field says dollars, so that a bare `"2"` means two.
 */
export function readDollars(declared: unknown, { isDollars = false } = {}): bigint | null {
  if (typeof declared === 'number') return Number.isFinite(declared) ? microsOf(plainText(declared)) : null;
  if (typeof declared !== 'string' || declared.length > TEXT_MAX_CHARS) return null;
  const text = declared.trim();
  const marked = MARKED.exec(text)?.groups;
  if (marked !== undefined) return microsOf(marked['dollars'] ?? marked['number'] ?? '');
  return isDollars || text.includes('.') ? microsOf(text) : null;
}

/**
 * The highest price that somebody wants to pay, as a number of dollars or its text, in millionths: rounded down, so that nothing above it
 * is below the limit. Null for anything else.
 */
export function readDollarLimit(limit: unknown): bigint | null {
  const text = typeof limit === 'number' ? plainText(limit) : limit;
  if (typeof text !== 'string' || text.length > TEXT_MAX_CHARS || !NUMBER.test(text)) return null;
  const [, whole, fraction = ''] = DECIMAL.exec(/e/i.test(text) ? plainText(Number(text)) : text) ?? [];
  return whole === undefined
    ? null
    : sensible(BigInt(whole) * 10n ** BigInt(USD_DECIMALS) + keptOf(fraction));
}

/** An amount of a dollar token with these decimals; null beyond any sensible price. */
export function dollarsOfAmount(amount: bigint, decimals: number): bigint | null {
  const scaled = amount * 10n ** BigInt(USD_DECIMALS);
  const unit = 10n ** BigInt(decimals);
  return sensible((scaled + unit - 1n) / unit);
}

function microsOf(decimal: string): bigint | null {
  const [, whole, fraction = ''] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined) return null;
  const kept = keptOf(fraction);
  const isCut = /[1-9]/.test(fraction.slice(USD_DECIMALS));
  return sensible(BigInt(whole) * 10n ** BigInt(USD_DECIMALS) + kept + (isCut ? 1n : 0n));
}

/** The millionths that a fraction has, what is smaller left out. */
function keptOf(fraction: string): bigint {
  return BigInt(fraction.slice(0, USD_DECIMALS).padEnd(USD_DECIMALS, '0'));
}

function sensible(micros: bigint): bigint | null {
  return micros <= PRICE_MAX_MICROS ? micros : null;
}

/** A double as the decimal that names it, never in scientific notation. */
function plainText(value: number): string {
  const text = String(value);
  const [, digits = '', fraction = '', exponent] = /^(\d+)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  return `0.${'0'.repeat(Number(exponent) - 1)}${digits}${fraction}`.slice(0, 2 + 30);
}
