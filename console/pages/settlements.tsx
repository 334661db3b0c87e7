import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiProblem } from '../api.ts';
import { Figure } from '../components/figures.tsx';
import { announce } from '../components/states.tsx';
import { microsOf, usdText, usdTextOfMicros } from '../format.ts';
import { ListState } from '../parts/data-table.tsx';
import { TIER_NAMES } from '../parts/evidence.tsx';
import { FreshnessStrip } from '../parts/health.tsx';
import {
  CheckFilter,
  FilterForm,
  PageHead,
  SelectFilter,
  TextFilter,
  useChainOptions,
} from '../parts/page-head.tsx';
import { FlowPictureView } from '../parts/pictures.tsx';
import { SettlementTable, settlementKey } from '../parts/settlement-table.tsx';
import { Link } from '../router.tsx';
import { type PageProps, pick } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
import type { Flows, Settlement, Transactions } from '../wire.ts';

/** The newest settlements on all indexed chains, updated live. */
export function FlowsPage(_props: PageProps) {
  const [isPaused, pause] = useState(false);
  const flows = useLiveFlows(isPaused);
  const { rows, meta, problem, reload } = flows;
  return (
    <>
      <PageHead title="Live flow of funds">
        x402 settlements as they are indexed: payer, facilitator, payee, and how sure it is that they are
        x402.
      </PageHead>
      <FreshnessStrip />
      <ListState what="settlements" rows={rows} meta={meta} problem={problem} reload={reload}>
        <div class="panel flow-panel">
          <div class="panel-head">
            <PageFigures rows={rows ?? []} />
            <LiveSwitch flows={flows} isPaused={isPaused} onPause={pause} />
          </div>
          <FlowPictureView rows={rows ?? []} />
        </div>
        <SettlementTable
          caption={`The newest ${FLOWS_SHOWN} settlements`}
          rows={rows ?? []}
          isNew={flows.isNew}
        />
        <p class="list-foot">
          <Link to="/transactions">All settlements, with filters</Link>
        </p>
      </ListState>
    </>
  );
}

interface LiveSwitchProps {
  readonly flows: LiveFlows;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}

const LIVE_DOTS = { live: 'dot good is-live', 'no answer': 'dot warn', paused: 'dot' } as const;

function LiveSwitch({ flows, isPaused, onPause }: LiveSwitchProps) {
  const answering = flows.problem === null ? 'live' : 'no answer';
  const state = flows.isLive ? answering : 'paused';
  return (
    <div class="row">
      <span class="live">
        <span class={LIVE_DOTS[state]} aria-hidden="true" />
        {state}
      </span>
      <button type="button" class="button" onClick={() => onPause(!isPaused)}>
        {isPaused ? 'Continue' : 'Pause'}
      </button>
    </div>
  );
}

/** Figures of the rows on the page only: the API has no totals over all wallets. */
function PageFigures({ rows }: { readonly rows: readonly Settlement[] }) {
  const sum = rows.reduce((total, row) => total + microsOf(row.amount_usd), 0n);
  const proven = rows.filter((row) => row.evidence.tier === 'proven').length;
  const largest = rows.reduce((most, row) => Math.max(most, row.amount_usd), 0);
  return (
    <dl class="figures">
      <Figure name={`In the newest ${rows.length}`}>{usdTextOfMicros(sum)}</Figure>
      <Figure name="Largest">{usdText(largest)}</Figure>
      <Figure name="Proven">{`${proven} of ${rows.length}`}</Figure>
      <Figure name="Payers">{String(new Set(rows.map((row) => row.payer)).size)}</Figure>
      <Figure name="Payees">{String(new Set(rows.map((row) => row.payee)).size)}</Figure>
    </dl>
  );
}

/** 20 requests a minute, of the 600 that an anonymous caller may send. Base makes a block every two seconds. */
const POLL_MS = 3_000;
/** Screen readers are notified of new rows at most this often, and only of their number. */
const ANNOUNCE_EVERY_MS = 15_000;
const FLOWS_SHOWN = 50;

interface LiveFlows {
  readonly rows: readonly Settlement[] | null;
  readonly meta: Flows['meta'] | null;
  readonly problem: ApiProblem | null;
  readonly isLive: boolean;
  isNew(key: string): boolean;
  reload(): void;
}

/**
 * The newest settlements, polled while the tab is visible. The browser revalidates by ETag, so that an unchanged page costs no
 * transfer. A problem without Retry-After stops the polling until the visitor retries or changes the key; one with it delays it.
 */
function useLiveFlows(isPaused: boolean): LiveFlows {
  const [isStopped, stop] = useState(false);
  const isLive = !isPaused && !isStopped;
  const { answer, problem, reload } = useAnswer<Flows>('/flows', {
    query: { limit: FLOWS_SHOWN },
    ...(isLive ? { refreshMs: POLL_MS } : {}),
  });
  useEffect(() => stop(problem !== null && problem.retryAfterSeconds === null), [problem]);
  const isNew = useNewKeys(answer?.flows ?? null);
  return { rows: answer?.flows ?? null, meta: answer?.meta ?? null, problem, isLive, isNew, reload };
}

/** Which rows are new in the newest answer; none in the first one. */
function useNewKeys(rows: readonly Settlement[] | null): (key: string) => boolean {
  const known = useRef<ReadonlySet<string> | null>(null);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const pending = useRef({ count: 0, sinceMs: 0 });
  useEffect(() => {
    if (rows === null) return;
    const keys = rows.map(settlementKey);
    const before = known.current;
    known.current = new Set(keys);
    if (before === null) return;
    const added = keys.filter((key) => !before.has(key));
    setFresh(new Set(added));
    announceSometimes(pending.current, added.length);
  }, [rows]);
  return (key) => fresh.has(key);
}

function announceSometimes(pending: { count: number; sinceMs: number }, added: number): void {
  pending.count += added;
  const nowMs = Date.now();
  if (pending.count === 0 || nowMs - pending.sinceMs < ANNOUNCE_EVERY_MS) return;
  announce(pending.count === 1 ? 'One new settlement' : `${pending.count} new settlements`);
  pending.count = 0;
  pending.sinceMs = nowMs;
}

const PATH = '/transactions';
const FILTERS = ['chain', 'facilitator', 'tier', 'min_probability', 'exclude_self_payments'] as const;
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

/** Every indexed settlement, newest first. */
export function TransactionsPage({ query }: PageProps) {
  const chosen = pick(query, FILTERS);
  const { rows, ...list } = useCursorList<Transactions, Settlement>(
    PATH,
    { ...chosen, limit: PAGE_ROWS },
    ({ transactions }) => transactions,
  );
  const field = { path: PATH, query };
  return (
    <>
      <PageHead title="Settlements">
        Every indexed settlement, newest first, with how sure it is that it was an x402 payment.
      </PageHead>
      <FilterForm label="Filter settlements">
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('all chains')} />
        <SelectFilter {...field} label="Tier" name="tier" options={TIERS} />
        <SelectFilter {...field} label="Probability" name="min_probability" options={PROBABILITIES} />
        <TextFilter
          {...field}
          label="Facilitator"
          name="facilitator"
          placeholder="id, such as coinbase"
          maxLength={FACILITATOR_MAX}
        />
        <CheckFilter {...field} label="Without payments to oneself" name="exclude_self_payments" />
      </FilterForm>
      <SettlementTable
        caption="Settlements, newest first"
        rows={rows}
        list={{ what: 'settlements', isFiltered: Object.keys(chosen).length > 0, ...list }}
      />
    </>
  );
}
