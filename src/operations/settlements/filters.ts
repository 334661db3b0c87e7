import { Type } from '@sinclair/typebox';
import { addressBytes, transactionIdBytes } from '../../../clickhouse/engine/account.ts';
import { dateTime, type Sql, sql, text, texts } from '../../../clickhouse/engine/sql.ts';
import type { Address, Hash } from '../../../core/domain/account.ts';
import { microsFromDecimal, USD_DECIMALS, USD_MICROS_MAX } from '../../../core/domain/amount.ts';
import { type EvidenceTier, methodsOfTier } from '../../../core/domain/evidence.ts';
import {
  PAYMENT_SCHEMES,
  type PaymentScheme,
  SETTLEMENT_KINDS,
  type SettlementKind,
} from '../../../core/domain/settlement.ts';
import { isDay } from '../../../core/text.ts';
import { counterpartyParam, facilitatorParam, roleParam, tierParam } from '../common-params.ts';
import { invalid, type Param, quoted, readChoice } from '../params.ts';
import { ADDRESS_SCHEMA, readAddressParam } from '../read-account.ts';

/** The filters of every list of settlements. Feeds take `FEED_FILTERS`; the list of one wallet also takes what needs a wallet. */

/** RFC 3339 with a zone, or a day, or Unix seconds. */
const TIME_TEXT = /^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d))?$/;
/** With nine decimals and a zone. */
const TIME_MAX_CHARS = 35;
const UNIX_TEXT = /^\d{1,10}$/;
/** The last second of the engine's DateTime. */
const TIME_MAX = 2 ** 32 - 1;

function timeParam(description: string, toolText: string, example: string): Param<number | undefined> {
  return {
    in: 'query',
    description,
    toolText,
    required: false,
    schema: Type.String({ maxLength: TIME_MAX_CHARS }),
    example,
    read: (raw, name) => {
      if (raw === undefined) return undefined;
      const seconds = readTime(raw);
      // Blocks have whole seconds: a bound within a second has the same effect as the next whole one.
      if (seconds !== undefined && seconds >= 0 && seconds <= TIME_MAX) return Math.ceil(seconds);
      throw invalid(
        name,
        `${name} must be a time such as 2026-11-20T09:00:00Z, a day such as 2026-11-20 (UTC), or Unix seconds, not ${quoted(raw)}.`,
      );
    },
  };
}

function readTime(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  if (typeof raw !== 'string' || raw.length > TIME_MAX_CHARS) return undefined;
  if (UNIX_TEXT.test(raw)) return Number(raw);
  // Date.parse makes March of February 30.
  if (!TIME_TEXT.test(raw) || !isDay(raw.slice(0, 10))) return undefined;
  const ms = Date.parse(raw.toUpperCase().replace(' ', 'T'));
  return Number.isNaN(ms) ? undefined : ms / 1_000;
}

function usdParam(description: string, toolText: string, example: number): Param<bigint | undefined> {
  return {
    in: 'query',
    description,
    toolText,
    required: false,
    schema: Type.Number({ minimum: 0 }),
    example,
    read: (raw, name) => {
      if (raw === undefined) return undefined;
      const written = typeof raw === 'number' ? numberText(raw) : raw;
      if (typeof written === 'string' && /^\d{1,12}(\.\d{1,6})?$/.test(written)) {
        const micros = microsFromDecimal(written);
        if (micros <= USD_MICROS_MAX) return micros;
      }
      throw invalid(
        name,
        `${name} must be an amount of dollars, 0 or more with at most six decimals, not ${quoted(raw)}.`,
      );
    },
  };
}

/** Without an exponent; undefined for a number with more than six decimals. */
function numberText(value: number): string | undefined {
  const written = value.toFixed(USD_DECIMALS);
  return Number(written) === value ? written : undefined;
}

const assetParam: Param<Address | undefined> = {
  in: 'query',
  description: 'Only settlements in this token, by its contract address.',
  toolText: 'Token contract.',
  required: false,
  schema: ADDRESS_SCHEMA,
  example: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  read: (raw, name, facts) => (raw === undefined ? undefined : readAddressParam(raw, name, facts)),
};

/** Tools leave these three out: a model that asks for them writes SQL. */
const kindParam: Param<SettlementKind | undefined> = {
  in: 'query',
  description: 'Only rows of this kind. Without it all are listed, and only payments count in figures.',
  toolText: '',
  required: false,
  schema: Type.Union(SETTLEMENT_KINDS.map((kind) => Type.Literal(kind))),
  read: (raw, name) => (raw === undefined ? undefined : readChoice(raw, name, SETTLEMENT_KINDS)),
};

const schemeParam: Param<PaymentScheme | undefined> = {
  in: 'query',
  description: 'Only settlements of this x402 scheme.',
  toolText: '',
  required: false,
  schema: Type.Union(PAYMENT_SCHEMES.map((scheme) => Type.Literal(scheme))),
  read: (raw, name) => (raw === undefined ? undefined : readChoice(raw, name, PAYMENT_SCHEMES)),
};

const CHANNEL_MAX_CHARS = 130;
const CHANNEL_TEXT = /^0x(?:[0-9a-fA-F]{2}){1,64}$/;

const channelParam: Param<Hash | undefined> = {
  in: 'query',
  description: 'Only settlements of this payment channel or escrowed payment, by its id.',
  toolText: '',
  required: false,
  schema: Type.String({ pattern: CHANNEL_TEXT.source }),
  example: `0x${'5e'.repeat(32)}`,
  read: (raw, name) => (raw === undefined ? undefined : readChannelId(raw, name)),
};

