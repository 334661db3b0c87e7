import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../../../core/domain/amount.ts';
import { CAPABILITIES } from '../../../core/domain/capability.ts';
import { AgentIdShape, ScoreShape } from '../agents/shape.ts';
import { capabilitySlugParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { NO_CALLS, readEndpoints } from '../endpoints/read.ts';
import { ENDPOINT_EXAMPLE, EndpointShape, endpointAnswer, staleness } from '../endpoints/shape.ts';
import { type EndpointDeps, isCatalogueStale } from '../endpoints/sources.ts';
import { WarningsShape } from '../meta.ts';
import type { Directory } from '../names.ts';
import { PRICES } from '../prices.ts';
import { AddressShape, ChainShape, CountShape, nowText, orNull, TimeShape, UsdShape } from '../shapes.ts';
import { CAPABILITY_EXAMPLE, CAPABILITY_FIELDS, capabilityAnswer, NOBODY } from './list.ts';
import {
  type CapabilityAgent,
  type CapabilityDeps,
  MOST_RATED_MAX,
  readCapabilityAgents,
  readGoingRate,
} from './read.ts';

const GoingRateShape = Type.Object(
  {
    p25_usd: UsdShape,
    p50_usd: UsdShape,
    p75_usd: UsdShape,
    offers: {
      ...CountShape,
      description: 'Resources with a known price above zero that the quartiles are of.',
    },
  },
  { title: 'GoingRate' },
);

const CapabilityAgentShape = Type.Object(
  {
    chain: ChainShape,
    agent_id: AgentIdShape,
    name: orNull(Type.String()),
    wallet: orNull(AddressShape),
    x402_support: Type.Boolean(),
    score: ScoreShape,
    feedback_count: CountShape,
  },
  { title: 'CapabilityAgent' },
);

export const getCapability = defineOperation({
  id: 'getCapability',
  wire: {
    path: '/capabilities/{slug}',
    params: { slug: capabilitySlugParam, limit: limitParam },
    output: Type.Object({
      capability: Type.Object(CAPABILITY_FIELDS, { title: 'Capability' }),
      going_rate: orNull(GoingRateShape),
      offers: Type.Array(EndpointShape),
      offers_total: {
        ...CountShape,
        description: 'Listed resources that offer it; `offers` are the first ones.',
      },
      agents: Type.Array(CapabilityAgentShape, { description: `At most ${MOST_RATED_MAX}.` }),
      meta: Type.Object(
        { as_of: TimeShape, warnings: Type.Optional(WarningsShape) },
        { title: 'CapabilityMeta' },
      ),
    }),
  },
  words: {
    summary: 'Providers of one capability, their prices and the payments they received',
    description:
      'The listed resources that offer a capability, most paid first: price, pay_to and what was observed as in /endpoints (whose filter `capability` lists them all). `going_rate` are the quartiles of what they cost now, each by its headline offer; contested resources of which no claimant was paid or is published by the domain are left out; null when no price is known. `agents` are ERC-8004 agents whose card mentions it, most rated first. Everything but what was observed is what listings and cards say.',
    tool: 'Who offers one kind of work: listings with price, payee and observed payments, the going rate, and agents.',
    example: {
      capability: CAPABILITY_EXAMPLE,
      going_rate: { p25_usd: 0.002, p50_usd: 0.005, p75_usd: 0.01, offers: 112 },
      offers: [ENDPOINT_EXAMPLE],
      offers_total: 118,
      agents: [
        {
          chain: 'eip155:8453',
          agent_id: '2290',
          name: 'Searchlight',
          wallet: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
          x402_support: true,
          score: 92.34,
          feedback_count: 214,
        },
      ],
      meta: { as_of: '2026-11-20T09:15:04Z' },
    },
  },
  money: { price: PRICES.keyed, load: 'summary' },
  read: async (
    { slug, limit },
    { reader, clock, index: { names }, capabilities, endpointSources }: CapabilityDeps & EndpointDeps,
  ) => {
    const nowMs = clock.nowMs();
    const found = (await capabilities.counts()).get(slug) ?? NOBODY;
    const [rate, rows, agents, states, directory] = await Promise.all([
      readGoingRate(reader, slug),
      readEndpoints(reader, { capability: slug }, { limit, offset: 0 }),
      readCapabilityAgents(reader, slug, found.mostRated),
      endpointSources.states(),
      names.of([]),
    ]);
    const isStale = staleness(states, nowMs);
    return {
      capability: capabilityAnswer(capabilityOf(slug), found),
      going_rate:
        rate === null
          ? null
          : {
              p25_usd: usdNumber(rate.p25),
              p50_usd: usdNumber(rate.p50),
              p75_usd: usdNumber(rate.p75),
              offers: rate.offers,
            },
      offers: rows.map((row) => endpointAnswer(row, { isStale, nowMs, calls: NO_CALLS })),
      // The counts may be half a minute old, the rows are not.
      offers_total: Math.max(found.endpoints, rows.length),
      agents: agents.map((agent) => agentOfCapability(agent, directory)),
      meta: {
        as_of: nowText(nowMs),
        ...(isCatalogueStale(states, nowMs) ? { warnings: ['endpoints_catalog_stale' as const] } : {}),
      },
    };
  },
});

/** The parameter takes no other slug. */
function capabilityOf(slug: string): (typeof CAPABILITIES)[number] {
  const capability = CAPABILITIES.find((one) => one.slug === slug);
  if (capability === undefined) throw new Error(`no capability ${slug}`);
  return capability;
}

function agentOfCapability(
  agent: CapabilityAgent,
  directory: Directory,
): Static<typeof CapabilityAgentShape> {
  const { name, wallet, domainProof } = agent;
  const isNamed =
    name !== '' && domainProof !== 'refuted' && directory.imitatedFacilitator(name, wallet) === null;
  return {
    chain: agent.chain,
    agent_id: String(agent.agentId),
    name: isNamed ? name : null,
    wallet: agent.wallet,
    x402_support: agent.x402Support,
    score: agent.score === null ? null : Number(agent.score),
    feedback_count: agent.feedbackCount,
  };
}
