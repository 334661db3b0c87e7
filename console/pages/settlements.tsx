import { useState } from 'preact/hooks';
import { ListState } from '../components/list-state.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { newerThan } from '../flow/live-copy.ts';
import { useLiveFlow } from '../flow/use-live-flow.ts';
import { microsOf } from '../format.ts';
import { TIER_NAMES } from '../parts/evidence.tsx';
import { FlowPictureView } from '../parts/flow-picture.tsx';
import { FreshnessStrip } from '../parts/health.tsx';
import { LiveSign } from '../parts/live-sign.tsx';
import {
  CheckFilter,
  DateFilter,
  FilterForm,
  PageHead,
  SelectFilter,
  TextFilter,
  useChainOptions,
} from '../parts/page-head.tsx';
import { PageTabs } from '../parts/page-tabs.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { Link } from '../router.tsx';
import { type PageProps, pick } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
import type { Flows, Settlement, Transactions } from '../wire.ts';

/** The newest settlements on all indexed chains, updated while the page is open. */
export function FlowPage(_props: PageProps) {
  const [isPaused, pause] = useState(false);
  const flow = useLiveFlow({ most: FLOW_SHOWN, isPaused });
  const { rows, meta, problem, reload } = flow;
  return (
    <>
      <PageHead title="Live flow">
        x402 settlements as they are indexed: payer, facilitator, payee, and how sure it is that they are
        x402.
      </PageHead>
      <Tabs current={FLOW_PATH} />
      <FreshnessStrip />
      <ListState what="settlements" rows={rows} meta={meta} problem={problem} reload={reload}>
        <div class="panel flow-panel">
          <div class="panel-head">
            <PageFigures rows={rows ?? []} />
            <div class="row">
              <LiveSign isAsking={flow.isAsking} hasProblem={problem !== null} />
              <button type="button" class="button" onClick={() => pause(!isPaused)}>
                {isPaused ? 'Continue' : 'Pause'}
              </button>
            </div>
          </div>
          <FlowPictureView rows={rows ?? []} />
        </div>
        <SettlementTable
          caption={`The newest ${FLOW_SHOWN} settlements`}
          rows={rows ?? []}
          isNew={flow.isNew}
        />
        <p class="list-foot">
          <Link to={PATH}>All settlements, with filters</Link>
        </p>
      </ListState>
    </>
  );
}

const FLOW_PATH = '/flow';
const FLOW_SHOWN = 50;

function Tabs({ current }: { readonly current: string }) {
  const tabs = [
    { to: FLOW_PATH, title: 'Live flow' },
    { to: PATH, title: 'All settlements' },
  ];
  return (
    <PageTabs label="Settlements" tabs={tabs.map((tab) => ({ ...tab, isCurrent: tab.to === current }))} />
  );
}

/** Figures of the rows on the page only: the API has no totals over all wallets. */
function PageFigures({ rows }: { readonly rows: readonly Settlement[] }) {
  const sum = rows.reduce((total, row) => total + microsOf(row.amount_usd), 0n);
  const proven = rows.filter((row) => row.evidence.tier === 'proven').length;
  const largest = rows.reduce((most, row) => Math.max(most, row.amount_usd ?? 0), 0);
  return (
    <Stats isPlain>
      <Stat name={`In the newest ${rows.length}`}>
        <Money usd={sum} />
      </Stat>
      <Stat name="Largest">
        <Money usd={largest} />
      </Stat>
      <Stat name="Proven">{`${proven} of ${rows.length}`}</Stat>
      <Stat name="Payers">{String(new Set(rows.map((row) => row.payer)).size)}</Stat>
      <Stat name="Payees">{String(new Set(rows.map((row) => row.payee)).size)}</Stat>
    </Stats>
  );
}

const PATH = '/transactions';
const FILTERS = [
  'chain',
  'facilitator',
  'tier',
  'since',
  'until',
  'min_usd',
  'max_usd',
  'kind',
  'channel',
  'min_probability',
  'exclude_self_payments',
] as const;
/** What `/flows`, which has names, does not filter by. */
const NAMELESS_FILTERS = ['min_probability', 'exclude_self_payments'] as const;
const PAGE_ROWS = 50;
const FACILITATOR_MAX = 64;

