import { type Static, type TInteger, type TObject, Type } from '@sinclair/typebox';
import {
  BLOCK_SOURCES,
  COVERAGE_DAYS_MAX,
  COVERAGE_METHOD,
  DEAD_LETTER_COLUMNS,
  DEAD_LETTER_REASONS,
  KIND_COLUMNS,
  METHOD_COLUMNS,
} from '../../../core/domain/coverage.ts';
import { EVIDENCE_METHODS } from '../../../core/domain/evidence.ts';
import { SETTLEMENT_KINDS } from '../../../core/domain/settlement.ts';
import { chainParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { META_WITHOUT_SNAPSHOT_EXAMPLE, MetaShape, metaAnswer } from '../meta.ts';
import { type Param, readWhole } from '../params.ts';
import { PRICES } from '../prices.ts';
import { ChainShape, CountShape, DateShape, oneOf, orNull } from '../shapes.ts';
import { type CoverageDay, readCoverageDays } from './read.ts';

const DAYS_DEFAULT = 7;

const coverageDaysParam: Param<number> = {
  in: 'query',
  description: `So many UTC days, today included: 1 to ${COVERAGE_DAYS_MAX}.`,
  required: false,
  schema: Type.Integer({ minimum: 1, maximum: COVERAGE_DAYS_MAX, default: DAYS_DEFAULT }),
  read: (raw, name) => (raw === undefined ? DAYS_DEFAULT : readWhole(raw, name, COVERAGE_DAYS_MAX)),
};

/** A count for each of some names. */
function countsShape<Name extends string>(
  names: readonly Name[],
  options: { readonly title: string; readonly description: string },
): TObject<Record<Name, TInteger>> {
  const fields = Object.fromEntries(names.map((name) => [name, CountShape])) as Record<Name, TInteger>; // each by its own name
  return Type.Object(fields, options);
}

const ShareShape = orNull(Type.Number({ minimum: 0, maximum: 1 }));

const DayShape = Type.Object(
  {
    chain: ChainShape,
    day: DateShape,
    authorizations: Type.Object(
      {
        seen: CountShape,
        unpaired: { ...CountShape, description: 'Without a transfer, so without a row.' },
      },
      { title: 'CoverageAuthorizations', description: 'EIP-3009 authorizations that were used.' },
    ),
    by_kind: countsShape(SETTLEMENT_KINDS, {
      title: 'CoverageKinds',
      description: 'Rows by what they are.',
    }),
    by_method: countsShape(EVIDENCE_METHODS, {
      title: 'CoverageMethods',
      description: 'The same rows by the rung of the evidence ladder.',
    }),
    by_facilitator: Type.Object(
      {
        named: CountShape,
        proposed: orNull(CountShape, {
          description:
            'Of the unknown ones, those of relayers that are proposed as a facilitator now; null until a pass has looked for such relayers.',
        }),
        unknown: CountShape,
      },
      { title: 'CoverageFacilitators', description: 'Payments by who relayed them.' },
    ),
    dead_letters: countsShape(DEAD_LETTER_REASONS, {
      title: 'CoverageDeadLetters',
      description: 'Logs that became no row, by the reason.',
    }),
    blocks: orNull(
      Type.Object(
        {
          first: CountShape,
          last: CountShape,
          indexed: CountShape,
          partial: {
            ...CountShape,
            description:
              'Blocks of which only the transactions of named fee payers were read (Solana): other payments in them are missing.',
          },
          missing: CountShape,
        },
        { title: 'CoverageBlocks' },
      ),
      {
        description:
          'The blocks of the day: how many of them were read, how many in part, and how many were not. The first and the last one are counted from the nearest row of the day by the time between blocks, so they can be some blocks off. Null where no read of its blocks is recorded, as after some imports.',
      },
    ),
    sources: Type.Array(oneOf(BLOCK_SOURCES, { title: 'BlockSource' }), {
      description: 'How blocks of the chain were read, as far as that is recorded; not of this day alone.',
    }),
    shares: Type.Object(
      {
        paired: { ...ShareShape, description: 'Of the authorizations, those that became a row.' },
        named: { ...ShareShape, description: 'Of the payments, those that a named facilitator relayed.' },
        indexed: { ...ShareShape, description: 'Of the blocks, those that were read whole.' },
      },
      {
        title: 'CoverageShares',
        description: 'Rounded down to four decimals, so 1 is all; null where there is nothing.',
      },
    ),
  },
  { title: 'CoverageDay' },
);

export const getCoverage = defineOperation({
  id: 'getCoverage',
  wire: {
    path: '/coverage',
    params: { chain: chainParam, days: coverageDaysParam },
    output: Type.Object({
      method_version: Type.String({ description: 'Date of the rules by which this is counted.' }),
      days: Type.Array(DayShape, {
        description: 'Newest day first, then by chain. Of a day that is missing nothing was read.',
      }),
      meta: MetaShape,
    }),
  },
  words: {
    summary: 'What was seen of each chain on each day, and what is missing',
    description:
      'Counts and shares by chain and UTC day: authorizations, rows by kind, evidence and facilitator, logs that became no row, and blocks that were not read. No amounts. What the figures can show and what they cannot: [methodology](/docs/methodology#coverage). In SQL: `coverage_days`.',
    tool: null,
    example: {
      method_version: COVERAGE_METHOD,
      days: [
        {
          chain: 'eip155:8453',
          day: '2026-11-19',
          authorizations: { seen: 412_903, unpaired: 2 },
          by_kind: { payment: 409_120, deposit: 3_921, payout: 702, refund: 40, withdrawal: 12, void: 3 },
          by_method: {
            facilitator_relay: 371_846,
            builder_code: 12_204,
            catalogued_payee: 4_410,
            gasless_authorization: 18_937,
            self_relayed: 1_723,
            bare_transfer: 0,
            channel_move: 4_678,
            not_examined: 0,
          },
          by_facilitator: { named: 371_846, proposed: null, unknown: 37_274 },
          dead_letters: {
            malformed_log: 0,
            unpaired_authorization: 2,
            unpaired_proxy: 0,
            unknown_channel: 0,
            amount_out_of_range: 0,
            unclear_transfer: 0,
          },
          blocks: { first: 38_352_227, last: 38_395_426, indexed: 43_200, partial: 0, missing: 0 },
          sources: ['rpc', 'portal'],
          shares: { paired: 0.9999, named: 0.9088, indexed: 1 },
        },
      ],
      meta: META_WITHOUT_SNAPSHOT_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed, load: 'summary' },
  read: async ({ chain, days }, { reader, clock, deployment: { chains }, index: { freshness } }) => {
    const nowMs = clock.nowMs();
    const served = chain === undefined ? chains : [chain];
    const [read, statuses] = await Promise.all([
      readCoverageDays(reader, { chains: served, days, nowMs }),
      freshness.statuses(),
    ]);
    return {
      method_version: COVERAGE_METHOD,
      days: read.map(dayAnswer),
      meta: metaAnswer({ chain, chains, statuses, nowMs }),
    };
  },
});

function dayAnswer({ chain, day, count, proposed, blocks, sources }: CoverageDay): Static<typeof DayShape> {
  const countsOf = <Name extends string>(
    columns: Readonly<Record<Name, Parameters<typeof count>[0]>>,
  ): Record<Name, number> => {
    const names = Object.keys(columns) as Name[]; // every table of columns is a constant without other keys
    return Object.fromEntries(names.map((name) => [name, count(columns[name])])) as Record<Name, number>;
  };
  const [seen, unpaired] = [count('authorization_count'), count('unpaired_authorization_count')];
  const [named, unknown] = [count('named_count'), count('unknown_count')];
  return {
    chain,
    day,
    authorizations: { seen, unpaired },
    by_kind: countsOf(KIND_COLUMNS),
    by_method: countsOf(METHOD_COLUMNS),
    by_facilitator: { named, proposed, unknown },
    dead_letters: countsOf(DEAD_LETTER_COLUMNS),
    blocks,
    sources: [...sources],
    shares: {
      paired: shareOf(seen - unpaired, seen),
      named: shareOf(named, named + unknown),
      indexed: blocks === null ? null : shareOf(blocks.indexed, 1 + blocks.last - blocks.first),
    },
  };
}

const SHARE_UNITS = 10_000;

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part * SHARE_UNITS) / whole) / SHARE_UNITS;
}
