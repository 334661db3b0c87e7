import { USD_DECIMALS, usdRatio, type ValuedToken } from './amount.ts';

/** What an organization may do. These three plans are the defaults; the configuration can change them. See docs/design/gate.md. */
export const PLAN_IDS = ['free', 'pro', 'enterprise'] as const;
export type PlanId = (typeof PLAN_IDS)[number];

export const SQL_TIER_IDS = ['standard', 'extended', 'deep'] as const;
export type SqlTierId = (typeof SQL_TIER_IDS)[number];

const GIBIBYTE = 1024 ** 3;
/** Disk that a query may use for what does not fit into its memory; then it fails. */
export const SQL_DISK_BYTES: Readonly<Record<SqlTierId, number>> = {
  standard: 4 * GIBIBYTE,
  extended: 16 * GIBIBYTE,
  deep: 64 * GIBIBYTE,
};

/** Whose SQL runs: that of every caller on the price list, or only that of organizations, which can be held accountable. */
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

/** Query Units, the currency of the credit lane. Whole numbers only. See docs/design/gate.md. */

/** The largest grant, hold or balance: still exact as a JSON number and in Lua (2^53). */
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

/** The cost of a query that took `milliseconds` of engine time. */
export function quForMilliseconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / (SQL_SECONDS_PER_QU * 1_000)));
}

/**
 * Converts sellers' prices, declared in dollars or in atomic amounts, to whole millionths of a dollar. Rounds up: a displayed price
 * is never below the real one, and a price above zero never shows as free.
 */

/** A higher price is a mistake or a joke. */
const PRICE_MAX_MICROS = 10n ** 15n;
const TEXT_MAX_CHARS = 64;
const DECIMAL = /^(\d{1,18})(?:\.(\d{1,30}))?$/;
/** A non-negative number in JSON syntax. */
const NUMBER = /^\d{1,18}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?$/;
const MARKED = /^(?:\$\s*(?<dollars>[\d.]+)|(?<number>[\d.]+)\s*(?:USDC?|usdc?|dollars?))$/;

/**
 * A declared price: `"$0.01"`, `"0.01 USD"`, `"0.01"`, or a number of dollars. Null for anything else. A whole number in a string
 * without a currency (`"10000"`) is refused, because listings write atomic units like that. `isDollars`: the field's name says
 * dollars, so a bare `"2"` means two dollars.
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
 * A caller's price limit, given as a number of dollars or its text, in millionths. Rounds down, so that no price above the limit
 * passes. Null for anything else.
 */
export function readDollarLimit(limit: unknown): bigint | null {
  const text = typeof limit === 'number' ? plainText(limit) : limit;
  if (typeof text !== 'string' || text.length > TEXT_MAX_CHARS || !NUMBER.test(text)) return null;
  const [, whole, fraction = ''] = DECIMAL.exec(/e/i.test(text) ? plainText(Number(text)) : text) ?? [];
  return whole === undefined
    ? null
    : sensible(BigInt(whole) * 10n ** BigInt(USD_DECIMALS) + keptOf(fraction));
}

/** An amount of a token in millionths of a dollar, rounded up; null without a dollar value and beyond any sensible price. */
export function dollarsOfAmount(amount: bigint, token: ValuedToken): bigint | null {
  const ratio = usdRatio(token);
  if (ratio === null) return null;
  return sensible((amount * ratio.micros + ratio.units - 1n) / ratio.units);
}

function microsOf(decimal: string): bigint | null {
  const [, whole, fraction = ''] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined) return null;
  const kept = keptOf(fraction);
  const isCut = /[1-9]/.test(fraction.slice(USD_DECIMALS));
  return sensible(BigInt(whole) * 10n ** BigInt(USD_DECIMALS) + kept + (isCut ? 1n : 0n));
}

/** The millionths in a decimal fraction; further digits are dropped. */
function keptOf(fraction: string): bigint {
  return BigInt(fraction.slice(0, USD_DECIMALS).padEnd(USD_DECIMALS, '0'));
}

function sensible(micros: bigint): bigint | null {
  return micros <= PRICE_MAX_MICROS ? micros : null;
}

/** The shortest decimal of a double, never in scientific notation. */
function plainText(value: number): string {
  const text = String(value);
  const [, digits = '', fraction = '', exponent] = /^(\d+)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  return `0.${'0'.repeat(Number(exponent) - 1)}${digits}${fraction}`.slice(0, 2 + 30);
}
