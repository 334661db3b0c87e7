import { useMemo } from 'preact/hooks';
import { segment } from '../api.ts';
import { Chart, FiguresTable } from '../chart/chart.tsx';
import { completeSpec } from '../chart/guess.ts';
import { readSpec } from '../chart/spec.ts';
import { Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { countText, rowsText } from '../format.ts';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { useTitle } from '../router.tsx';
import type { PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { SharedResult, SqlResult } from '../wire.ts';

/** A shared result: chart, rows and query, readable without a key. */
export function SharedPage({ params }: PageProps) {
  const token = params['token'] ?? '';
  const { answer, problem, reload } = useAnswer<SharedResult>(`/shared/${segment(token)}`);
  const title = answer === null || answer.title === '' ? 'Shared result' : answer.title;
  useTitle(title);
  return (
    <>
      <header class="entity-head">
        <div class="entity-title">
          <p class="kicker">Shared result</p>
          <h1>{title}</h1>
          {answer === null ? null : <Facts shared={answer} />}
        </div>
      </header>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the result" lines={8} /> : null}
      {answer === null || problem !== null ? null : <Body shared={answer} token={token} />}
    </>
  );
}

function Facts({ shared }: { readonly shared: SharedResult }) {
  const { created_at: created, expires_at: expires, row_count: count, truncated } = shared;
  return (
    <p class="row muted small">
      <span>
        {truncated ? 'the first ' : ''}
        {rowsText(count)}
      </span>
      <span>
        as of <Time at={created} />
      </span>
      <span>
        this page is open until <Time at={expires} />
      </span>
    </p>
  );
}

/** Rows of the table and of the chart. */
const ROWS_MAX = 10_000;
const FORMATS = { csv: 'CSV', parquet: 'Parquet', ndjson: 'NDJSON' } as const;

function Body({ shared, token }: { readonly shared: SharedResult; readonly token: string }) {
  const path = `/results/${segment(shared.result)}`;
  const { answer, problem, reload } = useAnswer<SqlResult>(path, {
    query: { token, format: 'json_compact', limit: ROWS_MAX },
  });
  const spec = useMemo(() => (shared.chart === null ? {} : readSpec(shared.chart)), [shared.chart]);
  const isDrawn = useMemo(() => answer !== null && completeSpec(answer, spec) !== null, [answer, spec]);
  const name = shared.title === '' ? {} : { name: shared.title };
  if (problem !== null && answer === null) return <ProblemState problem={problem} onRetry={reload} />;
  if (answer === null) return <Loading what="its rows" lines={8} />;
  return (
    <>
      <section class="panel shared-result" aria-label="Result">
        {isDrawn ? (
          <Chart {...name} data={answer} spec={spec} isTableOpen />
        ) : (
          <FiguresTable name={shared.title === '' ? 'Rows' : shared.title} data={answer} isOpen />
        )}
        {answer.rows.length < shared.row_count ? (
          <p class="muted small">
            {countText(answer.rows.length)} of {countText(shared.row_count)} rows are drawn. The files have
            all of them.
          </p>
        ) : null}
        <p class="row small">
          <span class="muted">Download:</span>
          {Object.entries(FORMATS).map(([format, text]) => (
            <a key={format} href={`/v0${path}?token=${token}&format=${format}`} download={`result.${format}`}>
              {text}
            </a>
          ))}
        </p>
      </section>
      <details class="shared-sql">
        <summary>The query</summary>
        <pre>
          <code>{shared.sql}</code>
        </pre>
      </details>
      <p class="row">
        <OpenInSql sql={shared.sql} isButton />
      </p>
    </>
  );
}
