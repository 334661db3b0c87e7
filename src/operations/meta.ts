import { type Static, Type } from '@sinclair/typebox';
import type { ListedSettlement } from '../../clickhouse/tables/settlements.ts';
import { usdNumber } from '../../core/domain/amount.ts';
import { type Chain, isChain } from '../../core/domain/chains.ts';
import { printSnapshot, type Snapshot } from '../../core/domain/snapshot.ts';
import type { DatasetFacts, TableFacts } from './dataset.ts';
import type { ChainStatus } from './index-state/chain-status.ts';
import type { FinalityFilter } from './index-state/finality.ts';
import {
  type ChainFreshness,
  chainFreshness,
  WARNINGS,
  type Warning,
  warningsOf,
} from './index-state/freshness.ts';
import { isSelfPayment } from './settlements/shape.ts';
import { ChainShape, keyOf, nowText, orNull, TimeShape, timeTextOrNull, UsdShape } from './shapes.ts';

/** `meta` of the settlement lists. */

const NullableInteger = orNull(Type.Integer());
const NullableTime = orNull(Type.String({ format: 'date-time' }));

export const ChainFreshnessShape = Type.Object(
  {
    chain: ChainShape,
    indexed_block: NullableInteger,
    indexed_at: NullableTime,
    head_block: NullableInteger,
    finalized_block: NullableInteger,
    lag_seconds: NullableInteger,
  },
  { title: 'ChainFreshness' },
);

const FreshnessShape = Type.Object(
  { chains: Type.Array(ChainFreshnessShape) },
  {
    title: 'Freshness',
    description:
      'Per chain: newest indexed block and its time, newest block known, newest final block, and how far behind the index is. At the tip, lag_seconds counts from the last look at the tip.',
  },
);

export const WarningsShape = Type.Array(keyOf(WARNINGS, { title: 'Warning' }), {
  description: Object.entries(WARNINGS)
    .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
    .join(' '),
});

const SERVED_FIELDS = {
  chain: orNull(
    Type.String({ description: 'The chain served; null when the answer spans every chain in `freshness`.' }),
  ),
  as_of: TimeShape,
  freshness: FreshnessShape,
  snapshot: orNull(
    Type.String({
      description:
        'What was final when this was answered: sent as `as_of` it gives the same rows again. Null where there is none: the operation takes no `as_of`, as rankings and lists of other things than settlements, or nothing final is indexed.',
    }),
  ),
  left_out: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'With `as_of`: fields that are empty because a snapshot does not hold them, chains of which it holds no row, and blocks of a chain whose rows it does not hold (`eip155:8453 before block 61`): those beyond a gap, and what was imported without a record. Everything else but `meta` and cursors is the same each time.',
    }),
  ),
};

/** Facts about the table that is listed, on an empty page only: they tell why it may be empty. */
const DATASET_FIELDS = {
  dataset_last_written_at: Type.Optional(
    orNull(Type.String({ format: 'date-time' }), {
      description: 'When the listed table was last written for the chain that was asked; null: never.',
    }),
  ),
  dataset_row_count: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Rows of the listed table on the chain that was asked, before any other filter.',
    }),
  ),
};

/** `meta` of answers that are not a page of settlements. */
export const MetaShape = Type.Object(
  { ...SERVED_FIELDS, warnings: Type.Optional(WarningsShape) },
  { title: 'Meta' },
);

export const SettlementMetaShape = Type.Object(
  {
    ...SERVED_FIELDS,
    page_self_payments: Type.Optional(
      Type.Integer({ minimum: 0, description: 'This page only; do not add up.' }),
    ),
    page_self_payment_usd: Type.Optional(UsdShape),
    page_gross_usd: Type.Optional(UsdShape),
    page_organic_usd: Type.Optional(UsdShape),
    self_payments_excluded: Type.Optional(
      Type.Boolean({ description: 'Present and true when exclude_self_payments filtered this page.' }),
    ),
    ...DATASET_FIELDS,
    warnings: Type.Optional(WarningsShape),
  },
  { title: 'SettlementListMeta' },
);

/** Fields of `meta` for lists whose rows are not settlements. */
export const LIST_META_FIELDS = {
  ...SERVED_FIELDS,
  ...DATASET_FIELDS,
  warnings: Type.Optional(WarningsShape),
};

export const ListMetaShape = Type.Object(LIST_META_FIELDS, { title: 'ListMeta' });

export type Meta = Static<typeof MetaShape>;
type ListMeta = Static<typeof ListMetaShape>;
type SettlementMeta = Static<typeof SettlementMetaShape>;
type FreshnessAnswer = Static<typeof ChainFreshnessShape>;

interface MetaFacts {
  /** The chain asked for; undefined: all. */
  readonly chain: Chain | undefined;
  readonly chains: readonly Chain[];
  readonly statuses: ReadonlyMap<Chain, ChainStatus>;
  readonly nowMs: number;
  /** Where the answer can be limited to final settlements. */
  readonly finality?: FinalityFilter;
  /** Of an operation that takes `as_of`: the snapshot that was asked for, or the final blocks of now. */
  readonly snapshot?: Snapshot | null;
  /** Where it was asked for: what it does not hold. */
  readonly leftOut?: readonly string[];
}

export function chainFreshnessAnswer(freshness: ChainFreshness): FreshnessAnswer {
  return {
    chain: freshness.chain,
    indexed_block: freshness.indexedBlock,
    indexed_at: timeTextOrNull(freshness.indexedAt),
    head_block: freshness.headBlock,
    finalized_block: freshness.finalizedBlock,
    lag_seconds: freshness.lagSeconds,
  };
}

