import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import {
  chainParam,
  enrichedOnlyParam,
  facilitatorParam,
  limitParam,
  namedOnlyParam,
  offsetParam,
} from '../common-params.ts';
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import { LIST_META_FIELDS, listMeta, META_EXAMPLE } from '../meta.ts';
import type { Directory } from '../names.ts';
import { PRICES } from '../prices.ts';
import { NAMED_SETTLEMENT_EXAMPLE } from '../settlements/shape.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  NextOffsetShape,
  nowText,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';
import { ProposalShape, proposalAnswer, statusParam } from './proposals.ts';
import { type DistinctParties, distinctParties, type Relayer, type Relayers } from './read.ts';

const RelayerShape = Type.Object(
  {
    address: AddressShape,
    chain: ChainShape,
    facilitator: Type.Optional(
      Type.String({ description: 'Id of the facilitator; absent for a relayer that no catalogue names.' }),
    ),
    facilitator_name: Type.Optional(Type.String()),
    facilitator_source: Type.Optional(
      Type.String({
        description:
          'Where the catalogue has the entry from: built-in, configured, file, supported (the /supported answer of the facilitator), or proposed (accepted by the service itself, above the score that its operator set).',
      }),
    ),
    settlement_count: CountShape,
    settled_usd: UsdShape,
    distinct_payers: { ...CountShape, description: 'An estimate, see `meta.basis`.' },
    distinct_payees: { ...CountShape, description: 'An estimate, see `meta.basis`.' },
    first_seen: TimeShape,
    last_seen: TimeShape,
    nonce: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Transactions that the account has sent, at `enriched_at`.' }),
    ),
    gas_balance: Type.Optional(
      Type.String({ pattern: '^[0-9]+$', description: 'Native balance in its smallest unit (wei).' }),
    ),
    enriched_at: Type.Optional(TimeShape),
    proposal: Type.Optional(ProposalShape),
  },
  { title: 'Relayer' },
);

/**
 * 1.04 / sqrt(2^14), the standard error of HyperLogLog with 14 bits of registers; numbers of a few hundred are kept one by one.
 */
const DISTINCT_STANDARD_ERROR = 0.0081;

const BasisShape = Type.Object(
  {
    settlement_count: Type.Literal('exact'),
    settled_usd: Type.Literal('exact'),
    distinct_payers: Type.Literal('estimate'),
    distinct_payees: Type.Literal('estimate'),
    distinct_standard_error: Type.Number({
      description: 'Relative standard error of the distinct counts; small numbers are exact.',
    }),
  },
  { title: 'RelayerBasis' },
);

const BASIS: Static<typeof BasisShape> = {
  settlement_count: 'exact',
  settled_usd: 'exact',
  distinct_payers: 'estimate',
  distinct_payees: 'estimate',
  distinct_standard_error: DISTINCT_STANDARD_ERROR,
};

const EXAMPLE: Static<typeof RelayerShape> = {
  address: NAMED_SETTLEMENT_EXAMPLE.relayer,
  chain: NAMED_SETTLEMENT_EXAMPLE.chain,
  facilitator: 'coinbase',
  facilitator_name: 'Coinbase',
  facilitator_source: 'built-in',
  settlement_count: 4_120_377,
  settled_usd: 81_344.207_115,
  distinct_payers: 96_120,
  distinct_payees: 2_310,
  first_seen: '2025-05-05T18:02:47Z',
  last_seen: NAMED_SETTLEMENT_EXAMPLE.block_time,
  nonce: 4_120_391,
  gas_balance: '183204117702250048',
  enriched_at: '2026-11-20T09:10:00Z',
};

interface RelayerDeps extends OperationDeps {
  readonly relayers: Relayers;
}

