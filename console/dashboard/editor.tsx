import { useState } from 'preact/hooks';
import { ApiProblem, change, segment } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { announce, EmptyState, ProblemState } from '../components/states.tsx';
import { Link, navigate } from '../router.tsx';
import { slugOf } from '../sql/saved-api.ts';
import type { Dashboard, SavedQuery } from '../wire.ts';
import { changed, type Draft, moved, without, withPanel } from './drafts.ts';
import { frameOf } from './frame-element.ts';
import { Choice, PanelFields } from './panel-fields.tsx';

/** Writes a dashboard of the visitor's organization from its saved queries. */

type Visibility = Draft['visibility'];

const VISIBILITIES: readonly { readonly value: Visibility; readonly name: string }[] = [
  { value: 'private', name: 'Private: only keys of your organization' },
  { value: 'unlisted', name: 'Unlisted: everyone who has its address' },
  { value: 'public', name: 'Public: everyone' },
];

const TOKENS = [
  { value: 'keep', name: 'as it is' },
  { value: 'new', name: 'make a new one' },
  { value: 'none', name: 'revoke it' },
] as const;
type TokenChange = (typeof TOKENS)[number]['value'];

interface EditorProps {
  readonly first: Draft;
  /** Whether it is saved already: its address stays. */
  readonly isSaved: boolean;
  readonly hasToken: boolean;
  readonly queries: readonly SavedQuery[];
}

interface Saved {
  readonly dashboard: Dashboard;
  readonly token: string | null;
}

export function BoardEditor({ first, isSaved, hasToken, queries }: EditorProps) {
  const [draft, setDraft] = useState(first);
  const [token, setToken] = useState<TokenChange>('keep');
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [saved, setSaved] = useState<Saved | null>(null);
  const save = async (): Promise<void> => {
    const { slug, ...body } = draft;
    setProblem(null);
    try {
      const answer = await change<Saved>('PUT', `/dashboards/${segment(slug)}`, { ...body, token });
      announce('The dashboard is saved');
      const { owner } = answer.dashboard;
      if (answer.token === null) navigate(`/dashboards/${owner}/${slug}`);
      else setSaved(answer);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
    }
  };
  if (saved !== null) return <MadeToken {...saved} />;
  return (
    <form
      class="board-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <BoardFields draft={draft} isSaved={isSaved} onDraft={setDraft} />
      <Choice
        label={hasToken ? 'Token of its frame' : 'Token of its frame (there is none)'}
        value={token}
        options={TOKENS}
        onValue={(value) => setToken(TOKENS.find((one) => one.value === value)?.value ?? 'keep')}
      />
      <Panels draft={draft} queries={queries} onDraft={setDraft} />
      {problem === null ? null : <ProblemState problem={problem} />}
      <div class="row">
        <button type="submit" class="button primary">
          Save
        </button>
        <Link to="/dashboards">Cancel</Link>
      </div>
    </form>
  );
}

interface DraftProps {
  readonly draft: Draft;
  onDraft(draft: Draft): void;
}

function BoardFields({ draft, isSaved, onDraft }: DraftProps & { readonly isSaved: boolean }) {
  return (
    <div class="filters">
      <label class="filter">
        <span>Name</span>
        <input
          type="text"
          required
          maxLength={100}
          value={draft.title}
          onInput={({ currentTarget: { value } }) =>
            onDraft({ ...draft, title: value, ...(isSaved ? {} : { slug: slugOf(value) }) })
          }
        />
      </label>
      <label class="filter board-description">
        <span>What it shows</span>
        <input
          type="text"
          maxLength={2_000}
          value={draft.description}
          onInput={({ currentTarget }) => onDraft({ ...draft, description: currentTarget.value })}
        />
      </label>
      <Choice
        label="Who may open it"
        value={draft.visibility}
        options={VISIBILITIES}
        onValue={(value) => {
          const visibility = VISIBILITIES.find((one) => one.value === value)?.value;
          if (visibility !== undefined) onDraft({ ...draft, visibility });
        }}
      />
    </div>
  );
}

function Panels({ draft, queries, onDraft }: DraftProps & { readonly queries: readonly SavedQuery[] }) {
  const [query] = queries;
  return (
    <>
      <h2>Panels</h2>
      <div class="board">
        {draft.panels.map((panel, at) => (
          <PanelFields
            key={panel.id}
            panel={panel}
            place={`Panel ${at + 1}`}
            queries={queries}
            onChange={(part) => onDraft(changed(draft, at, part))}
            onMove={(by) => onDraft(moved(draft, at, by))}
            onRemove={() => onDraft(without(draft, at))}
          />
        ))}
      </div>
      {query === undefined ? (
        <EmptyState title="No saved queries yet">
          <p>
            Save a query on the <Link to="/sql">SQL page</Link>, then add it here.
          </p>
        </EmptyState>
      ) : null}
      <div class="row board-add">
        {query === undefined ? null : (
          <button
            type="button"
            class="button"
            onClick={() =>
              onDraft(withPanel(draft, { kind: 'chart', query: query.slug, title: query.title }))
            }
          >
            Add a query
          </button>
        )}
        <button
          type="button"
          class="button"
          onClick={() => onDraft(withPanel(draft, { kind: 'text', query: null, title: '' }))}
        >
          Add a text
        </button>
      </div>
    </>
  );
}

/** The token is told once, as a part of the frame that it opens. */
function MadeToken({ dashboard: { owner, slug, embed_url: url }, token }: Saved) {
  const frame = frameOf(url, token);
  return (
    <section class="panel board-token" aria-labelledby="made-token">
      <h2 id="made-token">The frame of the dashboard</h2>
      <p>The token is shown once. Anyone with it can see the dashboard until you revoke it.</p>
      <p class="mono saved-url">{frame}</p>
      <div class="row">
        <CopyButton text={frame} what="frame" label="Copy" />
        <Link to={`/dashboards/${owner}/${slug}`}>Open the dashboard</Link>
      </div>
    </section>
  );
}
