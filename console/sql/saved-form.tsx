import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem } from '../api.ts';
import { announce, ProblemState } from '../components/states.tsx';
import type { Placeholder } from './query-text.ts';
import {
  claimHandle,
  type SavedQuery,
  type SaveRequest,
  saveQuery,
  slugOf,
  VISIBILITIES,
  type Visibility,
} from './saved-api.ts';
import { savedChanges } from './saved-list.tsx';
import { type QueryTab, tabName } from './tabs.ts';

interface SaveButtonProps {
  readonly tab: QueryTab;
  readonly placeholders: readonly Placeholder[];
  onSaved(slug: string): void;
}

/** Saves the query of a tab as an endpoint: a first time, or as its next version. */
export function SaveButton({ tab, placeholders, onSaved }: SaveButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <>
      <button type="button" class="button" disabled={tab.sql.trim() === ''} onClick={() => setOpen(true)}>
        Save
      </button>
      {isOpen ? (
        <dialog ref={dialog} class="dialog" aria-labelledby="save-title" onClose={() => setOpen(false)}>
          <SaveForm
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

/** How often the result is made anew, at the cost of the organization. */
const REFRESHES = [
  { seconds: 0, name: 'Only when it is called' },
  { seconds: 900, name: 'Every 15 minutes' },
  { seconds: 3_600, name: 'Every hour' },
  { seconds: 86_400, name: 'Every day' },
  { seconds: 604_800, name: 'Every week' },
] as const;

const VISIBILITY_TEXTS: Readonly<Record<Visibility, string>> = {
  private: 'Private: only keys of your organization',
  unlisted: 'Unlisted: everyone who has its address',
  public: 'Public: listed for everyone',
};

interface Written {
  readonly title: string;
  readonly slug: string;
  readonly description: string;
  readonly visibility: Visibility;
  readonly refreshSeconds: number;
  readonly priceQu: string;
  readonly handle: string;
}

interface SaveFormProps {
  readonly tab: QueryTab;
  readonly placeholders: readonly Placeholder[];
  onSaved(query: SavedQuery): void;
  onClose(): void;
}

type SaveState =
  | { readonly phase: 'writing' | 'saving' }
  | { readonly phase: 'failed'; readonly problem: ApiProblem }
  | { readonly phase: 'saved'; readonly query: SavedQuery; readonly outcome: string };

function SaveForm({ tab, placeholders, onSaved, onClose }: SaveFormProps) {
  const [written, setWritten] = useState<Written>(() => firstWritten(tab));
  const [state, setState] = useState<SaveState>({ phase: 'writing' });
  const needsHandle = state.phase === 'failed' && state.problem.body.code === HANDLE_REQUIRED;
  const save = async (): Promise<void> => {
    setState({ phase: 'saving' });
    try {
      if (needsHandle && written.handle !== '') await claimHandle(written.handle);
      const { query, outcome } = await saveQuery(written.slug, requestOf(tab, placeholders, written));
      announce(`Saved as ${query.slug}, version ${query.version}`);
      setState({ phase: 'saved', query, outcome });
      onSaved(query);
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
      <h2 id="save-title">{tab.saved === null ? 'Save the query' : `Save a version of ${tab.saved}`}</h2>
      <p class="muted">A saved query is an address that programs and agents can call.</p>
      <Fields written={written} onChange={(part) => setWritten({ ...written, ...part })} />
      {needsHandle ? (
        <label class="field">
          <span>Handle of your organization, for good: lower-case letters, digits and hyphens</span>
          <input
            type="text"
            required
            pattern="[a-z][a-z0-9\-]+"
            value={written.handle}
            onInput={({ currentTarget }) => setWritten({ ...written, handle: currentTarget.value })}
          />
        </label>
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

/** The code is of the API’s saved queries. */
const HANDLE_REQUIRED: string = 'handle_required';

function firstWritten(tab: QueryTab): Written {
  const title = tabName(tab);
  return {
    title,
    slug: tab.saved ?? slugOf(title),
    description: '',
    visibility: 'private',
    refreshSeconds: 0,
    priceQu: '0',
    handle: '',
  };
}

/** The values in the form of the tab are the defaults of the parameters; one without a value must be sent by every caller. */
function requestOf(tab: QueryTab, placeholders: readonly Placeholder[], written: Written): SaveRequest {
  const { title, description, visibility, refreshSeconds, priceQu } = written;
  return {
    sql: tab.sql,
    title,
    description,
    tier: tab.tier,
    visibility,
    max_rows: tab.rowsMax,
    price_qu: Number(priceQu),
    ...(refreshSeconds === 0 ? {} : { refresh_seconds: refreshSeconds }),
    parameters: Object.fromEntries(
      placeholders.map(({ name }) => {
        const value = tab.params[name];
        return [name, { description: '', ...(value === undefined ? {} : { default: value }) }];
      }),
    ),
  };
}

interface FieldsProps {
  readonly written: Written;
  onChange(part: Partial<Written>): void;
}

function Fields({ written, onChange }: FieldsProps) {
  const { title, slug, description, visibility, refreshSeconds, priceQu } = written;
  return (
    <>
      <label class="field">
        <span>Title</span>
        <input
          type="text"
          required
          maxLength={100}
          value={title}
          onInput={({ currentTarget }) => onChange({ title: currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>Name in its address</span>
        <input
          type="text"
          class="mono"
          required
          maxLength={64}
          pattern="[a-z0-9]+(\-[a-z0-9]+)*"
          title="Lower-case letters, digits and single hyphens"
          value={slug}
          onInput={({ currentTarget }) => onChange({ slug: currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>What it answers</span>
        <input
          type="text"
          maxLength={2_000}
          value={description}
          onInput={({ currentTarget }) => onChange({ description: currentTarget.value })}
        />
      </label>
      <label class="field">
        <span>Who may call it</span>
        <select
          value={visibility}
          onChange={({ currentTarget }) =>
            onChange({ visibility: VISIBILITIES.find((one) => one === currentTarget.value) ?? 'private' })
          }
        >
          {VISIBILITIES.map((one) => (
            <option key={one} value={one}>
              {VISIBILITY_TEXTS[one]}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Refresh</span>
        <select
          value={refreshSeconds}
          onChange={({ currentTarget }) => onChange({ refreshSeconds: Number(currentTarget.value) })}
        >
          {REFRESHES.map(({ seconds, name }) => (
            <option key={seconds} value={seconds}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {visibility === 'private' ? null : (
        <label class="field">
          <span>Your price for each call of others, in Query Units</span>
          <input
            type="text"
            inputMode="numeric"
            pattern="\d+"
            value={priceQu}
            onInput={({ currentTarget }) => onChange({ priceQu: currentTarget.value })}
          />
        </label>
      )}
    </>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  created: 'Saved',
  new_version: 'Saved as a new version',
  changed: 'Its settings are changed',
  unchanged: 'It was saved like this before',
};

function Saved({
  query,
  outcome,
  onClose,
}: {
  readonly query: SavedQuery;
  readonly outcome: string;
  onClose(): void;
}) {
  return (
    <>
      <h2 id="save-title">{OUTCOMES[outcome] ?? 'Saved'}</h2>
      <p>
        {query.title}, version {query.version}
      </p>
      <p class="mono saved-url">{query.url}</p>
      <div class="row end">
        <button type="button" class="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}
