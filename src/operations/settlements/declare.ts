import { type Static, Type } from '@sinclair/typebox';
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
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import type { ChainStatus } from '../index-state/chain-status.ts';
import { type FinalityFilter, finalOnly } from '../index-state/finality.ts';
import { META_EXAMPLE, SettlementMetaShape } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { NextBeforeShape } from '../shapes.ts';
import { feedSource, readFeed } from './feed.ts';
import { FEED_FILTERS, type FeedFilters, isFiltered } from './filters.ts';
import { FORWARD_FIELDS } from './forward.ts';
import { keepAnswers, readCursors, readPage } from './list.ts';
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

const FLOWS_SCOPE = 'listFlows';
const FLOWS_LEFT_OUT = NAMES_LEFT_OUT.map((field) => `flows.${field}`);
const FLOWS_OUTPUT = Type.Object({
  flows: Type.Array(NamedSettlementShape),
  next_before: NextBeforeShape,
  ...FORWARD_FIELDS,
  meta: SettlementMetaShape,
});

export const listFlows = defineOperation({
  id: FLOWS_SCOPE,
  method: 'GET',
  path: '/flows',
  summary: 'Newest settlements across every indexed chain, payer to payee',
  description:
    'Settlements, newest first, with the display names of payer, payee and facilitator where they are known. Walk older pages by sending `next_before` back as `before`, and read what is new by sending `prev_after` as `after` (guide: [keep a copy up to date](/docs/copies)). A filter can leave a page short while more rows remain: the list ends where `next_before` is null.',
  toolText:
    'The newest settlements (x402 payments) with names: payer, payee, amount_usd, facilitator. For sums use run_sql.',
  price: PRICES.keyed,
  params: {
    limit: limitParam,
    before: beforeParam,
    after: afterParam,
    chain: chainParam,
    finality: finalityParam,
    as_of: asOfParam,
    ...FEED_FILTERS,
  },
  output: FLOWS_OUTPUT,
  fails: ['invalid_parameter', 'cursor_expired', 'snapshot_gone', 'upstream_unavailable'],
  paging: 'before',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: { flows: [NAMED_SETTLEMENT_EXAMPLE], next_before: null, prev_after: null, meta: META_EXAMPLE },
  check: (input, facts) => readCursors(FLOWS_SCOPE, input, facts),
  preflight: (input, deps) => preflightAsOf(input, deps),
  shared: 'all',
  run: async (input, deps) => {
    const { chain, finality } = input;
    const { clock, deployment, index } = deps;
    const { chains } = deployment;
    const nowMs = clock.nowMs();
    const statuses = await index.freshness.statuses();
    const { asOf, meta } = await stateFor(deps, input.as_of, { chain, leftOut: FLOWS_LEFT_OUT });
    const finalityOf = finalityIn(asOf, statuses);
    const held = await heldPage(deps, input, statuses);
    return keptFlows(held, nowMs, async () => {
      const page = await readFeedPage(deps, FLOWS_SCOPE, input, { statuses, held });
      const directory = asOf === undefined ? await index.names.of(partiesOf(page.rows)) : NO_NAMES;
      return {
        flows: page.rows.map((row) => namedSettlementAnswer(row, finalityOf(row), deployment, directory)),
        ...page.cursors,
        meta: await page.meta({ chain, chains, statuses, nowMs, finality, ...meta }, page.rows),
      };
    });
  },
});

const TRANSACTIONS_SCOPE = 'listTransactions';
const TRANSACTIONS_OUTPUT = Type.Object({
  transactions: Type.Array(SettlementShape),
  next_before: NextBeforeShape,
  ...FORWARD_FIELDS,
  meta: SettlementMetaShape,
});

interface AfterRead {
  readonly minProbability: number | undefined;
  readonly excludeSelfPayments: boolean;
}