const TIERS = [
  { value: '', label: 'all tiers' },
  ...Object.entries(TIER_NAMES).map(([value, label]) => ({ value, label })),
];
const PROBABILITIES = [
  { value: '', label: 'any' },
  { value: '1', label: '1: proven' },
  { value: '0.9', label: '0.9 and more' },
  { value: '0.7', label: '0.7 and more' },
  { value: '0.3', label: '0.3 and more' },
];
const KINDS = [
  { value: '', label: 'all kinds' },
  ...['payment', 'deposit', 'payout', 'refund', 'withdrawal', 'void'].map((kind) => ({
    value: kind,
    label: kind,
  })),
];
const AMOUNT_MAX = 20;

/** Every indexed settlement, newest first. */
export function TransactionsPage({ query }: PageProps) {
  const chosen = pick(query, FILTERS);
  const hasNames = NAMELESS_FILTERS.every((name) => !(name in chosen));
  const api = hasNames ? '/flows' : PATH;
  const { rows, ...list } = useCursorList<Flows | Transactions, Settlement>(
    api,
    { ...chosen, limit: PAGE_ROWS },
    (answer) => ('flows' in answer ? answer.flows : answer.transactions),
  );
  return (
    <>
      <PageHead title="Settlements">
        Every indexed settlement, newest first, with how sure it is that it was an x402 payment.
      </PageHead>
      <Tabs current={PATH} />
      <SettlementFilters query={query} />
      <NewerSettlements
        api={api}
        filters={chosen}
        after={list.after}
        first={rows?.[0]}
        onShow={list.reload}
      />
      <SettlementTable
        caption="Settlements, newest first"
        rows={rows}
        list={{ what: 'settlements', isFiltered: Object.keys(chosen).length > 0, ...list }}
      />
    </>
  );
}

function SettlementFilters({ query }: { readonly query: URLSearchParams }) {
  const field = { path: PATH, query };
  return (
    <FilterForm label="Filter settlements" query={query}>
      <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
      <SelectFilter {...field} label="Tier" name="tier" options={TIERS} />
      <SelectFilter {...field} label="Kind" name="kind" options={KINDS} />
      <SelectFilter {...field} label="Probability" name="min_probability" options={PROBABILITIES} />
      <TextFilter
        {...field}
        label="Facilitator"
        name="facilitator"
        placeholder="id, such as coinbase"
        maxLength={FACILITATOR_MAX}
      />
      <DateFilter {...field} label="From day (UTC)" name="since" />
      <DateFilter {...field} label="Before day (UTC)" name="until" />
      <TextFilter {...field} label="Dollars from" name="min_usd" placeholder="0.01" maxLength={AMOUNT_MAX} />
      <TextFilter {...field} label="Dollars up to" name="max_usd" placeholder="100" maxLength={AMOUNT_MAX} />
      <CheckFilter {...field} label="Without payments to oneself" name="exclude_self_payments" />
    </FilterForm>
  );
}

/** Newer rows are counted this often, and shown when the visitor asks: a list that one reads must not move. */
const NEWER_EVERY_MS = 10_000;
const NEWER_MAX = 100;

interface NewerProps {
  readonly api: string;
  readonly filters: Readonly<Record<string, string>>;
  /** The cursor of the list; null where it cannot be read forward. */
  readonly after: string | null;
  /** The first row of the list. */
  readonly first: Settlement | undefined;
  onShow(): void;
}

function NewerSettlements({ api, filters, after, first, onShow }: NewerProps) {
  const { answer } = useAnswer<Flows | Transactions>(after === null ? null : api, {
    query: { ...filters, after, limit: NEWER_MAX },
    refreshMs: NEWER_EVERY_MS,
  });
  if (answer === null) return null;
  const count = newerThan(first, 'flows' in answer ? answer.flows : answer.transactions).length;
  if (count === 0) return null;
  const more = answer.has_more === true ? ' or more' : '';
  return (
    <p class="newer">
      <button type="button" class="button" onClick={onShow}>
        {count === 1 && more === '' ? 'Show 1 newer settlement' : `Show ${count}${more} newer settlements`}
      </button>
    </p>
  );
}