export const listFacilitators = defineOperation({
  id: 'listFacilitators',
  wire: {
    path: '/facilitators',
    params: {
      limit: limitParam,
      offset: offsetParam,
      chain: chainParam,
      facilitator: facilitatorParam,
      named_only: namedOnlyParam,
      enriched_only: enrichedOnlyParam,
      status: statusParam,
    },
    output: Type.Object({
      facilitators: Type.Array(RelayerShape),
      next_offset: NextOffsetShape,
      meta: Type.Object(
        { ...LIST_META_FIELDS, ranked_at: TimeShape, basis: BasisShape },
        { title: 'FacilitatorListMeta' },
      ),
    }),
    paging: 'offset',
  },
  words: {
    summary: 'Relayers per chain, busiest first, with their gas balances',
    description:
      'Every address that sent settlements, one row for each chain, by number of settlements, then chain and address; of every indexed chain unless `chain` names one. `facilitator` is who the catalogue says is behind it. `nonce`, `gas_balance` and `enriched_at` are there when the account was read from the chain: the busiest relayers and all named ones, every few minutes. `status=proposed` lists relayers that no catalogue names and that behave as a facilitator’s do, with the evidence. Fields without a value are left out. Pages are cut from one ranking that is renewed at most every ten seconds (`meta.ranked_at`): pages of one ranking fit together; from one ranking to the next a relayer can move across a page boundary.',
    tool: 'Relayers: addresses that send settlements on chain, busiest first, with the facilitator behind each where it is known.',
    example: {
      facilitators: [EXAMPLE],
      next_offset: 50,
      meta: {
        chain: META_EXAMPLE.chain,
        as_of: META_EXAMPLE.as_of,
        snapshot: null,
        freshness: META_EXAMPLE.freshness,
        ranked_at: META_EXAMPLE.as_of,
        basis: BASIS,
      },
    },
  },
  money: { price: PRICES.keyed, load: 'summary' },
  read: async (input, deps: RelayerDeps) => {
    const {
      reader,
      clock,
      deployment: { chains },
      index: { dataset, names, freshness },
      relayers,
    } = deps;
    const { limit, offset, chain } = input;
    const nowMs = clock.nowMs();
    const [ranking, directory, statuses] = await Promise.all([
      relayers.ranking(),
      names.of([]),
      freshness.statuses(),
    ]);
    const matching = byStatus(ranking.relayers, input.status).filter((relayer) => isWanted(relayer, input));
    const page = matching.slice(offset, offset + limit);
    const parties = await distinctParties(reader, ranking, page);
    const relayersOf = async (served: readonly Chain[]) => ({
      ...(await dataset.settlements(served)),
      rowCount: ranking.relayers.filter((relayer) => served.includes(relayer.chain)).length,
    });
    return {
      facilitators: page.map((relayer, index) => relayerAnswer(relayer, parties[index], directory)),
      next_offset: offset + limit < matching.length ? offset + limit : null,
      meta: {
        ...(await listMeta({ chain, chains, statuses, nowMs }, page, relayersOf)),
        ranked_at: nowText(ranking.rankedAtMs),
        basis: BASIS,
      },
    };
  },
});

/** Sorting keeps the order of the ranking where scores are equal. */
function byStatus(relayers: readonly Relayer[], status: 'named' | 'proposed'): readonly Relayer[] {
  if (status === 'named') return relayers;
  const scoreOf = ({ proposal }: Relayer): number => proposal?.score ?? 0;
  return relayers
    .filter(({ proposal }) => proposal !== null)
    .toSorted((one, other) => scoreOf(other) - scoreOf(one));
}

interface RelayerFilter {
  readonly chain: string | undefined;
  readonly facilitator: string | undefined;
  readonly named_only: boolean;
  readonly enriched_only: boolean;
}

function isWanted(relayer: Relayer, wanted: RelayerFilter): boolean {
  return (
    (wanted.chain === undefined || relayer.chain === wanted.chain) &&
    (wanted.facilitator === undefined || relayer.facilitator === wanted.facilitator) &&
    (!wanted.named_only || relayer.facilitator !== null) &&
    (!wanted.enriched_only || relayer.account !== null)
  );
}

function relayerAnswer(
  relayer: Relayer,
  parties: DistinctParties | undefined,
  directory: Directory,
): Static<typeof RelayerShape> {
  const { facilitator, facilitatorSource, account, proposal } = relayer;
  const name = facilitator === null ? null : directory.facilitatorName(facilitator);
  return {
    address: relayer.address,
    chain: relayer.chain,
    ...(facilitator === null ? {} : { facilitator }),
    ...(name === null ? {} : { facilitator_name: name }),
    ...(facilitatorSource === null ? {} : { facilitator_source: facilitatorSource }),
    settlement_count: relayer.settlementCount,
    settled_usd: usdNumber(relayer.settledUsdMicros),
    distinct_payers: parties?.payers ?? 0,
    distinct_payees: parties?.payees ?? 0,
    first_seen: timeText(relayer.firstSeen),
    last_seen: timeText(relayer.lastSeen),
    ...(account === null
      ? {}
      : {
          nonce: account.nonce,
          gas_balance: account.gasBalance.toString(),
          enriched_at: timeText(account.enrichedAt),
        }),
    ...(proposal === null ? {} : { proposal: proposalAnswer(proposal) }),
  };
}
