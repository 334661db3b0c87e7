import type { ComponentChildren } from 'preact';
import { VERDICT_MEANING } from '../../core/domain/data-quality.ts';
import type { Window } from '../../core/domain/window.ts';
import type { Column, SortControl } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Sparkline, type SparkPoint } from '../components/sparkline.tsx';
import { Change } from '../components/stat.tsx';
import { Time } from '../components/time.tsx';
import { countText, moneyText } from '../format.ts';
import { offsetOf, pick, withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { RankedRow, Rankings } from '../wire.ts';
import { VerdictChip } from './data-quality.tsx';
import { WINDOW_BEFORE, windowOf } from './windows.ts';

/** Rankings by payments, as every page shows them: the request, and the columns that all subjects share. */

export type RankedSubject = Rankings['meta']['of'];
export type RankedOrder = Rankings['meta']['by'];
type RankingMeta = Rankings['meta'];

const PAGE_ROWS = 50;
/** Parameters of the address that are sent as they are. */
const FILTERS = ['window', 'capability', 'min_counterparties', 'include_flagged'] as const;

interface RankingQuestion {
  readonly of: RankedSubject;
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly by: RankedOrder;
}

/** A ranking with its page, order, window and filters in the address. Every chain together, unless the address names one. */
export function useRanking({ of, path, query, by }: RankingQuestion) {
  const chosen = pick(query, FILTERS);
  const chain = query.get('chain');
  const { answer, problem, reload } = useAnswer<Rankings>('/leaderboard', {
    query: { ...chosen, of, by, chain, offset: offsetOf(query), limit: PAGE_ROWS },
  });
  const isFiltered = chain !== null || Object.keys(chosen).some((name) => name !== 'window');
  return {
    answer,
    rows: answer?.leaderboard ?? null,
    list: {
      meta: answer?.meta ?? null,
      problem,
      reload,
      isFiltered,
      paging: { path, query, limit: PAGE_ROWS, nextOffset: answer?.next_offset ?? null },
    },
  };
}

interface RankingSort {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly by: RankedOrder;
}

/** Headers that rank by their column. A ranking has one direction; growth needs a window, which all of time does not have. */
export function rankingSort({ path, query, by }: RankingSort): SortControl {
  return {
    by,
    isDescending: true,
    to: (next) =>
      withQuery(path, query, {
        by: next,
        offset: null,
        ...(next === 'growth' && windowOf(query) === 'all' ? { window: null } : {}),
      }),
  };
}

/** The order of an address; the first one where it names none that the subject has. */
export function orderOf(query: URLSearchParams, orders: readonly RankedOrder[]): RankedOrder {
  const text = query.get('by');
  return orders.find((by) => by === text) ?? orders[0] ?? 'settlements';
}

/** Of an order by number, the ranked figure and its sparkline are numbers; otherwise dollars. */
export function isMoney(by: RankedOrder): boolean {
  return by !== 'settlements' && by !== 'counterparties';
}

/**
 * The window that rows are compared with the one before: of an index that begins within that one every row would be new, so that nothing is
 * compared, as over all of time.
 */
export function comparedWindow(window: Window, rows: readonly RankedRow[] | null): Window {
  const hasBefore = (row: RankedRow): boolean => row.previous_rank !== null || (row.previous_value ?? 0) > 0;
  return rows !== null && rows.length > 1 && !rows.some(hasBefore) ? 'all' : window;
}

export function rankColumn(window: Window): Column<RankedRow> {
  return {
    name: 'Rank',
    class: 'rank',
    card: 'head',
    help: `Place, and how many places it moved since ${WINDOW_BEFORE[window]}`,
    cell: (row) => (
      <>
        <span class="rank-place">{countText(row.rank)}</span>
        <RankMove row={row} window={window} />
      </>
    ),
  };
}

/** The places that a row moved, with the former place as its title. */
export function RankMove({ row, window }: { readonly row: RankedRow; readonly window: Window }) {
  if (window === 'all') return null;
  const { rank, previous_rank: before } = row;
  if (before === null)
    return (
      <span class="rank-move muted" title={`Not ranked in ${WINDOW_BEFORE[window]}, or not known`}>
        new
      </span>
    );
  const title = `Place ${countText(before)} in ${WINDOW_BEFORE[window]}`;
  if (before === rank)
    return (
      <span class="rank-move muted" title={title}>
        <span aria-hidden="true">=</span>
        <span class="visually-hidden">same place</span>
      </span>
    );
  const isUp = before > rank;
  return (
    <span class={`rank-move ${isUp ? 'good' : 'bad'}`} title={title}>
      <MoveSign isUp={isUp} />
      <span class="visually-hidden">{isUp ? 'up' : 'down'}</span>
      {countText(Math.abs(before - rank))}
    </span>
  );
}

/** A triangle; drawn, because not every font has the characters. */
function MoveSign({ isUp }: { readonly isUp: boolean }) {
  return (
    <svg class="move-sign" viewBox="0 0 8 8" width="8" height="8" aria-hidden="true" focusable="false">
      <path d={isUp ? 'M4 1 7.5 7h-7z' : 'M4 7 .5 1h7z'} />
    </svg>
  );
}

/** The line of the ranked figure over the window. */
export function trendColumn(
  meta: RankingMeta | null,
  colourOf?: (row: RankedRow) => string,
): Column<RankedRow> {
  return {
    name: 'Trend',
    class: 'trend',
    priority: 2,
    help: 'The figure that ranks, in equal parts of the window; the newest part is not over',
    cell: (row) => (
      <Trend row={row} meta={meta} {...(colourOf === undefined ? {} : { colour: colourOf(row) })} />
    ),
  };
}

interface TrendProps {
  readonly row: RankedRow;
  readonly meta: RankingMeta | null;
  readonly colour?: string;
  readonly width?: number;
  readonly height?: number;
}

export function Trend({ row, meta, ...style }: TrendProps) {
  // Sparklines of growth are of the dollars whose gain ranks.
  const inDollars = isMoney(meta?.by ?? 'settlements');
  return (
    <Sparkline
      name={inDollars ? 'Dollars' : 'Settlements'}
      points={pointsOf(row.sparkline, meta?.sparkline ?? null)}
      format={(value) => (inDollars ? moneyText(value) : countText(value))}
      {...style}
    />
  );
}

/** How the ranked figure changed; sorts by what the dollars gained. */
export function changeColumn(window: Window, by: RankedOrder): Column<RankedRow> {
  return {
    name: 'Change',
    isFigure: true,
    card: 'meta',
    help: `Of the figure that ranks, against ${WINDOW_BEFORE[window]}. Sorts by the dollars gained`,
    sortKey: 'growth',
    cell: (row) => (
      <>
        {by === 'growth' ? (
          <>
            +<Money usd={row.value} />{' '}
          </>
        ) : null}
        <RowChange row={row} window={window} />
      </>
    ),
  };
}

export function RowChange({ row, window }: { readonly row: RankedRow; readonly window: Window }) {
  if (window === 'all') return <span class="muted">–</span>;
  return <Change share={row.change} since={WINDOW_BEFORE[window]} />;
}

export const VERDICT_COLUMN: Column<RankedRow> = {
  name: 'Verdict',
  card: 'meta',
  help: 'What the data-quality rule says of the payments of the window',
  cell: ({ data_quality: verdict }) =>
    verdict === undefined ? (
      <span class="muted">–</span>
    ) : (
      <span title={VERDICT_MEANING[verdict]}>
        <VerdictChip verdict={verdict} />
      </span>
    ),
};

/** The figure that ranks, alone: for short lists. */
export function RankedFigure({ row, by }: { readonly row: RankedRow; readonly by: RankedOrder }) {
  if (!isMoney(by)) return <>{countText(row.value)}</>;
  return (
    <span>
      {by === 'growth' ? '+' : ''}
      <Money usd={row.value} isShort />
    </span>
  );
}

interface RankedAtProps {
  readonly answer: Rankings | null;
  /** Further facts about the list. */
  readonly children?: ComponentChildren;
}

/** When the ranking was made. A new deployment ranks its wallets for the first time. */
export function RankedAt({ answer, children }: RankedAtProps) {
  if (answer === null) return null;
  const isPending = answer.meta.warnings?.includes('rankings_not_computed') ?? false;
  return (
    <p class="muted small ranked-at">
      {isPending ? (
        'Payments are being added up for the first time. The ranking appears when that is done.'
      ) : (
        <>
          Ranked <Time at={answer.meta.ranked_at} ago />. {children}
        </>
      )}
    </p>
  );
}

interface SparklineParts {
  readonly from: string;
  readonly step_seconds: number;
}

const HOUR_SECONDS = 3_600;

/** The parts of a sparkline with their names: `2026-11-20`, or `2026-11-20 09:00` where a part is an hour. */
function pointsOf(values: readonly number[], parts: SparklineParts | null): SparkPoint[] {
  const fromMs = Date.parse(parts?.from ?? '');
  const step = parts?.step_seconds ?? 0;
  return values.map((value, at) => {
    if (Number.isNaN(fromMs)) return { label: `part ${at + 1}`, value };
    const startMs = fromMs + at * step * 1_000;
    const time = new Date(startMs).toISOString();
    const label = step <= HOUR_SECONDS ? time.slice(0, 16).replace('T', ' ') : time.slice(0, 10);
    return { label, value, isOpen: startMs + step * 1_000 > Date.now() };
  });
}
