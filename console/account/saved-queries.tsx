import { Chip, type Tone } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { countText, durationText } from '../format.ts';
import { Link } from '../router.tsx';
import type { PageProps } from '../routes.ts';
import { fragmentOf } from '../sql/query-text.ts';
import { addressOf } from '../sql/saved-api.ts';
import { useAnswer } from '../use-answer.ts';
import type { QueryRefresh, SavedQueries, SavedQuery } from '../wire.ts';
import { AccountHead } from './account-head.tsx';

const PATH = '/account/saved';
const PAGE_ROWS = 50;

/** The saved queries of an organization: who may call them, at what price, and the runs that keep them warm. */
export function SavedQueriesPage({ query }: PageProps) {
  const { answer, problem, reload } = useAnswer<SavedQueries>('/queries', {
    query: { limit: PAGE_ROWS, after: query.get('after') },
  });
  const isUnavailable = problem?.body.code === 'not_found';
  return (
    <>
      <AccountHead title="Saved queries" path={PATH}>
        Each is an endpoint of its own, for you, for those with its address, or for everyone at your price.
      </AccountHead>
      {isUnavailable ? (
        <EmptyState title="This deployment has no saved queries" />
      ) : (
        <DataTable
          caption="Saved queries, by name"
          columns={COLUMNS}
          rows={answer?.queries ?? null}
          keyOf={({ slug }) => slug}
          list={{ what: 'saved queries', meta: null, problem, reload }}
          empty={
            <EmptyState
              title="No saved queries"
              actions={
                <Link class="button" to="/sql">
                  Write one on the SQL page
                </Link>
              }
            >
              <p>
                A saved query has typed parameters and an address that programs and agents call. Others pay
                your price for it.
              </p>
            </EmptyState>
          }
        />
      )}
      {answer?.next_after ? (
        <p class="list-foot">
          <Link class="button" to={`${PATH}?after=${encodeURIComponent(answer.next_after)}`}>
            Next →
          </Link>
        </p>
      ) : null}
    </>
  );
}

const VISIBILITY_TONES: Readonly<Record<SavedQuery['visibility'], Tone>> = {
  private: 'neutral',
  unlisted: 'info',
  public: 'good',
};

const VISIBILITY_MEANINGS: Readonly<Record<SavedQuery['visibility'], string>> = {
  private: 'Only your organization may call it.',
  unlisted: 'Everyone who knows its address may call it.',
  public: 'Listed, and everyone may call it.',
};

const COLUMNS: readonly Column<SavedQuery>[] = [
  {
    name: 'Query',
    cell: ({ title, slug, description, version }) => (
      <span class="key-cell">
        <strong>{title}</strong>
        <span class="mono small muted">
          {slug}, version {version}
        </span>
        {description === '' ? null : <span class="small clamp">{description}</span>}
      </span>
    ),
  },
  {
    name: 'Visibility',
    cell: ({ visibility }) => (
      <Chip tone={VISIBILITY_TONES[visibility]} title={VISIBILITY_MEANINGS[visibility]}>
        {visibility}
      </Chip>
    ),
  },
  {
    name: 'Price for others',
    isFigure: true,
    cell: ({ price, visibility }) =>
      visibility === 'private' ? (
        <span class="muted">–</span>
      ) : (
        <span title={`${countText(price.author_qu)} of it are yours`}>
          up to {countText(price.max_qu)} QU
        </span>
      ),
  },
  {
    name: 'Kept warm',
    priority: 2,
    cell: ({ refresh_seconds: every, next_refresh_at: next }) =>
      every === null ? (
        <span class="muted">no</span>
      ) : (
        <span {...(next === null ? {} : { title: `Next run ${next}` })}>every {durationText(every)}</span>
      ),
  },
  { name: 'Runs', priority: 2, cell: (row) => <Runs of={row} /> },
  { name: 'Changed', priority: 3, cell: ({ updated_at: at }) => <Time at={at} ago /> },
  {
    name: 'Open',
    cell: ({ sql, tier, url, parameters }) => (
      <span class="row">
        {sql === null ? null : (
          <Link to={`/sql${fragmentOf({ sql, tier, params: defaultsOf(parameters) })}`}>SQL</Link>
        )}
        <CopyButton text={addressOf({ url })} what="address of the query" />
      </span>
    ),
  },
];

function defaultsOf(parameters: SavedQuery['parameters']): Record<string, string> {
  return Object.fromEntries(
    parameters.flatMap(({ name, default: value }) => (value === null ? [] : [[name, value]])),
  );
}

/** The newest runs of a query that is kept warm; others have none. */
function Runs({ of: { slug, refresh_seconds: every } }: { readonly of: SavedQuery }) {
  const { answer, problem } = useAnswer<{ readonly refreshes: readonly QueryRefresh[] }>(
    every === null ? null : `/queries/${encodeURIComponent(slug)}/refreshes`,
  );
  const newest = answer?.refreshes[0];
  if (every === null || problem !== null) return <span class="muted">–</span>;
  if (answer === null) return <span class="muted">…</span>;
  if (newest === undefined) return <span class="muted">none yet</span>;
  return (
    <span {...(newest.detail === null ? {} : { title: newest.detail })}>
      <Chip tone={newest.state === 'succeeded' ? 'good' : 'bad'}>{newest.state}</Chip>{' '}
      <Time at={newest.at} ago />
      <span class="muted">, {countText(newest.units)} QU</span>
    </span>
  );
}
