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
const PARTIES = `SELECT payer AS other, true AS inbound, chain, micros, method, block_time FROM settlements WHERE payee = $1
  UNION ALL SELECT payee, false, chain, micros, method, block_time FROM settlements WHERE payer = $1`;

/**
 * The income of a merchant. PostgreSQL reads the wallet's two index ranges once for the sums by chain and day and once for the
 * distinct counterparties; it need not compute shares, reciprocity and rings, which our answer also holds.
 */
export function merchantProfile(wallet: string, todayStart: number): Ask {
  const chartFrom = `to_timestamp(${todayStart - (CHART_DAYS - 1) * DAY_SECONDS})`;
  const literals = [bytea(wallet)];
  return {
    source: `/v0/merchants/${wallet}?chain=all`,
    peer: {
      statements: [
        {
          literals,
          text: `SELECT inbound, chain,
              CASE WHEN block_time >= ${chartFrom} THEN date_bin('1 day', block_time, '2000-01-01 00:00+00') END AS day,
              count(*), sum(micros), coalesce(sum(micros) FILTER (WHERE other = $1), 0),
              coalesce(sum(micros) FILTER (WHERE method = 6), 0), min(block_time), max(block_time)
            FROM (${PARTIES}) AS parties GROUP BY 1, 2, 3`,
        },
        {
          literals,
          text: `SELECT count(*) FROM (SELECT other FROM (${PARTIES}) AS parties WHERE other <> $1 GROUP BY other) AS others`,
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
