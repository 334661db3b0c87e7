import { Type } from '@sinclair/typebox';
import { beforeParam, chainParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { ListMetaShape, listMeta, META_WITHOUT_SNAPSHOT_EXAMPLE } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { readLastSettled } from '../settlements/feed.ts';
import { NextBeforeShape } from '../shapes.ts';
import { AGENT_CURSOR, nextBefore, readBefore } from '../walk.ts';
import {
  activeParam,
  agentCapabilityParam,
  agentIdParam,
  agentQueryParam,
  ownerParam,
  x402DeclaredParam,
} from './params.ts';
import { readAgentList } from './read-list.ts';
import { AGENT_EXAMPLE, AgentShape, agentAnswers } from './shape.ts';

const SCOPE = 'listAgents';

export const listAgents = defineOperation({
  id: SCOPE,
  wire: {
    path: '/agents',
    params: {
      limit: limitParam,
      before: beforeParam,
      chain: chainParam,
      q: agentQueryParam,
      agent_id: agentIdParam,
      owner: ownerParam,
      capability: agentCapabilityParam,
      x402_declared: x402DeclaredParam,
      active: activeParam,
    },
    output: Type.Object({
      agents: Type.Array(AgentShape),
      next_before: NextBeforeShape,
      meta: ListMetaShape,
    }),
    paging: 'before',
    caching: 'revalidate',
  },
  words: {
    summary: 'ERC-8004 agents, newest registration first, by words, owner or capability',
    description:
      'Agents as their registry, their card and the feedback about them say, by chain and agent_id, highest first; send `next_before` back as `before` for the next ones. A walk meets every agent that was there and matched all the time exactly once; one that registers meanwhile has a higher id than the page you are on. Filters may be changed along a walk. Names, descriptions, services and domains are claims of the agent’s owner, made safe to show.',
    tool: 'ERC-8004 agents by words, id, owner or capability, newest registration first. Names, descriptions and services are claims of the owner.',
    example: {
      agents: [AGENT_EXAMPLE],
      next_before: null,
      meta: META_WITHOUT_SNAPSHOT_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed },
  check: (input, { cursorKeys }) => ({
    ...input,
    before: readBefore(AGENT_CURSOR, { keys: cursorKeys, scope: SCOPE }, input.before),
  }),
  run: async (
    input,
    { reader, clock, cursorKeys, deployment: { chains }, index: { dataset, freshness, names } },
  ) => {
    const { limit, chain, owner, capability, active } = input;
    const nowMs = clock.nowMs();
    const [statuses, directory, page] = await Promise.all([
      freshness.statuses(),
      names.of([]),
      readAgentList(reader, {
        limit,
        before: input.before,
        chains: chain === undefined ? chains : [chain],
        filter: {
          phrase: input.q,
          agentId: input.agent_id,
          owner,
          capability,
          x402Support: input.x402_declared,
          active,
        },
      }),
    ]);
    const lastSettled = await readLastSettled(
      reader,
      page.rows.map(({ wallet }) => wallet),
    );
    return {
      agents: agentAnswers(page.rows, { lastSettled, nowMs, directory }),
      next_before: nextBefore(AGENT_CURSOR, { keys: cursorKeys, scope: SCOPE }, page.nextBefore),
      meta: await listMeta({ chain, chains, statuses, nowMs }, page.rows, dataset.agents),
    };
  },
});
