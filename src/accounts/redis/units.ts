import { NO_UNITS, UNITS_MAX, type UnitBalance } from '../../../core/domain/plan.ts';
import { requireCovered, SALE_PREFIX } from '../../../core/domain/sale.ts';
import { dayOf } from '../../../core/domain/usage.ts';
import {
  HOLD_KEPT_MS,
  HOLDS_FORGOTTEN_PER_END,
  type Hold,
  LEDGER_KINDS,
  type LedgerEntry,
  saleOfHold,
  saleOfPayment,
  type UnitStore,
} from '../unit-store.ts';
import { usageOwner } from '../usage-store.ts';
import { listOf, numberOf, oneOf, type RedisConnection, textOf } from './connection.ts';
import { holdEntry, type Names, paymentEntry } from './layout.ts';
import { monthOf } from './usage.ts';

/** Of one organization, at a time. The change that logs them holds Redis up for some 5 µs each. */
const UNLOGGED_HOLDS_MAX = 200;

/** In place of a hold that capture.lua makes again. */
const NOT_LOST = ['', '', '', '', ''] as const;

interface Answer {
  readonly outcome: unknown;
  readonly charged: number;
  readonly balance: UnitBalance;
}

/** Names of the keys that the scripts take. */
function keysOfUnits(names: Names) {
  /** What units-common.lua names. */
  const units = (organizationId: string): readonly string[] => [
    names.organization(organizationId),
    names.ledger(organizationId),
    names.holds(organizationId),
    names.resolvedHolds(organizationId),
    names.openHolds,
    names.unloggedHolds(organizationId),
  ];
  return {
    units,
    /** What grant.lua names. */
    grant: (organizationId: string): readonly string[] => [
      ...units(organizationId),
      names.grants(organizationId),
      names.usage(usageOwner({ organizationId })),
    ],
    /** What units-common.lua takes before a script's own values. */
    caller: names.key(''),
  };
}

function forgetting(atMs: number): readonly number[] {
  return [atMs - HOLD_KEPT_MS, HOLDS_FORGOTTEN_PER_END];
}

export function redisUnits(redis: RedisConnection, names: Names): UnitStore {
  const { units: unitKeys, grant: grantKeys, caller: callerKeys } = keysOfUnits(names);
  return {
    ...unitGrants(redis, names),
    hold: async ({ organizationId, holdId, units, operation, heldAtMs, overdueAtMs, keyId }) => {
      refuseUnits(units, 1);
      const entry = holdEntry(organizationId, holdId);
      const held = [units, heldAtMs, overdueAtMs, operation];
      const values = [callerKeys, holdId, entry, ...held, UNLOGGED_HOLDS_MAX, encodedKey(keyId)];
      const said = await redis.script('hold', unitKeys(organizationId), values);
      const { balance, ...answer } = decodeAnswer(said);
      const outcome = oneOf(['held', 'insufficient', 'over_budget', 'replayed', 'unknown'], answer.outcome);
      if (outcome !== 'over_budget') return { outcome, balance };
      const [unitsPerDay, used] = listOf(said).slice(-2);
      return { outcome, balance, budget: { unitsPerDay: numberOf(unitsPerDay), used: numberOf(used) } };
    },
    capture: async ({ organizationId, holdId, units, atMs, held, share }) => {
      refuseUnits(units, 0);
      requireCovered(share, units);
      const entry = holdEntry(organizationId, holdId);
      const lost =
        held === undefined
          ? NOT_LOST
          : [held.units, held.heldAtMs, held.overdueAtMs, held.operation, encodedKey(held.keyId)];
      const keys = [
        ...unitKeys(organizationId),
        names.usage(usageOwner({ organizationId })),
        ...(share === undefined ? [] : grantKeys(share.organizationId)),
      ];
      const shared =
        share === undefined
          ? []
          : [saleOfHold(holdId), share.units, share.note, UNITS_MAX, share.earnedBy, share.runUnits];
      const values = [
        callerKeys,
        holdId,
        entry,
        units,
        atMs,
        ...forgetting(atMs),
        monthOf(dayOf(atMs)),
        ...lost,
        ...shared,
      ];
      const answer = decodeAnswer(await redis.script('capture', keys, values));
      if (answer.outcome === 'more_than_held') throw new RangeError('a capture of more units than were held');
      if (answer.outcome === 'not_covered') throw new RangeError('a share that its capture does not cover');
      const outcome = oneOf(['captured', 'replayed', 'released', 'unknown'], answer.outcome);
      return { outcome, charged: answer.charged, balance: answer.balance };
    },
    release: async ({ organizationId, holdId, kind, note, atMs }) => {
      const entry = holdEntry(organizationId, holdId);
      const values = [callerKeys, holdId, entry, kind, note, atMs, ...forgetting(atMs)];
      const answer = decodeAnswer(await redis.script('release', unitKeys(organizationId), values));
      const outcome = oneOf(['released', 'replayed', 'captured', 'unknown'], answer.outcome);
      return { outcome, balance: answer.balance };
    },
    ...unitReads(redis, names),
  };
}

