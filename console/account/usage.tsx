import { useMemo } from 'preact/hooks';
import { DayChart } from '../chart/day-chart.tsx';
import { COUNT_TYPE } from '../chart/spec.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { countText } from '../format.ts';
import { Link } from '../router.tsx';
import { type PageProps, withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { AccountKeys, Usage, UsageRow } from '../wire.ts';
import { AccountHead } from './account-head.tsx';

const PATH = '/account/usage';
const DAYS = [7, 30, 90] as const;
const DAYS_DEFAULT = 30;
const DAY_MS = 86_400_000;
/** The most that a page of keys holds. */
const KEYS_MAX = 100;

/** What the account used: by day, by operation and by key. */
export function UsagePage({ query }: PageProps) {
  const days = DAYS.find((one) => String(one) === query.get('days')) ?? DAYS_DEFAULT;
  const since = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const { answer, problem, reload } = useAnswer<Usage>('/account/usage', { query: { since, group: 'day' } });
  return (
    <>
      <AccountHead title="Usage" path={PATH}>
        Calls, Query Units and dollars, by UTC day, operation and key.
      </AccountHead>
      <nav class="segmented" aria-label="Days">
        {DAYS.map((one) => (
          <Link
            key={one}
            to={withQuery(PATH, query, { days: one === DAYS_DEFAULT ? null : String(one) })}
            current={one === days}
          >
            {one} days
          </Link>
        ))}
      </nav>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="your usage" lines={6} /> : null}
      {answer === null ? null : <UsageBody answer={answer} since={since} />}
    </>
  );
}

function UsageBody({ answer, since }: { readonly answer: Usage; readonly since: string }) {
  const { totals, rows } = answer;
  const days = useMemo(() => rows.map((row) => ({ ...row, date: row.day ?? '' })), [rows]);
  if (totals.calls === 0 && totals.sold_calls === 0)
    return (
      <EmptyState
        title="No call was answered in these days"
        actions={
          <>
            <Link class="button" to="/sql">
              Run a query
            </Link>
            <a href="/docs/quickstart">Quickstart</a>
          </>
        }
      >
        <p>Calls with any key of your organization appear here within seconds.</p>
      </EmptyState>
    );
  return (
    <>
      <Stats>
        <Stat name="Query Units" note="charged to the organization">
          {countText(totals.units)}
        </Stat>
        <Stat name="Calls" note="that were answered">
          {countText(totals.calls)}
        </Stat>
        <Stat name="Paid over x402">
          <Money usd={totals.usd} />
        </Stat>
        {totals.sold_calls === 0 ? (
          <Stat name="Days with calls">{countText(rows.length)}</Stat>
        ) : (
          <Stat name="Earned" note={`for ${countText(totals.sold_calls)} calls of your saved queries`}>
            {countText(totals.earned_units)} QU
          </Stat>
        )}
      </Stats>
      <div class="panel chart-panel">
        <DayChart
          title="Query Units by day"
          days={days}
          since={answer.since}
          until={answer.until}
          figures={[
            { name: 'Query Units', type: COUNT_TYPE, value: ({ units }) => units },
            { name: 'calls', type: COUNT_TYPE, value: ({ calls }) => calls, isTableOnly: true },
          ]}
        />
      </div>
      <div class="columns">
        <ByOperation since={since} />
        <ByKey since={since} />
      </div>
    </>
  );
}

const FIGURES: readonly Column<UsageRow>[] = [
  {
    name: 'Units',
    isFigure: true,
    cell: ({ units }) => countText(units),
    compare: (a, b) => a.units - b.units,
  },
  {
    name: 'Calls',
    isFigure: true,
    cell: ({ calls }) => countText(calls),
    compare: (a, b) => a.calls - b.calls,
  },
  {
    name: 'x402',
    isFigure: true,
    cell: ({ usd }) => (usd === 0 ? <span class="muted">–</span> : <Money usd={usd} />),
    compare: (a, b) => a.usd - b.usd,
  },
];

function ByOperation({ since }: { readonly since: string }) {
  const { answer, problem, reload } = useAnswer<Usage>('/account/usage', {
    query: { since, group: 'operation' },
  });
  return (
    <section class="card" aria-labelledby="operations-title">
      <h2 id="operations-title">By operation</h2>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {problem !== null && answer === null ? null : (
        <DataTable
          class="compact"
          caption="Usage by operation, most units first"
          columns={[
            { name: 'Operation', cell: ({ operation }) => <span class="mono">{operation}</span> },
            ...FIGURES,
          ]}
          rows={answer === null ? null : mostFirst(answer.rows)}
          keyOf={({ operation }) => operation ?? ''}
        />
      )}
    </section>
  );
}

function ByKey({ since }: { readonly since: string }) {
  const { answer, problem, reload } = useAnswer<Usage>('/account/usage', { query: { since, group: 'key' } });
  const { answer: keys } = useAnswer<AccountKeys>('/account/keys', { query: { limit: KEYS_MAX } });
  const labels = new Map((keys?.keys ?? []).map(({ id, label }) => [id, label]));
  return (
    <section class="card" aria-labelledby="keys-title">
      <h2 id="keys-title">By key</h2>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {problem !== null && answer === null ? null : (
        <DataTable
          class="compact"
          caption="Usage by key, most units first"
          columns={[
            {
              name: 'Key',
              cell: ({ key }) =>
                key === '' || key === null ? (
                  <span class="muted">bearer token</span>
                ) : (
                  <Link to="/account/keys" title={key}>
                    {labels.get(key) ?? key}
                  </Link>
                ),
            },
            ...FIGURES,
          ]}
          rows={answer === null ? null : mostFirst(answer.rows)}
          keyOf={({ key }) => key ?? ''}
        />
      )}
    </section>
  );
}

function mostFirst(rows: readonly UsageRow[]): readonly UsageRow[] {
  return rows.toSorted((a, b) => b.units - a.units || b.calls - a.calls);
}
