import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { ListedSettlement } from '../../../clickhouse/tables/settlements.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { EVIDENCE_LADDER } from '../../../core/domain/evidence.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import { finalityIn, finalOf, NO_NAMES, preflightAsOf, stateFor } from '../as-of.ts';
import {
  afterParam,
  asOfParam,
  beforeParam,
  chainParam,
  excludeSelfPaymentsParam,
  finalityParam,
  limitParam,
  minProbabilityParam,
} from '../common-params.ts';
import { defineOperation, type Operation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import type { ChainStatus } from '../index-state/chain-status.ts';
import { type FinalityFilter, finalOnly } from '../index-state/finality.ts';
import { META_EXAMPLE, SettlementMetaShape } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { NextBeforeShape } from '../shapes.ts';
import { feedSource, readFeed } from './feed.ts';
import { FEED_FILTERS, type FeedFilters, isFiltered } from './filters.ts';
import { FORWARD_FIELDS } from './forward.ts';
import { keepAnswers, readCursors, readPage, type SettlementDeps } from './list.ts';
import {
  isSelfPayment,
  NAMED_SETTLEMENT_EXAMPLE,
  NAMES_LEFT_OUT,
  NamedSettlementShape,
  namedSettlementAnswer,
  partiesOf,
  SETTLEMENT_EXAMPLE,
  SettlementShape,
  settlementAnswer,
} from './shape.ts';
import type { TailPage } from './tail.ts';

const FEED_PARAMS = {
  limit: limitParam,
  before: beforeParam,
  after: afterParam,
  chain: chainParam,
  finality: finalityParam,
  as_of: asOfParam,
  ...FEED_FILTERS,
};

/** One of the lists of all settlements: what it is called, and how its rows are printed. Its params may have the filters of `AfterRead`, too. */
interface FeedList<Output extends TObject>
  extends Pick<Operation<typeof FEED_PARAMS, Output>, 'id' | 'words'> {
  readonly wire: Pick<Operation<typeof FEED_PARAMS, Output>['wire'], 'path' | 'params' | 'output'>;
  /** Fields that a snapshot does not hold. */
  readonly leftOut: readonly string[];
  print(page: PrintedPage, deps: OperationDeps): Promise<Static<Output>>;
}

interface PrintedPage {
  readonly rows: readonly ListedSettlement[];
  readonly finalityOf: ReturnType<typeof finalityIn>;
  readonly isOfSnapshot: boolean;
  /** The cursors and `meta`. */
  readonly rest: Awaited<ReturnType<typeof readPage>>['cursors'] & {
    readonly meta: Static<typeof SettlementMetaShape>;
  };
}

function feedList<Output extends TObject>({ id, wire, words, leftOut, print }: FeedList<Output>) {
  /** Of this list alone: a page in memory is the same for all lists. */
  const kept = keepAnswers<Static<Output>>();
  return defineOperation({
    id,
    wire: {
      ...wire,
      fails: ['invalid_parameter', 'cursor_expired', 'snapshot_gone', 'upstream_unavailable'],
      paging: 'before',
    },
    words,
    money: { price: PRICES.keyed },
    check: (input, facts) => readCursors(id, input, facts),
    preflight: (input, deps) => preflightAsOf(input, deps),
    read: async (input, deps: SettlementDeps) => {
      const { clock, deployment, index } = deps;
      const { chain, finality } = input;
      const filters: FeedInput & AfterRead = input;
      const isShown = shownBy(filters);
      const nowMs = clock.nowMs();
      const statuses = await index.freshness.statuses();
      const { asOf, meta: state } = await stateFor(deps, input.as_of, { chain, leftOut });
      const held = await heldPage(deps, input, statuses);
      return kept(isShown === undefined ? held : undefined, nowMs, async () => {
        const page = await readFeedPage(deps, id, input, { statuses, held, isShown });
        const rows = isShown === undefined ? page.rows : page.rows.filter(isShown);
        const meta = await page.meta(
          { chain, chains: deployment.chains, statuses, nowMs, finality, ...state },
          rows,
        );
        // The cursors are those of the rows read, not shown: the walk must not end where a filter emptied a page.
        const rest = { ...page.cursors, meta: { ...meta, ...excludedIn(filters) } };
        return print(
          { rows, finalityOf: finalityIn(asOf, statuses), isOfSnapshot: asOf !== undefined, rest },
          deps,
        );
      });
    },
  });
}

const PAGE_FIELDS = { next_before: NextBeforeShape, ...FORWARD_FIELDS, meta: SettlementMetaShape };
const PAGE_EXAMPLE = { next_before: null, prev_after: null, meta: META_EXAMPLE };

export const listFlows = feedList({
  id: 'listFlows',
  wire: {
    path: '/flows',
    params: FEED_PARAMS,
    output: Type.Object({ flows: Type.Array(NamedSettlementShape), ...PAGE_FIELDS }),
  },
  words: {
    summary: 'Newest settlements across every indexed chain, payer to payee',
    description:
      'Settlements, newest first, with the display names of payer, payee and facilitator where they are known. For older pages send `next_before` back as `before`; for new rows send `prev_after` as `after` (guide: [keep a copy up to date](/docs/copies)). A filter can leave a page short while more rows remain: the list ends where `next_before` is null.',
    tool: 'The newest settlements (x402 payments) with names: payer, payee, amount_usd, facilitator. For sums use run_sql.',
    example: { flows: [NAMED_SETTLEMENT_EXAMPLE], ...PAGE_EXAMPLE },
  },
  leftOut: NAMES_LEFT_OUT.map((field) => `flows.${field}`),
  print: async ({ rows, finalityOf, isOfSnapshot, rest }, { deployment, index }) => {
    const directory = isOfSnapshot ? NO_NAMES : await index.names.of(partiesOf(rows));
    return {
      flows: rows.map((row) => namedSettlementAnswer(row, finalityOf(row), deployment, directory)),
      ...rest,
    };
  },
});

const TRANSACTION_PARAMS = {
  ...FEED_PARAMS,
  min_probability: minProbabilityParam,
  exclude_self_payments: excludeSelfPaymentsParam,
};

export const listTransactions = feedList({
  id: 'listTransactions',
  wire: {
    path: '/transactions',
    params: TRANSACTION_PARAMS,
    output: Type.Object({ transactions: Type.Array(SettlementShape), ...PAGE_FIELDS }),
  },
  words: {
    summary: 'Every indexed settlement, newest first, filterable by x402 confidence',
    description:
      'Every indexed settlement. The other filters select rows; `min_probability` and `exclude_self_payments` filter a page after it was read, so a page can be short or empty while more rows remain: keep following `next_before` until it is null. What is new comes by sending `prev_after` as `after` (guide: [keep a copy up to date](/docs/copies)).',
    tool: 'Settlements, newest first. Go on from short or empty pages until next_before is null. For sums use run_sql.',
    example: { transactions: [SETTLEMENT_EXAMPLE], ...PAGE_EXAMPLE },
  },
  leftOut: [],
  print: async ({ rows, finalityOf, rest }, { deployment }) => ({
    transactions: rows.map((row) => settlementAnswer(row, finalityOf(row), deployment)),
    ...rest,
  }),
});

type FeedInput = ReturnType<typeof readCursors<FeedCursors>>;
type Statuses = ReadonlyMap<Chain, ChainStatus>;

interface FeedCursors extends FeedFilters {
  readonly chain: Chain | undefined;
  readonly finality: FinalityFilter;
  readonly limit: number;
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly as_of: Snapshot | undefined;
}

/** Filters of a page after it was read, of a list that has them. */
interface AfterRead {
  readonly min_probability?: number | undefined;
  readonly exclude_self_payments?: boolean;
}

/** Undefined where the page has to be read: going forward, with filters, or below the held rows. */
async function heldPage(
  { tails }: SettlementDeps,
  input: FeedInput,
  statuses: Statuses,
): Promise<TailPage | undefined> {
  const isRead = input.after !== undefined || input.as_of !== undefined || isFiltered(input);
  return isRead ? undefined : tails.page(input, statuses);
}

function readFeedPage(
  deps: SettlementDeps,
  list: string,
  input: FeedInput,
  sides: {
    readonly statuses: Statuses;
    readonly held: TailPage | undefined;
    readonly isShown: ((row: ListedSettlement) => boolean) | undefined;
  },
): ReturnType<typeof readPage> {
  const { reader, clock, index } = deps;
  const { newestTime } = index.dataset;
  const { as_of: asOf, finality } = input;
  const final = asOf === undefined ? finalOnly(finality, sides.statuses) : finalOf(asOf);
  const { held, isShown } = sides;
  return readPage(deps, list, input, {
    held,
    ...(isShown === undefined ? {} : { isWanted: isShown }),
    forward: feedSource(input),
    back: () => readFeed({ reader, clock, newestTime }, { ...input, asOf, final }),
  });
}

/** Which rows of a page are shown; undefined: all. An ungraded row has no confidence: it is not at or above any. */
function shownBy({
  min_probability: minProbability,
  exclude_self_payments: excludeSelfPayments = false,
}: AfterRead): ((row: ListedSettlement) => boolean) | undefined {
  if (minProbability === undefined && !excludeSelfPayments) return undefined;
  return (row) => {
    if (excludeSelfPayments && isSelfPayment(row)) return false;
    if (minProbability === undefined) return true;
    const { probability } = EVIDENCE_LADDER[row.method];
    return probability !== null && probability >= minProbability;
  };
}

function excludedIn({ exclude_self_payments: isExcluded = false }: AfterRead): {
  readonly self_payments_excluded?: true;
} {
  return isExcluded ? { self_payments_excluded: true } : {};
}
