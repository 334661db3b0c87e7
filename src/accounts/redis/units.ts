import { NO_UNITS, UNITS_MAX, type UnitBalance } from '../../../core/domain/plan.ts';
import { HOLD_KEPT_MS, HOLDS_FORGOTTEN_PER_HOLD } from '../retention.ts';
import { LEDGER_KINDS, type LedgerEntry, type UnitStore } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { listOf, numberOf, oneOf, textOf } from './decode.ts';
import { openHolds } from './open-holds.ts';
import { type Home, organizationHome, type Slots } from './slots.ts';

interface Answer {
  readonly outcome: unknown;
  readonly charged: number;
  readonly balance: UnitBalance;
}

export function redisUnits(redis: RedisConnection, slots: Slots): UnitStore {
  const list = openHolds(redis, slots);
  return {
    grant: async ({ organizationId, grantId, units, note, atMs }) => {
      refuseUnits(units, 1);
      const home = organizationHome(organizationId);
      const keys = [slots.profile(home), slots.units(home), slots.ledger(home), slots.grants(home)];
      const answer = decodeAnswer(await redis.script('grant', keys, [grantId, units, note, atMs, UNITS_MAX]));
      const outcome = oneOf(['granted', 'replayed', 'unknown', 'too_large'], answer.outcome);
      return { outcome, balance: answer.balance };
    },
    hold: async (hold) => {
      refuseUnits(hold.units, 1);
      const home = organizationHome(hold.organizationId);
      const keys = [
        slots.profile(home),
        slots.units(home),
        slots.ledger(home),
        slots.holds(home),
        slots.openHolds(home),
        slots.resolvedHolds(home),
      ];
      const { holdId, units, operation, heldAtMs, overdueAtMs } = hold;
      const values = [holdId, units, operation, heldAtMs, overdueAtMs];
      const forgetting = [heldAtMs - HOLD_KEPT_MS, HOLDS_FORGOTTEN_PER_HOLD];
      // Sent together; Redis carries out the commands of one connection in their order.
      const [, made] = await Promise.all([
        list.add(hold),
        redis.script('hold', keys, [...values, ...forgetting]),
      ]);
      const answer = decodeAnswer(made);
      const outcome = oneOf(['held', 'insufficient', 'replayed', 'unknown'], answer.outcome);
      if (outcome === 'insufficient' || outcome === 'unknown') list.remove(hold);
      return { outcome, balance: answer.balance };
    },
    capture: async ({ organizationId, holdId, units, atMs }) => {
      refuseUnits(units, 0);
      const keys = resolvingKeys(slots, organizationHome(organizationId));
      const answer = decodeAnswer(await redis.script('capture', keys, [holdId, units, atMs]));
      if (answer.outcome === 'more_than_held') throw new RangeError('a capture of more units than were held');
      const outcome = oneOf(['captured', 'replayed', 'released', 'unknown'], answer.outcome);
      list.remove({ organizationId, holdId });
      return { outcome, charged: answer.charged, balance: answer.balance };
    },
    release: async ({ organizationId, holdId, kind, note, atMs }) => {
      const keys = resolvingKeys(slots, organizationHome(organizationId));
      const answer = decodeAnswer(await redis.script('release', keys, [holdId, kind, note, atMs]));
      const outcome = oneOf(['released', 'replayed', 'captured', 'unknown'], answer.outcome);
      list.remove({ organizationId, holdId });
      return { outcome, balance: answer.balance };
    },
    overdueHolds: (question) => list.overdue(question),
    balance: async (organizationId) => {
      const home = organizationHome(organizationId);
      // An organization is there before its units are, so asking in this order cannot miss any.
      const [known, units] = await Promise.all([
        redis.run((client) => client.exists(slots.profile(home))),
        redis.run((client) => client.hmget(slots.units(home), 'granted', 'balance', 'held', 'spent')),
      ]);
      if (known === 0) return null;
      return units[0] === null ? NO_UNITS : decodeBalance(units);
    },
    ledger: async ({ organizationId, after, limit }) => {
      const name = slots.ledger(organizationHome(organizationId));
      const rows = await redis.run((client) => client.lrange(name, after, after + limit - 1));
      return rows.map((row, i) => decodeRow(row, after + i + 1));
    },
  };
}

function refuseUnits(units: number, least: number): void {
  if (!Number.isSafeInteger(units) || units < least) {
    throw new RangeError(`units must be a whole number from ${least} on`);
  }
}

function resolvingKeys(slots: Slots, home: Home): readonly string[] {
  const holds = [slots.holds(home), slots.openHolds(home), slots.resolvedHolds(home)];
  return [slots.units(home), slots.ledger(home), ...holds];
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
