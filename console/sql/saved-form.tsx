import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, segment, useIsLentKey } from '../api.ts';
import { announce, Loading, ProblemState } from '../components/states.tsx';
import { useAnswer } from '../use-answer.ts';
import type { SavedQuery, SaveQueryAnswer } from '../wire.ts';
import type { Placeholder } from './query-text.ts';
import { addressOf, claimHandle, SAVED_PATH, saveQuery } from './saved-api.ts';
import { firstWritten, requestOf, SavedFields, Text, type Written } from './saved-fields.tsx';
import { savedChanges } from './saved-list.tsx';
import type { QueryTab } from './tabs.ts';

interface SaveButtonProps {
  readonly tab: QueryTab;
  readonly placeholders: readonly Placeholder[];
  onSaved(slug: string): void;
}

/** Saves the query of a tab as an endpoint: a first time, or as its next version. */
export function SaveButton({ tab, placeholders, onSaved }: SaveButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const isLent = useIsLentKey();
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  if (isLent) return null;
  return (
    <>
      <button type="button" class="button" disabled={tab.sql.trim() === ''} onClick={() => setOpen(true)}>
        Save
      </button>
      {isOpen ? (
        <dialog ref={dialog} class="dialog" aria-labelledby="save-title" onClose={() => setOpen(false)}>
          <SaveDialog
            tab={tab}
            placeholders={placeholders}
            onClose={() => dialog.current?.close()}
            onSaved={(query) => {
              onSaved(query.slug);
              savedChanges.set(savedChanges.get() + 1);
            }}
          />
        </dialog>
      ) : null}
    </>
  );
}

interface SaveDialogProps {
  readonly tab: QueryTab;
  readonly placeholders: readonly Placeholder[];
  onSaved(query: SavedQuery): void;
  onClose(): void;
}

/** Reads the query saved under the name of the tab before it shows the form; one that was removed since is saved anew. */
function SaveDialog(props: SaveDialogProps) {
  const { saved: slug } = useRef(props.tab).current;
  const path = slug === null ? null : `${SAVED_PATH}/${segment(slug)}`;
  const { answer, problem } = useAnswer<{ readonly query: SavedQuery }>(path);
  if (path !== null && answer === null && problem === null) return <Loading what="the saved query" />;
  if (problem !== null && problem.body.code !== 'not_found') return <ProblemState problem={problem} />;
  return <SaveForm {...props} saved={answer?.query ?? null} />;
}

type SaveState =
  | { readonly phase: 'writing' | 'saving' }
  | { readonly phase: 'failed'; readonly problem: ApiProblem }
  | ({ readonly phase: 'saved' } & SaveQueryAnswer);

function SaveForm({
  tab,
  placeholders,
  saved,
  onClose,
  onSaved,
}: SaveDialogProps & { readonly saved: SavedQuery | null }) {
  const [written, setWritten] = useState<Written>(() => firstWritten(tab, placeholders, saved));
  const [handle, setHandle] = useState('');
  const [state, setState] = useState<SaveState>({ phase: 'writing' });
  const needsHandle = state.phase === 'failed' && state.problem.body.code === 'handle_required';
  const save = async (): Promise<void> => {
    setState({ phase: 'saving' });
    try {
      if (handle !== '') await claimHandle(handle);
      const answer = await saveQuery(written.slug, requestOf(tab, written));
      announce(`Saved as ${answer.query.slug}, version ${answer.query.version}`);
      setState({ phase: 'saved', ...answer });
      onSaved(answer.query);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setState({ phase: 'failed', problem: error });
    }
  };
  if (state.phase === 'saved') return <Saved {...state} onClose={onClose} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2 id="save-title">{saved === null ? 'Save the query' : `Save a version of ${saved.slug}`}</h2>
      <p class="muted">It stays in your list of saved queries, and programs can call it by its address.</p>
      <SavedFields
        written={written}
        isVersion={saved !== null}
        onChange={(part) => setWritten({ ...written, ...part })}
      />
      {needsHandle || handle !== '' ? (
        <Text
          label="Handle of your organization, part of every address, for good"
          isRequired
          pattern="[a-z][a-z0-9\-]+"
          hint="Lower-case letters, digits and hyphens, a letter first"
          value={handle}
          onValue={setHandle}
        />
      ) : null}
      {state.phase === 'failed' ? <ProblemState problem={state.problem} /> : null}
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={state.phase === 'saving'}>
          {state.phase === 'saving' ? 'Saving' : 'Save'}
        </button>
      </div>
    </form>
  );
}

const OUTCOMES: Readonly<Record<SaveQueryAnswer['outcome'], string>> = {
  created: 'Saved',
  new_version: 'Saved as a new version',
  changed: 'Its settings are changed',
  unchanged: 'It was saved like this before',
};

function Saved({ query, outcome, onClose }: SaveQueryAnswer & { onClose(): void }) {
  return (
    <>
      <h2 id="save-title">{OUTCOMES[outcome]}</h2>
      <p>
        {query.title}, version {query.version}
      </p>
      <p class="mono saved-url">{addressOf(query)}</p>
      <div class="row end">
        <button type="button" class="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}