/** The id of a channel. Throws `invalid_parameter`. */
export function readChannelId(raw: unknown, name: string): Hash {
  if (typeof raw === 'string' && raw.length <= CHANNEL_MAX_CHARS && CHANNEL_TEXT.test(raw))
    return raw.toLowerCase() as Hash; // hex, by its pattern
  throw invalid(
    name,
    `${name} must be the id of a channel, 0x and up to 64 bytes in hex, not ${quoted(raw)}.`,
  );
}

/** What every list of settlements takes. */
export const FEED_FILTERS = {
  since: timeParam(
    'Only settlements at or after this time: RFC 3339, a day (its start, UTC), or Unix seconds.',
    'From this time on.',
    '2026-11-20T09:00:00Z',
  ),
  until: timeParam(
    'Only settlements before this time, which is itself excluded; written like `since`.',
    'Before this time.',
    '2026-11-21',
  ),
  asset: assetParam,
  facilitator: facilitatorParam,
  tier: tierParam,
  min_usd: usdParam('Only settlements of this many dollars or more.', 'At least.', 0.01),
  max_usd: usdParam('Only settlements of this many dollars or less.', 'At most.', 100),
  kind: kindParam,
  scheme: schemeParam,
  channel: channelParam,
} as const;

/** What needs a wallet to have a meaning. */
export const WALLET_FILTERS = { ...FEED_FILTERS, role: roleParam, counterparty: counterpartyParam } as const;

export interface FeedFilters {
  /** Unix seconds, included. */
  readonly since: number | undefined;
  /** Unix seconds, excluded. */
  readonly until: number | undefined;
  readonly asset: Address | undefined;
  readonly facilitator: string | undefined;
  readonly tier: EvidenceTier | undefined;
  /** Millionths of a dollar, both included. */
  readonly min_usd: bigint | undefined;
  readonly max_usd: bigint | undefined;
  readonly kind: SettlementKind | undefined;
  readonly scheme: PaymentScheme | undefined;
  readonly channel: Hash | undefined;
}

/** Every settlement. */
export const EVERY_SETTLEMENT: FeedFilters = {
  since: undefined,
  until: undefined,
  asset: undefined,
  facilitator: undefined,
  tier: undefined,
  min_usd: undefined,
  max_usd: undefined,
  kind: undefined,
  scheme: undefined,
  channel: undefined,
};

const FILTERS = Object.keys(EVERY_SETTLEMENT) as (keyof FeedFilters)[]; // its own keys

/** Whether any filter narrows the list. */
export function isFiltered(filters: FeedFilters): boolean {
  return FILTERS.some((name) => filters[name] !== undefined);
}

/** Refuses bounds that no settlement can meet: most likely two values in the wrong order. */
export function checkBounds({ since, until, min_usd, max_usd }: FeedFilters): void {
  if (since !== undefined && until !== undefined && since >= until)
    throw invalid('until', 'until must be later than since: it is the first second that is left out.');
  if (min_usd !== undefined && max_usd !== undefined && min_usd > max_usd)
    throw invalid('max_usd', 'max_usd must not be below min_usd.');
}

/** Conditions on the sort key: they may be applied before versions are merged, and they bound the rows that are read. */
export function withinTimes({ since, until }: Pick<FeedFilters, 'since' | 'until'>): Sql[] {
  return [
    ...(since === undefined ? [] : [sql`block_time >= ${dateTime(since)}`]),
    ...(until === undefined ? [] : [sql`block_time < ${dateTime(until)}`]),
  ];
}

/** Conditions on columns outside the sort key, after versions are merged: another event can take a place, and grades change. */
export function mergedFilters(filters: FeedFilters): Sql[] {
  return [...eventFilters(filters), ...gradeFilters(filters)];
}

/** What the chain says of an event; never changes for one transaction. */
export function eventFilters({ asset, min_usd, max_usd, scheme, channel }: FeedFilters): Sql[] {
  return [
    ...(asset === undefined ? [] : [sql`asset = ${addressBytes(asset)}`]),
    ...(min_usd === undefined ? [] : [sql`amount_usd >= ${usdValue(min_usd)}`]),
    ...(max_usd === undefined ? [] : [sql`amount_usd <= ${usdValue(max_usd)}`]),
    ...(scheme === undefined ? [] : [sql`scheme = ${text(scheme)}`]),
    ...(channel === undefined ? [] : [sql`channel = ${transactionIdBytes(channel)}`]),
  ];
}

/** What the catalogues say of it; changes when they do. */
export function gradeFilters({
  facilitator,
  tier,
  kind,
}: Pick<FeedFilters, 'facilitator' | 'tier' | 'kind'>): Sql[] {
  return [
    ...(facilitator === undefined ? [] : [sql`facilitator = ${text(facilitator)}`]),
    ...(kind === undefined ? [] : [sql`kind = ${text(kind)}`]),
    ...(tier === undefined ? [] : [sql`toString(method) IN ${texts(methodsOfTier(tier))}`]),
  ];
}

function usdValue(micros: bigint): Sql {
  return sql`toDecimal64(${text(`${micros / 1_000_000n}.${(micros % 1_000_000n).toString().padStart(6, '0')}`)}, 6)`;
}