function unitGrants(redis: RedisConnection, names: Names): Pick<UnitStore, 'grant' | 'grantSale'> {
  const { grant: grantKeys, caller: callerKeys } = keysOfUnits(names);
  return {
    grant: async ({ organizationId, grantId, units, note, atMs }) => {
      refuseUnits(units, 1);
      if (grantId.startsWith(SALE_PREFIX)) throw new RangeError('only what was paid for grants a share');
      const values = [callerKeys, grantId, units, note, atMs, UNITS_MAX, monthOf(dayOf(atMs))];
      const answer = decodeAnswer(await redis.script('grant', grantKeys(organizationId), values));
      const outcome = oneOf(['granted', 'replayed', 'unknown', 'too_large'], answer.outcome);
      return { outcome, balance: answer.balance };
    },
    grantSale: async ({ payment, atMs }) => {
      const record = names.payment(paymentEntry(payment));
      // Written once, by the claim: the script compares it.
      const author = await redis.run((client) => client.hget(record, 'shareOrganizationId'));
      const values = [
        callerKeys,
        author ?? '',
        saleOfPayment(payment),
        atMs,
        UNITS_MAX,
        monthOf(dayOf(atMs)),
      ];
      const said = await redis.script('grantSale', [...grantKeys(author ?? ''), record], values);
      const outcomes = ['granted', 'replayed', 'unsettled', 'no_share', 'unknown', 'too_large'] as const;
      return { outcome: oneOf(outcomes, said) };
    },
  };
}

function unitReads(
  redis: RedisConnection,
  names: Names,
): Pick<UnitStore, 'overdueHolds' | 'balance' | 'ledger'> {
  return {
    overdueHolds: async ({ nowMs, limit }) => {
      const entries = await redis.run((client) =>
        client.zrangebyscore(names.openHolds, '-inf', nowMs, 'LIMIT', 0, limit),
      );
      const holds = await Promise.all(entries.map((entry) => openHoldOf(redis, names, entry)));
      return holds.filter((hold) => hold !== null);
    },
    balance: async (organizationId) => {
      const name = names.organization(organizationId);
      const [plan, ...units] = await redis.run((client) =>
        client.hmget(name, 'plan', 'granted', 'balance', 'held', 'spent'),
      );
      if (plan == null) return null;
      return units[0] === null ? NO_UNITS : decodeBalance(units);
    },
    ledger: async ({ organizationId, after, limit }) => {
      const name = names.ledger(organizationId);
      const rows = await redis.run((client) => client.lrange(name, after, after + limit - 1));
      return rows.map((row, i) => decodeRow(row, after + i + 1));
    },
  };
}

/** '' without a key. */
function encodedKey(keyId: string | null | undefined): string {
  return encodeURIComponent(keyId ?? '');
}

/** Null when the hold was resolved since its entry was read. */
async function openHoldOf(redis: RedisConnection, names: Names, entry: string): Promise<Hold | null> {
  const [organizationId, holdId] = listOf(JSON.parse(entry)).map(textOf);
  if (organizationId === undefined || holdId === undefined) return null;
  const state = await redis.run((client) => client.hget(names.holds(organizationId), holdId));
  const open = /^open (\d+) ([^\s/]+)(?:\/\S*)? (\S+) (.*)$/s.exec(state ?? '');
  const [, units, heldAtMs, overdueAtMs, operation] = open ?? [];
  if (operation === undefined) return null;
  return {
    organizationId,
    holdId,
    units: numberOf(units),
    operation,
    heldAtMs: numberOf(heldAtMs),
    overdueAtMs: numberOf(overdueAtMs),
  };
}

function refuseUnits(units: number, unitsMin: 0 | 1): void {
  if (!Number.isSafeInteger(units) || units < unitsMin) {
    throw new RangeError(`units are whole numbers from ${unitsMin}, not ${units}`);
  }
}

function decodeAnswer(value: unknown): Answer {
  const [outcome, charged, ...units] = listOf(value);
  return { outcome, charged: numberOf(charged), balance: decodeBalance(units) };
}

function decodeBalance(values: readonly unknown[]): UnitBalance {
  const [granted, balance, held, spent] = values;
  return {
    granted: numberOf(granted),
    balance: numberOf(balance),
    held: numberOf(held),
    spent: numberOf(spent),
  };
}

function decodeRow(row: string, sequence: number): LedgerEntry {
  const [atMs, kind, units, released, subject, note, balance, held] = listOf(JSON.parse(row));
  return {
    sequence,
    atMs: numberOf(atMs),
    kind: oneOf(LEDGER_KINDS, kind),
    units: numberOf(units),
    released: numberOf(released),
    subject: textOf(subject),
    note: textOf(note),
    balance: numberOf(balance),
    held: numberOf(held),
  };
}
