import { Type } from '@sinclair/typebox';
import { usdNumber } from '../../../core/domain/amount.ts';
import { dayOf, dayText, type UsageRow } from '../../../core/domain/usage.ts';
import { defineOperation } from '../define.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { CountShape, DateShape, orNull, UsdShape } from '../shapes.ts';
import type { AccountDeps } from './own-account.ts';
import { usageScope } from './scope.ts';

/** The usage of an account, by day and by the groups that are asked for. */

const DAYS_DEFAULT = 30;
const DAYS_MAX = 400;
/** Of one answer; the totals count all. */
const ROWS_MAX = 2_000;

const GROUPS = ['day', 'operation', 'key', 'lane'] as const;
type Group = (typeof GROUPS)[number];

const DAY = /^\d{4}-\d{2}-\d{2}$/;

function dayParam(component: string, description: string, toolText: string): Param<number | undefined> {
  return {
    in: 'query',
    component,
    description,
    toolText,
    required: false,
    schema: Type.String({ format: 'date', pattern: DAY.source }),
    example: '2026-11-01',
    read: (raw, name) => {
      if (raw === undefined) return undefined;
      const atMs = typeof raw === 'string' && DAY.test(raw) ? Date.parse(raw) : Number.NaN;
      // Date.parse takes the 31st of February for the 3rd of March.
      if (Number.isNaN(atMs) || dayText(dayOf(atMs)) !== raw)
        throw invalid(name, `${name} must be a day like 2026-11-25, not ${quoted(raw)}.`);
      return dayOf(atMs);
    },
  };
}

const groupParam: Param<readonly Group[]> = {
  in: 'query',
  description: `What rows are grouped by: any of ${GROUPS.join(', ')}, separated by commas. Default: day.`,
  toolText: `Some of ${GROUPS.join(', ')}, comma-separated. Default day.`,
  required: false,
  schema: Type.String({ default: 'day', maxLength: 40 }),
  example: 'day,key',
  read: (raw, name) => {
    if (raw === undefined) return ['day'];
    const words = typeof raw === 'string' ? raw.split(',') : [];
    const groups = GROUPS.filter((group) => words.includes(group));
    if (groups.length === 0 || groups.length !== words.length)
      throw invalid(
        name,
        `${name} takes ${GROUPS.join(', ')}, each once and separated by commas, not ${quoted(raw)}.`,
      );
    return groups;
  },
};

const FIGURES = {
  calls: { ...CountShape, description: 'Calls of the organization that were answered.' },
  units: Type.Integer({ minimum: 0, description: 'Query Units charged.' }),
  usd: { ...UsdShape, description: 'Dollars that settled over x402.' },
  sold_calls: { ...CountShape, description: 'Calls of its saved queries that others paid for.' },
  earned_units: Type.Integer({ minimum: 0, description: 'Query Units that it got for these.' }),
};

const RowShape = Type.Object(
  {
    day: orNull(DateShape),
    operation: orNull(Type.String()),
    key: orNull(Type.String({ description: 'Id of a key; "" for calls with a bearer token.' })),
    lane: orNull(
      Type.String({
        description:
          'units: charged to the organization; x402: paid for; free, trial: nothing was charged; earned: others paid for its saved queries.',
      }),
    ),
    ...FIGURES,
  },
  { title: 'UsageRow', description: 'Null where the rows are not grouped by it.' },
);

