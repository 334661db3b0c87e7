import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { commaList, type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import { CAPABILITIES } from '../../../core/domain/capability.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { AgentPosition } from '../../../core/domain/cursor.ts';
import { readAgents } from '../agents/read-list.ts';
import type { AgentRow } from '../agents/row.ts';
import { ask, cached, TWO_THREADS } from '../ask.ts';
import type { OperationDeps } from '../deps.ts';

/** Who offers which job, counted over the directory and the agents. */
export interface CapabilityCounts {
  /** Different payTo addresses with a listed resource. */
  readonly providers: number;
  readonly endpoints: number;
  /** Active agents whose card mentions it. */
  readonly agents: number;
  /** The first ones of them, most rated first, then those that registered first. At most `MOST_RATED_MAX`. */
  readonly mostRated: readonly AgentPosition[];
}

export interface CapabilityDeps extends OperationDeps {
  readonly capabilities: Capabilities;
}

export interface Capabilities {
  /** By slug; a capability without any provider is missing. Renewed at most twice a minute, and at most a minute old. */
  counts(): Promise<ReadonlyMap<string, CapabilityCounts>>;
}

/** What offers of one capability cost, in millionths of a dollar. */
interface GoingRate {
  readonly p25: bigint;
  readonly p50: bigint;
  readonly p75: bigint;
  /** Offers with a known price above zero, which the quartiles are of. */
  readonly offers: number;
}

/** Agents that are named of one capability. */
export const MOST_RATED_MAX = 20;
const RESOURCE = 'capabilities';
const COUNTS_MAX_AGE_MS = 30_000;
const MAX_SECONDS = 5;

export function createCapabilities(deps: { readonly reader: Reader; readonly clock: Clock }): Capabilities {
  const load = () => readCounts(deps.reader);
  return {
    counts: cached({ clock: deps.clock, maxAgeMs: COUNTS_MAX_AGE_MS, staleMs: COUNTS_MAX_AGE_MS, load }),
  };
}

async function readCounts(reader: Reader): Promise<ReadonlyMap<string, CapabilityCounts>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'capability-counts',
    maxSeconds: MAX_SECONDS,
    maxRows: CAPABILITIES.length * 2,
    settings: TWO_THREADS,
    sql: sql`SELECT slug, sum(providers), sum(endpoints), sum(agents), arrayMap(one -> (one.2, toString(one.3)), groupArrayArray(best)) FROM (
        SELECT arrayJoin(capabilities) AS slug, uniqExactIf(pay_to, pay_to != '') AS providers, count() AS endpoints, 0 AS agents, [] AS best
          FROM (SELECT capabilities, pay_to, del FROM endpoint_list FINAL) WHERE del = 0 GROUP BY slug
        UNION ALL
        SELECT arrayJoin(capabilities), 0, 0, count(),
            groupArraySorted(${uint32(MOST_RATED_MAX)})((-toInt64(feedback_count), toString(chain), agent_id))
          FROM (SELECT chain, agent_id, feedback_count, capabilities, active, del FROM agents FINAL) WHERE del = 0 AND active = 1 GROUP BY 1)
      WHERE slug IN (${slugs()}) GROUP BY slug ORDER BY slug LIMIT ${uint32(CAPABILITIES.length)}`,
  });
  return new Map(
    rows.map(([slug, providers, endpoints, agents, mostRated]) => [
      textField(slug),
      {
        providers: integerField(providers),
        endpoints: integerField(endpoints),
        agents: integerField(agents),
        mostRated: agentsField(mostRated),
      },
    ]),
  );
}

function agentsField(field: unknown): AgentPosition[] {
  if (!Array.isArray(field)) throw new TypeError('expected a list of agents from the engine');
  // Pairs of our own columns.
  return (field as unknown[][]).map(([chain, id]) => ({
    chain: textField(chain) as Chain,
    agentId: bigintField(id),
  }));
}

/** What an older rule mapped onto is not listed any more. */
function slugs(): Sql {
  return commaList(CAPABILITIES.map(({ slug }) => text(slug)));
}

/**
 * The quartiles of what the resources of a capability cost, each resource by its headline offer; null without any. Prices that
 * really are asked (nearest rank): of four the first, the second and the third. Where listings disagree about the payee and neither
 * the domain nor a payment decides, any lister may have set the price.
 */
export async function readGoingRate(reader: Reader, slug: string): Promise<GoingRate | null> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'capability-going-rate',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    // By hand: quantilesExactLow takes the lower of two in the middle, and the higher one at every other level.
    sql: sql`SELECT count(), arraySort(groupArray(assumeNotNull(price_usd))) AS prices,
        arrayMap(level -> toString(toInt64(prices[toUInt64(ceil(level * length(prices)))] * 1000000)), [0.25, 0.5, 0.75])
      FROM (SELECT capabilities, price_usd, contested, is_published, settlement_count, del FROM endpoint_list FINAL WHERE has(capabilities, ${text(slug)}))
      WHERE del = 0 AND price_usd > 0 AND (NOT contested OR is_published OR settlement_count > 0)`,
  });
  const [count, , quartiles] = rows[0] ?? [];
  const offers = integerField(count);
  if (offers === 0) return null;
  const [p25, p50, p75] = pricesOf(quartiles);
  return { p25, p50, p75, offers };
}

function pricesOf(field: unknown): readonly [bigint, bigint, bigint] {
  if (!Array.isArray(field)) throw new TypeError('expected a list of prices from the engine');
  const [p25, p50, p75] = field.map(textField);
  return [BigInt(p25 ?? 0), BigInt(p50 ?? 0), BigInt(p75 ?? 0)];
}

export type CapabilityAgent = Pick<
  AgentRow,
  'chain' | 'agentId' | 'name' | 'wallet' | 'x402Support' | 'score' | 'feedbackCount' | 'domainProof'
>;

/**
 * The agents of `mostRated` as they are now, most rated first. Choosing them costs a pass over all agents, so they are chosen
 * together with the counts: one that was rated since may be missing for as long.
 */
export async function readCapabilityAgents(
  reader: Reader,
  slug: string,
  mostRated: readonly AgentPosition[],
): Promise<CapabilityAgent[]> {
  const conditions = [sql`active = 1`, sql`has(capabilities, ${text(slug)})`];
  const agents = await readAgents(reader, mostRated, { conditions, limit: MOST_RATED_MAX });
  return mostRated
    .flatMap((at) => agents.filter(({ chain, agentId }) => chain === at.chain && agentId === at.agentId))
    .toSorted((a, b) => b.feedbackCount - a.feedbackCount);
}
