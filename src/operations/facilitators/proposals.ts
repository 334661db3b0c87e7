import { type Static, Type } from '@sinclair/typebox';
import type { Proposal } from '../../../clickhouse/tables/proposals.ts';
import {
  PROPOSAL_DAYS,
  PROPOSAL_MIN_SCORE,
  SHARED_PAYERS_MIN,
} from '../../../core/domain/relayer-proposal.ts';
import { type Param, readChoice } from '../params.ts';
import { CountShape, orNull } from '../shapes.ts';

/** Relayers that the ingest process proposes as a facilitator's (ingest/proposals), as `/facilitators` shows them. */

const STATUSES = ['named', 'proposed'] as const;

export const statusParam: Param<(typeof STATUSES)[number]> = {
  in: 'query',
  description:
    '`named`: relayers as the catalogue knows them. `proposed`: only those that no catalogue names and that behave as a facilitator’s do, by score, each with its evidence in `proposal`.',
  toolText: '',
  required: false,
  schema: Type.Union(
    STATUSES.map((status) => Type.Literal(status)),
    { default: 'named' },
  ),
  example: 'proposed',
  read: (raw, name) => (raw === undefined ? 'named' : readChoice(raw, name, STATUSES)),
};

export const ProposalShape = Type.Object(
  {
    score: Type.Number({
      minimum: PROPOSAL_MIN_SCORE,
      maximum: 1,
      description:
        'How much it behaves as a facilitator. Not a probability: [how it is made](/docs/methodology).',
    }),
    settlement_count: {
      ...CountShape,
      description: `Payments that it sent in the last ${PROPOSAL_DAYS} days.`,
    },
    relayed_count: { ...CountShape, description: 'Of these, signed by others and relayed for them.' },
    payer_count: CountShape,
    payer_spread: Type.Number({
      minimum: 0,
      description: 'As how many payers of equal size they count: 1 where one makes nearly all payments.',
    }),
    shared_payer_count: { ...CountShape, description: 'Payers that also pay through named facilitators.' },
    payee_count: CountShape,
    shared_payee_count: {
      ...CountShape,
      description: `Payees that ${SHARED_PAYERS_MIN} payers or more also paid through named facilitators.`,
    },
    shared_settlement_count: { ...CountShape, description: 'Payments to these.' },
    shared_with: Type.Array(Type.String(), { description: 'Ids of those facilitators.' }),
    supported_by: Type.Array(Type.String(), {
      description: 'Ids of facilitators whose /supported answer lists the address.',
    }),
    funded_with: orNull(
      Type.String({
        description: 'Id of the facilitator whose relayers got their first gas money from the same account.',
      }),
    ),
  },
  { title: 'RelayerProposal' },
);

/** With a score of three digits, as it is made of estimates; a spread needs fewer. */
export function proposalAnswer(proposal: Proposal): Static<typeof ProposalShape> {
  return {
    score: Number(proposal.score.toFixed(3)),
    settlement_count: proposal.settlementCount,
    relayed_count: proposal.relayedCount,
    payer_count: proposal.payerCount,
    payer_spread: Number(proposal.payerSpread.toFixed(1)),
    shared_payer_count: proposal.sharedPayerCount,
    payee_count: proposal.payeeCount,
    shared_payee_count: proposal.sharedPayeeCount,
    shared_settlement_count: proposal.sharedSettlementCount,
    shared_with: [...proposal.sharedWith],
    supported_by: [...proposal.supportedBy],
    funded_with: proposal.fundedWith || null,
  };
}
