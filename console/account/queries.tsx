import { useState } from 'preact/hooks';
import { ApiProblem, change, segment } from '../api.ts';
import { Chip } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { announce, EmptyState, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { countText, millisecondsText } from '../format.ts';
import { Link } from '../router.tsx';
import type { PageProps } from '../routes.ts';
import { fragmentOf } from '../sql/query-text.ts';
import { useCursorList } from '../use-list.ts';
import type { QueryRun, QueryRuns } from '../wire.ts';
import { AccountHead } from './account-head.tsx';

const PAGE_ROWS = 50;

/** The SQL that an organization ran. Only it sees them, and it can have them forgotten. */
export function QueriesPage(_props: PageProps) {
  const { rows, ...list } = useCursorList<QueryRuns & { meta: Record<string, never> }, QueryRun>(
    '/account/queries',
    { limit: PAGE_ROWS },
    ({ queries }) => queries,
  );
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const forget = async (id: string): Promise<void> => {
    setProblem(null);
    try {
      const { forgotten } = await change<{ forgotten: number }>('DELETE', `/account/queries/${segment(id)}`);
      announce(`${countText(forgotten)} forgotten`);
      list.reload();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
    }
  };
  return (
    <>
      <AccountHead title="Queries" path="/account/queries">
        Every query of the last 30 days that your account ran, over any surface. Only your account sees them.
      </AccountHead>
      {problem === null ? null : <ProblemState problem={problem} />}
      {rows === null || rows.length === 0 ? null : <ForgetAll forget={() => forget('all')} />}
      <DataTable
        caption="Queries, newest first"
        columns={columnsOf(forget)}
        rows={rows}
        keyOf={({ id }) => id}
        list={{ what: 'queries', ...list }}
        empty={
          <EmptyState
            title="No queries"
            actions={
              <Link class="button" to="/sql">
                Write one
              </Link>
            }
          >
            <p>Queries you run on the SQL page, over the API or with an agent appear here within seconds.</p>
          </EmptyState>
        }
      />
    </>
  );
}

function ForgetAll({ forget }: { forget(): Promise<void> }) {
  const [isAsking, ask] = useState(false);
  if (!isAsking)
    return (
      <div class="row tool-row">
        <button type="button" class="button" onClick={() => ask(true)}>
          Forget all
        </button>
      </div>
    );
  return (
    <div class="row tool-row">
      <span>
        Texts and figures of all queries are removed at once and cannot be read again. Charges stay.
      </span>
      <button type="button" class="button danger" onClick={() => void forget().then(() => ask(false))}>
        Forget all queries
      </button>
      <button type="button" class="button" onClick={() => ask(false)}>
        Keep
      </button>
    </div>
  );
}

function columnsOf(forget: (id: string) => Promise<void>): readonly Column<QueryRun>[] {
  return [
    {
      name: 'Query',
      class: 'query-cell',
      cell: ({ sql, sql_cut: isCut, tier }) =>
        isCut ? (
          <code class="clamp" title="The text was too long to be kept whole.">
            {sql}…
          </code>
        ) : (
          <Link to={`/sql${fragmentOf({ sql, tier, params: {} })}`} title="Open on the SQL page">
            <code class="clamp">{sql}</code>
          </Link>
        ),
    },
    {
      name: 'Status',
      cell: ({ status }) => (
        <Chip tone={status === 'succeeded' ? 'good' : 'bad'}>{status.replaceAll('_', ' ')}</Chip>
      ),
    },
    { name: 'Run', cell: ({ started_at: at }) => <Time at={at} ago /> },
    {
      name: 'Rows',
      isFigure: true,
      priority: 2,
      cell: ({ rows }) => (rows === null ? '–' : countText(rows)),
    },
    { name: 'Took', isFigure: true, priority: 3, cell: ({ duration_ms: ms }) => millisecondsText(ms) },
    {
      name: 'Units',
      isFigure: true,
      cell: ({ units_charged: units, max_qu: most }) => (
        <span title={`It could have cost ${countText(most)}`}>{countText(units)}</span>
      ),
    },
    { name: 'Over', priority: 3, cell: ({ surface }) => surface },
    {
      name: 'Forget',
      cell: ({ id }) => (
        <button type="button" class="button" onClick={() => void forget(id)}>
          Forget
        </button>
      ),
    },
  ];
}