export const listTransactions = defineOperation({
  id: TRANSACTIONS_SCOPE,
  method: 'GET',
  path: '/transactions',
  summary: 'Every indexed settlement, newest first, filterable by x402 confidence',
  description:
    'Every indexed settlement. The other filters select rows; `min_probability` and `exclude_self_payments` filter a page after it was read, so a page can be short or empty while more rows remain: keep following `next_before` until it is null. What is new comes by sending `prev_after` as `after` (guide: [keep a copy up to date](/docs/copies)).',
  toolText:
    'Settlements, newest first. Go on from short or empty pages until next_before is null. For sums use run_sql.',
  price: PRICES.keyed,
  params: {
    limit: limitParam,
    before: beforeParam,
    after: afterParam,
    chain: chainParam,
    finality: finalityParam,
    as_of: asOfParam,
    ...FEED_FILTERS,
    min_probability: minProbabilityParam,
    exclude_self_payments: excludeSelfPaymentsParam,
  },
  output: TRANSACTIONS_OUTPUT,
  fails: ['invalid_parameter', 'cursor_expired', 'snapshot_gone', 'upstream_unavailable'],
  paging: 'before',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: { transactions: [SETTLEMENT_EXAMPLE], next_before: null, prev_after: null, meta: META_EXAMPLE },
  check: (input, facts) => readCursors(TRANSACTIONS_SCOPE, input, facts),
  preflight: (input, deps) => preflightAsOf(input, deps),
  shared: 'all',
  run: async (input, deps) => {
    const { clock, deployment, index } = deps;
    const { chains } = deployment;
    const {
      chain,
      finality,
      min_probability: minProbability,
      exclude_self_payments: excludeSelfPayments,
    } = input;
    const nowMs = clock.nowMs();
    const statuses = await index.freshness.statuses();
    const isShown = (row: ListedSettlement): boolean =>
      isWanted(row, { minProbability, excludeSelfPayments });
    const state = await stateFor(deps, input.as_of, { chain, leftOut: [] });
    const finalityOf = finalityIn(state.asOf, statuses);
    const held = await heldPage(deps, input, statuses);
    const isWhole = minProbability === undefined && !excludeSelfPayments;
    return keptTransactions(isWhole ? held : undefined, nowMs, async () => {
      const page = await readFeedPage(deps, TRANSACTIONS_SCOPE, input, { statuses, held, isWanted: isShown });
      const shown = page.rows.filter(isShown);
      const facts = { chain, chains, statuses, nowMs, finality, ...state.meta };
      const meta = await page.meta(facts, shown);
      return {
        transactions: shown.map((row) => settlementAnswer(row, finalityOf(row), deployment)),
        // From rows read, not rows shown: the walk must not end where a filter emptied a page.
        ...page.cursors,
        meta: excludeSelfPayments ? { ...meta, self_payments_excluded: true } : meta,
      };
    });
  },
});

/** Of one list each: a page in memory is the same for both. */
const keptFlows = keepAnswers<Static<typeof FLOWS_OUTPUT>>();
const keptTransactions = keepAnswers<Static<typeof TRANSACTIONS_OUTPUT>>();

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

/** Undefined where the page has to be read: going forward, with filters, or below the held rows. */
async function heldPage(
  { index }: OperationDeps,
  input: FeedInput,
  statuses: Statuses,
): Promise<TailPage | undefined> {
  const isRead = input.after !== undefined || input.as_of !== undefined || isFiltered(input);
  return isRead ? undefined : index.tails.page(input, statuses);
}

function readFeedPage(
  deps: OperationDeps,
  list: string,
  input: FeedInput,
  sides: {
    readonly statuses: Statuses;
    readonly held: TailPage | undefined;
    readonly isWanted?: (row: ListedSettlement) => boolean;
  },
): ReturnType<typeof readPage> {
  const { reader, clock, index } = deps;
  const { newestTime } = index.dataset;
  const { as_of: asOf, finality } = input;
  const final = asOf === undefined ? finalOnly(finality, sides.statuses) : finalOf(asOf);
  return readPage(deps, list, input, {
    ...sides,
    forward: feedSource(input),
    back: () => readFeed({ reader, clock, newestTime }, { ...input, asOf, final }),
  });
}

/** An ungraded row has no confidence: it is not at or above any. */
function isWanted(row: ListedSettlement, { minProbability, excludeSelfPayments }: AfterRead): boolean {
  if (excludeSelfPayments && isSelfPayment(row)) return false;
  if (minProbability === undefined) return true;
  const { probability } = EVIDENCE_LADDER[row.method];
  return probability !== null && probability >= minProbability;
}
