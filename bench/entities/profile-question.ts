import { type Facts, micros } from './facts.ts';
import type { Ask } from './question.ts';
import { bytea } from './settlement-page-question.ts';

interface Flows {
  readonly inbound_usd: number;
  readonly inbound_count: number;
  readonly outbound_usd: number;
  readonly outbound_count: number;
}

interface ProfileBody {
  readonly aggregates: Flows & {
    readonly distinct_counterparties: number;
    readonly self_payment_usd: number;
    readonly proven_usd: number;
    readonly chain_split: readonly Flows[];
    readonly daily: readonly (Flows & { readonly date: string })[];
  };
}

const CHART_DAYS = 30;
const DAY_SECONDS = 86_400;

/**
 * The income of a merchant. PostgreSQL adds up the wallet's days and counts the distinct counterparties of its pairs; it need not
 * compute shares, reciprocity and rings, which our answer also holds.
 */
export function merchantProfile(wallet: string, todayStart: number): Ask {
  const chartFrom = `to_timestamp(${todayStart - (CHART_DAYS - 1) * DAY_SECONDS})`;
  const literals = [bytea(wallet)];
  const side = (inbound: boolean): string => {
    const [table, party, parts] = inbound
      ? ['payee_day', 'payee', 'sum(self_total), sum(proven_total)']
      : ['payer_day', 'payer', '0::numeric, 0::numeric'];
    return `SELECT ${inbound}, chain, CASE WHEN day >= ${chartFrom} THEN day END, sum(n), sum(total), ${parts},
      min(first_time), max(last_time) FROM ${table} WHERE ${party} = $1 GROUP BY 1, 2, 3`;
  };
  return {
    source: `/v0/merchants/${wallet}?chain=all`,
    peer: {
      statements: [
        { literals, text: `${side(true)} UNION ALL ${side(false)}` },
        {
          literals,
          text: `SELECT count(*) FROM (SELECT payer FROM pair_day WHERE payee = $1 AND payer <> $1
            UNION SELECT payee FROM pair_day WHERE payer = $1 AND payee <> $1) AS others`,
        },
      ],
      ours: ourFacts,
      theirs: ([groups = [], distinct = []]) => theirFacts(groups, Number(distinct[0]?.[0])),
    },
  };
}

function ourFacts(body: unknown): Facts {
  const { aggregates } = body as ProfileBody; // what the route answers
  const { chain_split: chains, daily } = aggregates;
  return {
    exact: {
      total: flowsText(aggregates),
      self: micros(aggregates.self_payment_usd),
      proven: micros(aggregates.proven_usd),
      chains: chains.map(flowsText).join('; '),
      ...Object.fromEntries(daily.map((day) => [day.date, flowsText(day)])),
    },
    about: { distinct_counterparties: aggregates.distinct_counterparties },
  };
}

function flowsText(flows: Flows): string {
  return [
    flows.inbound_count,
    micros(flows.inbound_usd),
    flows.outbound_count,
    micros(flows.outbound_usd),
  ].join(' ');
}

/** A group of PostgreSQL: inbound, chain, day, count, micros, of these to itself, of these proven. */
type Group = readonly string[];

function theirFacts(groups: readonly Group[], distinct: number): Facts {
  const inbound = groups.filter(([side]) => side === 't');
  const part = (column: 1 | 2): [string, string][] =>
    [...new Set(groups.map((group) => group[column] ?? ''))]
      .filter((key) => key !== '')
      .sort()
      .map((key) => [key, groupsText(groups.filter((group) => group[column] === key))]);
  return {
    exact: {
      total: groupsText(groups),
      self: sum(inbound, 5),
      proven: sum(inbound, 6),
      chains: part(1)
        .map(([, flows]) => flows)
        .join('; '),
      ...Object.fromEntries(part(2).map(([day, flows]) => [day.slice(0, 10), flows])),
    },
    about: { distinct_counterparties: distinct },
  };
}

function groupsText(groups: readonly Group[]): string {
  const sides = ['t', 'f'].map((side) => groups.filter((group) => group[0] === side));
  return sides.flatMap((side) => [sum(side, 3), sum(side, 4)]).join(' ');
}

function sum(groups: readonly Group[], column: number): string {
  return String(groups.reduce((total, group) => total + BigInt(group[column] ?? 0), 0n));
}
