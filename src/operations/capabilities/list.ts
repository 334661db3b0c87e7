import { type Static, Type } from '@sinclair/typebox';
import { CAPABILITIES, type Capability } from '../../../core/domain/capability.ts';
import { capabilityFieldsParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { PRICES } from '../prices.ts';
import { CountShape, nowText, TimeShape } from '../shapes.ts';
import type { CapabilityCounts, CapabilityDeps } from './read.ts';

export const CAPABILITY_FIELDS = {
  slug: Type.String({ pattern: '^[a-z0-9-]+$', description: 'Stable name, for /capabilities/{slug}.' }),
  name: Type.String(),
  group: Type.String(),
  unit: Type.String({ description: 'What one price usually buys; no listing is bound to it.' }),
  summary: Type.String(),
  provider_count: {
    ...CountShape,
    description: 'Different payTo addresses with a listed resource that offers it.',
  },
  endpoint_count: { ...CountShape, description: 'Listed resources that offer it.' },
  agent_count: { ...CountShape, description: 'Active ERC-8004 agents whose card mentions it.' },
};

const CapabilityShape = Type.Object(
  {
    slug: CAPABILITY_FIELDS.slug,
    name: CAPABILITY_FIELDS.name,
    provider_count: CAPABILITY_FIELDS.provider_count,
    group: Type.Optional(CAPABILITY_FIELDS.group),
    unit: Type.Optional(CAPABILITY_FIELDS.unit),
    summary: Type.Optional(CAPABILITY_FIELDS.summary),
    endpoint_count: Type.Optional(CAPABILITY_FIELDS.endpoint_count),
    agent_count: Type.Optional(CAPABILITY_FIELDS.agent_count),
  },
  { title: 'CapabilitySummary' },
);

type CapabilityAnswer = Static<typeof CapabilityShape>;

export const NOBODY: CapabilityCounts = { providers: 0, endpoints: 0, agents: 0, mostRated: [] };

export const CAPABILITY_EXAMPLE = {
  slug: 'web-search',
  name: 'Web search',
  group: 'web',
  unit: 'query',
  summary: 'Finds pages on the web for a question or keywords.',
  provider_count: 41,
  endpoint_count: 118,
  agent_count: 96,
};

export const listCapabilities = defineOperation({
  id: 'listCapabilities',
  wire: {
    path: '/capabilities',
    params: { fields: capabilityFieldsParam },
    output: Type.Object({
      capabilities: Type.Array(CapabilityShape),
      meta: Type.Object({ as_of: TimeShape }, { title: 'CapabilityListMeta' }),
    }),
  },
  words: {
    summary: 'Capabilities that services offer, and how many providers each has',
    description:
      'Every capability of the catalogue, offered or not, in the order of the catalogue. Which listing or agent offers what is decided by a published rule (docs/capabilities.md) over what it says of itself. `fields=compact` returns only slug, name and provider_count. Counts are refreshed at most twice a minute.',
    tool: 'The kinds of work that services offer, each with its number of providers. get_capability, list_endpoints and list_agents take their slugs.',
    example: { capabilities: [CAPABILITY_EXAMPLE], meta: { as_of: '2026-11-20T09:15:04Z' } },
  },
  money: { price: PRICES.free, load: 'summary' },
  read: async ({ fields }, { clock, capabilities }: CapabilityDeps) => {
    const counts = await capabilities.counts();
    return {
      capabilities: CAPABILITIES.map((capability) => {
        const answer = capabilityAnswer(capability, counts.get(capability.slug) ?? NOBODY);
        const { slug, name, provider_count } = answer;
        return fields === 'compact' ? { slug, name, provider_count } : answer;
      }),
      meta: { as_of: nowText(clock.nowMs()) },
    };
  },
});

export function capabilityAnswer(
  { slug, name, group, unit, summary }: Capability,
  { providers, endpoints, agents }: CapabilityCounts,
): Required<CapabilityAnswer> {
  return {
    slug,
    name,
    group,
    unit,
    summary,
    provider_count: providers,
    endpoint_count: endpoints,
    agent_count: agents,
  };
}