/** The scope of the answer, its time, and warnings about its chains. */
export function metaAnswer(facts: MetaFacts): Meta {
  const warnings = warningsFor(facts);
  return { ...servedFacts(facts), ...(warnings.length > 0 ? { warnings } : {}) };
}

/** A verdict that was made without one of its signals. */
export const VERDICT_LEFT_OUT = 'data_quality.signals.ring_membership';

/** Whether an entry of `left_out` is of rows: a chain, or blocks of one. */
function isOfRows(entry: string): boolean {
  return isChain(entry.split(' ', 1)[0] ?? '');
}

function warningsFor(facts: MetaFacts): Warning[] {
  const served = servedChains(facts);
  const isUnknown = (chain: Chain): boolean => (facts.statuses.get(chain)?.finalizedBlock ?? null) === null;
  const isMissed = facts.finality === 'finalized' && served.some(isUnknown);
  const warnings = warningsOf(served, facts.statuses, facts.nowMs);
  if (isMissed) warnings.push('finality_unknown');
  const isPartial = facts.leftOut?.some((name) => isOfRows(name) || name === VERDICT_LEFT_OUT) ?? false;
  if (isPartial) warnings.push('snapshot_is_partial');
  return warnings;
}

function servedChains({ chain, chains }: MetaFacts): readonly Chain[] {
  return chain === undefined ? chains : [chain];
}

function servedFacts(facts: MetaFacts) {
  const served = servedChains(facts);
  const [onlyChain] = served;
  return {
    chain: served.length === 1 && onlyChain !== undefined ? onlyChain : null,
    as_of: nowText(facts.nowMs),
    snapshot: facts.snapshot == null ? null : printSnapshot(facts.snapshot),
    ...(facts.leftOut === undefined ? {} : { left_out: [...facts.leftOut] }),
    freshness: {
      chains: served.map((chain) =>
        chainFreshnessAnswer(chainFreshness(chain, facts.statuses.get(chain), facts.nowMs)),
      ),
    },
  };
}

/** `meta` of a page: page figures when it has rows, facts about the dataset when it has none. */
export async function settlementMeta(
  facts: MetaFacts,
  shown: readonly ListedSettlement[],
  dataset: DatasetFacts,
): Promise<SettlementMeta> {
  if (shown.length > 0) return { ...metaAnswer(facts), ...pageFigures(shown) };
  return emptyMeta(facts, dataset.settlements);
}

/** The listed endpoints on the chains that are served. */
type ListedTable = (served: readonly Chain[]) => Promise<TableFacts> | TableFacts;

/** `meta` of a page whose rows are not settlements. */
export async function listMeta(
  facts: MetaFacts,
  shown: readonly unknown[],
  table: ListedTable,
): Promise<ListMeta> {
  return shown.length > 0 ? metaAnswer(facts) : emptyMeta(facts, table);
}

async function emptyMeta(facts: MetaFacts, table: ListedTable): Promise<ListMeta> {
  const { rowCount, lastWrittenAt } = await table(servedChains(facts));
  const isNarrowed = facts.chain !== undefined && facts.chains.length > 1;
  return {
    ...servedFacts(facts),
    dataset_last_written_at: timeTextOrNull(lastWrittenAt),
    dataset_row_count: rowCount,
    warnings: [...warningsFor(facts), ...(isNarrowed ? (['other_chains_left_out'] as const) : [])],
  };
}

/** Of payments alone. Summed in whole millionths, turned into a number last: floats would drift. */
function pageFigures(shown: readonly ListedSettlement[]) {
  const sum = (rows: readonly ListedSettlement[]) =>
    rows.reduce((total, row) => total + row.amountUsdMicros, 0n);
  const payments = shown.filter(({ kind }) => kind === 'payment');
  const selfPayments = payments.filter(isSelfPayment);
  const gross = sum(payments);
  const self = sum(selfPayments);
  return {
    page_self_payments: selfPayments.length,
    page_self_payment_usd: usdNumber(self),
    page_gross_usd: usdNumber(gross),
    page_organic_usd: usdNumber(gross - self),
  };
}

export const SNAPSHOT_EXAMPLE = 's1_r12_0b9f4a31_1795166103000000000_8453-29000000-38411402-5d0c1f0a7e2b9c44';

/** Of answers without figures of a page. */
export const META_FIELDS_EXAMPLE: Meta = {
  chain: 'eip155:8453',
  as_of: '2026-11-20T09:15:04Z',
  snapshot: SNAPSHOT_EXAMPLE,
  freshness: {
    chains: [
      {
        chain: 'eip155:8453',
        indexed_block: 38_412_078,
        indexed_at: '2026-11-20T09:15:03Z',
        head_block: 38_412_078,
        finalized_block: 38_411_402,
        lag_seconds: 1,
      },
    ],
  },
};

export const META_EXAMPLE: SettlementMeta = {
  ...META_FIELDS_EXAMPLE,
  page_self_payments: 0,
  page_self_payment_usd: 0,
  page_gross_usd: 0.01,
  page_organic_usd: 0.01,
};

/** Of operations that take no `as_of`. */
export const META_WITHOUT_SNAPSHOT_EXAMPLE: Meta = { ...META_FIELDS_EXAMPLE, snapshot: null };
