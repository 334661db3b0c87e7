import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, segment, useIsLentKey } from '../api.ts';
import { Chip } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { announce, EmptyState, Loading, NeedsOwnKey, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { durationText } from '../format.ts';
import { createStore, useStore } from '../store.ts';
import { useAnswer } from '../use-answer.ts';
import type { QueryRefresh, SavedQueries, SavedQuery, SavedQueryVersion } from '../wire.ts';
import { addressOf, deleteQuery, readSaved, SAVED_PATH } from './saved-api.ts';
import type { QueryTab } from './tabs.ts';

interface SavedListProps {
  onOpen(part: Partial<QueryTab>): void;
}

/** Counts what this page saved and removed: the list is read again then. */
export const savedChanges = createStore(0);

const LIST_MAX = 100;

/** The saved queries of the organization, with their versions and refreshes. */
export function SavedList({ onOpen }: SavedListProps) {
  const isLent = useIsLentKey();
  const { answer, problem, reload } = useAnswer<SavedQueries>(isLent ? null : SAVED_PATH, {
    query: { limit: LIST_MAX },
  });
  const changes = useStore(savedChanges);
  useEffect(() => {
    if (changes > 0) reload();
  }, [changes, reload]);
  if (isLent) return <NeedsOwnKey />;
  if (problem !== null && answer === null) return <ProblemState problem={problem} onRetry={reload} />;
  if (answer === null) return <Loading what="the saved queries" />;
  if (answer.queries.length === 0)
    return (
      <EmptyState title="No saved queries">
        <p>Save makes the query of a tab an address that programs and agents can call.</p>
      </EmptyState>
    );
  return (
    <ul class="saved" aria-label="Saved queries">
      {answer.queries.map((query) => (
        <One key={query.slug} query={query} onOpen={onOpen} />
      ))}
    </ul>
  );
}

function tabOf(query: SavedQuery): Partial<QueryTab> {
  const values = query.parameters.flatMap(({ name, default: standard, example }) => {
    const value = standard ?? example;
    return value === null ? [] : [[name, value] as const];
  });
  return {
    name: query.title === '' ? query.slug : query.title,
    sql: query.sql ?? '',
    tier: query.tier,
    params: Object.fromEntries(values),
    rowsMax: query.max_rows,
    saved: query.slug,
  };
}

function One({ query, onOpen }: { readonly query: SavedQuery } & SavedListProps) {
  const [isOpen, setOpen] = useState(false);
  const { slug, title, version, visibility, refresh_seconds: refresh, updated_at: updated } = query;
  return (
    <li>
      <button type="button" class="saved-open" title={query.sql ?? slug} onClick={() => onOpen(tabOf(query))}>
        {title === '' ? slug : title}
      </button>
      <p class="row small muted">
        <Chip>{visibility}</Chip>
        <span>version {version}</span>
        <Time at={updated} ago />
        {refresh === null ? null : <span>refreshed every {durationText(refresh)}</span>}
      </p>
      <p class="row">
        <CopyButton text={addressOf(query)} what={`address of ${slug}`} label="Copy address" />
        <button type="button" class="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          More
        </button>
      </p>
      {isOpen ? <Details query={query} onOpen={onOpen} /> : null}
    </li>
  );
}

function Details({ query, onOpen }: { readonly query: SavedQuery } & SavedListProps) {
  const path = `${SAVED_PATH}/${segment(query.slug)}`;
  const versions = useAnswer<{ readonly versions: readonly SavedQueryVersion[] }>(`${path}/versions`);
  const refreshes = useAnswer<{ readonly refreshes: readonly QueryRefresh[] }>(
    query.refresh_seconds === null ? null : `${path}/refreshes`,
  );
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
    }
  };
  const openVersion = (version: number): Promise<void> =>
    attempt(async () => onOpen(tabOf(await readSaved(query.slug, version))));
  const remove = (): Promise<void> =>
    attempt(async () => {
      await deleteQuery(query.slug);
      announce(`${query.slug} removed`);
      savedChanges.set(savedChanges.get() + 1);
    });
  return (
    <div class="saved-more">
      <h3>Versions</h3>
      <ol>
        {(versions.answer?.versions ?? []).map(({ version, created_at: at }) => (
          <li key={version}>
            <button type="button" class="button small-button" onClick={() => void openVersion(version)}>
              Version {version}
            </button>{' '}
            <Time at={at} ago />
          </li>
        ))}
      </ol>
      {refreshes.answer === null ? null : <Refreshes runs={refreshes.answer.refreshes} />}
      {problem === null ? null : <ProblemState problem={problem} />}
      <RemoveButton what={`${query.slug} and its address`} onRemove={() => void remove()} />
    </div>
  );
}

function Refreshes({ runs }: { readonly runs: readonly QueryRefresh[] }) {
  return (
    <>
      <h3>Refreshes</h3>
      {runs.length === 0 ? <p class="muted small">None yet.</p> : null}
      <ol>
        {runs.map(({ at, state, units, detail }) => (
          <li key={at}>
            <Time at={at} ago /> · <span class={state === 'failed' ? 'bad' : 'good'}>{state}</span> · {units}{' '}
            QU
            {detail === null ? '' : `: ${detail}`}
          </li>
        ))}
      </ol>
    </>
  );
}

/** The second click removes. */
export function RemoveButton({ what, onRemove }: { readonly what: string; onRemove(): void }) {
  const [isSure, setSure] = useState(false);
  return (
    <button
      type="button"
      class="button small-button danger"
      onBlur={() => setSure(false)}
      onClick={() => (isSure ? onRemove() : setSure(true))}
    >
      {isSure ? `Remove ${what} for good` : 'Remove'}
    </button>
  );
}
