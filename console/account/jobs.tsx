import { useState } from 'preact/hooks';
import { ApiProblem, change, segment } from '../api.ts';
import { Chip, type Tone } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { announce, EmptyState, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { bytesText, countText, durationText, rowsText } from '../format.ts';
import { Link } from '../router.tsx';
import { offsetOf, type PageProps } from '../routes.ts';
import { DEFAULT_TIER, fragmentOf } from '../sql/query-text.ts';
import { useAnswer } from '../use-answer.ts';
import type { SqlJob, SqlJobs } from '../wire.ts';
import { AccountHead } from './account-head.tsx';

const PATH = '/account/jobs';
const PAGE_ROWS = 20;
/** While a job is waiting or running. */
const POLL_MS = 2_000;

/** The jobs of an organization: how far they are, what they cost, and their results. */
export function JobsPage({ query }: PageProps) {
  const [isBusy, setBusy] = useState(false);
  const { answer, problem, reload } = useAnswer<SqlJobs>('/sql/jobs', {
    query: { limit: PAGE_ROWS, offset: offsetOf(query) },
    ...(isBusy ? { refreshMs: POLL_MS } : {}),
  });
  const isAnyUnfinished = answer?.jobs.some(isUnfinished) ?? false;
  if (isAnyUnfinished !== isBusy && answer !== null) setBusy(isAnyUnfinished);
  const isUnavailable = problem?.body.code === 'not_found';
  return (
    <>
      <AccountHead title="Jobs" path={PATH}>
        Queries that outlive their connection. Results are kept for seven days and downloaded as often as you
        want, without another charge.
      </AccountHead>
      {isUnavailable ? (
        <EmptyState title="This deployment runs no jobs">
          <p>Queries of the SQL page are answered while you wait.</p>
        </EmptyState>
      ) : (
        <DataTable
          caption="Jobs, newest first"
          columns={columnsOf(reload)}
          rows={answer?.jobs ?? null}
          keyOf={({ job }) => job}
          list={{
            what: 'jobs',
            meta: null,
            problem,
            reload,
            paging: { path: PATH, query, limit: PAGE_ROWS, nextOffset: answer?.next_offset ?? null },
          }}
          empty={
            <EmptyState
              title="No jobs in the last seven days"
              actions={
                <>
                  <Link class="button" to="/sql">
                    Open the SQL page
                  </Link>
                  <a href="/docs/jobs">About jobs</a>
                </>
              }
            >
              <p>A query that takes longer than one call becomes a job and appears here while it runs.</p>
            </EmptyState>
          }
        />
      )}
    </>
  );
}

function isUnfinished({ state }: SqlJob): boolean {
  return state === 'queued' || state === 'running';
}

const STATE_TONES: Readonly<Record<SqlJob['state'], Tone>> = {
  queued: 'info',
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'neutral',
  expired: 'warn',
};

function columnsOf(reload: () => void): readonly Column<SqlJob>[] {
  return [
    {
      name: 'Query',
      class: 'query-cell',
      cell: ({ query, tier }) => (
        <Link to={`/sql${fragmentOf({ sql: query, tier: tier ?? DEFAULT_TIER, params: {} })}`} title={query}>
          <code class="clamp">{query}</code>
        </Link>
      ),
    },
    { name: 'State', cell: (job) => <State job={job} /> },
    { name: 'Begun', cell: ({ created_at: at }) => <Time at={at} ago /> },
    { name: 'Took', isFigure: true, priority: 3, cell: (job) => tookText(job) },
    { name: 'Units', isFigure: true, cell: (job) => <Units job={job} /> },
    { name: 'Result', cell: (job) => <Result job={job} reload={reload} /> },
  ];
}

function tookText({ started_at: from, ended_at: to }: SqlJob): string {
  if (from === null || to === null) return '–';
  return durationText((Date.parse(to) - Date.parse(from)) / 1_000);
}

function State({
  job: { state, progress, failure, cancel_requested: isCancelled },
}: {
  readonly job: SqlJob;
}) {
  const isRunning = state === 'running';
  return (
    <span class="job-state">
      <Chip tone={STATE_TONES[state]}>{isCancelled && isRunning ? 'being cancelled' : state}</Chip>
      {isRunning && progress !== null ? (
        <span class="job-progress">
          {progress.percent === null ? (
            <progress aria-label="Progress of the job" />
          ) : (
            <progress max={100} value={progress.percent} aria-label="Progress of the job" />
          )}
          <span class="small muted number">
            {progress.percent === null ? '' : `${progress.percent}%, `}
            {countText(progress.rows_read)}
            {progress.rows_estimate === null ? '' : ` of about ${countText(progress.rows_estimate)}`} rows
            read, {durationText(progress.seconds)}, {bytesText(progress.memory_bytes)}
          </span>
        </span>
      ) : null}
      {failure === null ? null : (
        <span class="small bad">
          {failure.detail}
          {failure.hint === undefined ? null : ` ${failure.hint}`}
        </span>
      )}
    </span>
  );
}

function Units({ job: { usage, progress } }: { readonly job: SqlJob }) {
  if (usage.units_charged !== null) return <>{countText(usage.units_charged)}</>;
  return (
    <span class="muted" title={`${countText(usage.units_held)} are held until it ends`}>
      {countText(progress?.units ?? 0)} of {countText(usage.units_held)} held
    </span>
  );
}

const FORMATS = [
  { format: 'csv', name: 'CSV' },
  { format: 'parquet', name: 'Parquet' },
  { format: 'arrow', name: 'Arrow' },
  { format: 'ndjson', name: 'NDJSON' },
] as const;

interface ResultProps {
  readonly job: SqlJob;
  reload(): void;
}

function Result({ job, reload }: ResultProps) {
  const { result, state } = job;
  if (isUnfinished(job)) return <CancelButton job={job} reload={reload} />;
  if (result === null) return <span class="muted">{state === 'succeeded' ? 'no longer kept' : '–'}</span>;
  return (
    <span class="job-result">
      <span>
        {rowsText(result.row_count)}, {bytesText(result.bytes)}
        {result.truncated ? <Chip tone="warn">cut at a limit</Chip> : null}
      </span>
      <span class="row">
        {FORMATS.map(({ format, name }) => (
          <a key={format} href={downloadUrl(result.signed_url, format)} download={`${job.job}.${format}`}>
            {name}
          </a>
        ))}
      </span>
      <span class="small muted">
        kept until <Time at={result.expires_at} />
      </span>
    </span>
  );
}

/** The signed link in a format, at the origin of the page: downloads send no header with a key. */
function downloadUrl(signed: string, format: string): string {
  const { pathname, search } = new URL(signed, location.origin);
  return `${pathname}${search}&format=${format}`;
}

function CancelButton({ job, reload }: ResultProps) {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const cancel = async (): Promise<void> => {
    setSending(true);
    try {
      await change('DELETE', `/sql/jobs/${segment(job.job)}`);
      announce('Job cancelled');
      reload();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
      setSending(false);
    }
  };
  if (problem !== null) return <ProblemState problem={problem} />;
  return (
    <button
      type="button"
      class="button"
      disabled={isSending || job.cancel_requested}
      title={job.state === 'queued' ? 'It costs nothing' : 'What it used until then is charged'}
      onClick={() => void cancel()}
    >
      Cancel
    </button>
  );
}