export const getAccountUsage = defineOperation({
  id: 'getAccountUsage',
  wire: {
    path: '/account/usage',
    params: {
      since: dayParam(
        'SinceDay',
        `First UTC day. Default: ${DAYS_DEFAULT} days up to \`until\`.`,
        'First day.',
      ),
      until: dayParam('UntilDay', 'Last UTC day. Default: today.', 'Last day. Default today.'),
      group: groupParam,
    },
    output: Type.Object({
      since: DateShape,
      until: DateShape,
      rows: Type.Array(RowShape),
      totals: Type.Object(FIGURES, { title: 'UsageTotals' }),
      truncated: Type.Boolean({
        description: `Whether there are more than ${ROWS_MAX} rows: ask for fewer days or groups. The totals count all.`,
      }),
    }),
    fails: ['api_key_required'],
  },
  words: {
    summary: 'Usage of the account by day, operation, key and lane',
    description:
      'Calls that were answered, Query Units charged and dollars settled over x402, by UTC day. The units are those of the ledger, exactly; calls that cost no units appear within seconds. A key that manages keys, and a bearer token, see the whole organization; any other key sees its own usage.',
    tool: 'Units, calls and dollars that your account used, by day.',
    example: {
      since: '2026-11-24',
      until: '2026-11-25',
      rows: [
        {
          day: '2026-11-24',
          operation: null,
          key: null,
          lane: null,
          calls: 31,
          units: 44,
          usd: 0,
          sold_calls: 0,
          earned_units: 0,
        },
        {
          day: '2026-11-25',
          operation: null,
          key: null,
          lane: null,
          calls: 8,
          units: 9,
          usd: 0.005,
          sold_calls: 2,
          earned_units: 4,
        },
      ],
      totals: { calls: 39, units: 53, usd: 0.005, sold_calls: 2, earned_units: 4 },
      truncated: false,
    },
  },
  money: { price: PRICES.free, load: 'none' },
  check: ({ since, until, group }) => {
    if (since !== undefined && until !== undefined && since > until)
      throw invalid('since', 'since is after until.');
    return { since, until, group };
  },
  run: async ({ since, until, group }, { accounts, clock }: AccountDeps, { caller }) => {
    const dayTo = until ?? dayOf(clock.nowMs());
    const dayFrom = Math.max(since ?? dayTo - DAYS_DEFAULT + 1, dayTo - DAYS_MAX + 1);
    const found = await accounts.usage({ of: usageScope(caller), dayFrom, dayTo });
    const rows = grouped(found, group);
    const [totals = NO_TOTALS] = grouped(found, []).map(figuresOf);
    return {
      since: dayText(dayFrom),
      until: dayText(dayTo),
      rows: rows.slice(0, ROWS_MAX),
      totals,
      truncated: rows.length > ROWS_MAX,
    };
  },
});

const NO_TOTALS = { calls: 0, units: 0, usd: 0, sold_calls: 0, earned_units: 0 };

function figuresOf({ calls, units, usd, sold_calls, earned_units }: typeof NO_TOTALS): typeof NO_TOTALS {
  return { calls, units, usd, sold_calls, earned_units };
}

const NOTHING = { calls: 0, units: 0, micros: 0n, soldCalls: 0, earnedUnits: 0 };

function grouped(found: readonly UsageRow[], groups: readonly Group[]) {
  const sums = new Map<string, typeof NOTHING & { readonly first: UsageRow }>();
  for (const row of found) {
    const values = { day: row.day, operation: row.operation, key: row.keyId, lane: row.lane };
    const name = JSON.stringify(groups.map((group) => values[group]));
    const sum = sums.get(name) ?? { ...NOTHING, first: row };
    // A call that others paid for is no usage of the organization: the two are never added up.
    if (row.lane === 'earned') {
      sum.soldCalls += row.calls;
      sum.earnedUnits += row.units;
    } else {
      sum.calls += row.calls;
      sum.units += row.units;
      sum.micros += BigInt(row.usdMicros);
    }
    sums.set(name, sum);
  }
  const has = (group: Group): boolean => groups.includes(group);
  return [...sums.values()].map(({ first, micros, soldCalls, earnedUnits, ...counts }) => ({
    day: has('day') ? dayText(first.day) : null,
    operation: has('operation') ? first.operation : null,
    key: has('key') ? first.keyId : null,
    lane: has('lane') ? first.lane : null,
    ...counts,
    usd: usdNumber(micros),
    sold_calls: soldCalls,
    earned_units: earnedUnits,
  }));
}
