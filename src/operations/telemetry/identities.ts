import { type Static, Type } from '@sinclair/typebox';
import type { Chain } from '../../../core/domain/chains.ts';
import { EndpointSourceShape, sourceAnswer } from '../endpoints/shape.ts';
import { configuredOf, type EndpointSourceState } from '../endpoints/sources.ts';
import type { FileCounts, IdentityState } from '../index-state/identity-state.ts';
import { ChainShape, CountShape, nowText, TimeShape } from '../shapes.ts';

/** What telemetry says of agents, attestations and the endpoint catalogue. */

const ProblemsShape = Type.Array(
  Type.Object({ problem: Type.String(), count: CountShape }, { title: 'ProblemCount' }),
  {
    description: 'Why, by number of files.',
  },
);
const DueShape = Type.Integer({ minimum: 0, description: 'To be tried now.' });

const CardsShape = Type.Object(
  {
    good: CountShape,
    failed: {
      ...CountShape,
      description: 'Agents whose newest try gave no card; the last good one is kept.',
    },
    none: { ...CountShape, description: 'Agents that were not tried, or have no URI to try.' },
    due: DueShape,
    problems: ProblemsShape,
  },
  { title: 'CardTelemetry' },
);

const FilesShape = Type.Object(
  {
    good: CountShape,
    failed: CountShape,
    new: { ...CountShape, description: 'Not tried yet.' },
    due: DueShape,
    problems: ProblemsShape,
  },
  { title: 'FeedbackFileTelemetry' },
);

const ChainIdentitiesShape = Type.Object(
  {
    chain: ChainShape,
    agents: CountShape,
    agents_due: {
      ...CountShape,
      description: 'Agents that something was written about since their row was derived.',
    },
    attestations: { ...CountShape, description: 'Feedback, responses, revocations and validations.' },
    cards: CardsShape,
    feedback_files: FilesShape,
  },
  { title: 'ChainIdentities' },
);

export const IdentitiesShape = Type.Object(
  {
    chains: Type.Array(ChainIdentitiesShape),
    endpoint_sources: Type.Array(EndpointSourceShape),
    counted_at: TimeShape,
  },
  {
    title: 'IdentityTelemetry',
    description: 'ERC-8004 registries and the endpoint catalogue; counted at most every half minute.',
  },
);

export function identitiesAnswer(
  { chains: counted, countedAtMs }: IdentityState,
  sources: readonly EndpointSourceState[],
  { chains, nowMs }: { readonly chains: readonly Chain[]; readonly nowMs: number },
): Static<typeof IdentitiesShape> {
  return {
    chains: chains.map((chain) => {
      const one = counted.get(chain);
      return {
        chain,
        agents: one?.agents ?? 0,
        agents_due: one?.agentsDue ?? 0,
        attestations: one?.attestations ?? 0,
        cards: { ...countsAnswer(one?.cards), none: one?.cards.untried ?? 0 },
        feedback_files: { ...countsAnswer(one?.feedbackFiles), new: one?.feedbackFiles.untried ?? 0 },
      };
    }),
    endpoint_sources: configuredOf(sources).map((state) => sourceAnswer(state, nowMs)),
    counted_at: nowText(countedAtMs),
  };
}

function countsAnswer(counts: FileCounts | undefined) {
  const { good = 0, failed = 0, due = 0, problems = [] } = counts ?? {};
  return { good, failed, due, problems: [...problems] };
}

export const IDENTITIES_EXAMPLE: Static<typeof IdentitiesShape> = {
  chains: [
    {
      chain: 'eip155:8453',
      agents: 41_207,
      agents_due: 0,
      attestations: 96_311,
      cards: {
        good: 22_018,
        failed: 4_920,
        none: 14_269,
        due: 37,
        problems: [
          { problem: 'empty_uri', count: 14_232 },
          { problem: 'name_not_found', count: 3_871 },
        ],
      },
      feedback_files: {
        good: 8_311,
        failed: 1_204,
        new: 12,
        due: 12,
        problems: [{ problem: 'refused', count: 1_101 }],
      },
    },
  ],
  endpoint_sources: [
    {
      source: 'bazaar:coinbase',
      kind: 'bazaar',
      host: 'facilitator.example',
      offers: 14_810,
      tried_at: '2026-11-20T08:31:40Z',
      good_at: '2026-11-20T08:31:40Z',
      problem: null,
      not_read: [],
      stale: false,
    },
  ],
  counted_at: '2026-11-20T09:15:04Z',
};
