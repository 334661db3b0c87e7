import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, change, segment } from '../api.ts';
import { Chip, type Tone } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { announce, EmptyState, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { countText, timeText } from '../format.ts';
import type { PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
import type { Account, AccountKey, AccountKeys, MadeKey } from '../wire.ts';
import { AccountHead } from './account-head.tsx';
import { KeyForm } from './key-form.tsx';

const PAGE_ROWS = 50;

type Editing = { readonly of: AccountKey | null } | null;

/** The keys of an organization: their budgets, what they may call, and what was done to them. */
export function KeysPage(_props: PageProps) {
  const { rows, ...list } = useCursorList<AccountKeys & { meta: Record<string, never> }, AccountKey>(
    '/account/keys',
    { limit: PAGE_ROWS },
    ({ keys }) => keys,
  );
  const { answer: account } = useAnswer<Account>('/account');
  const [editing, edit] = useState<Editing>(null);
  const [made, setMade] = useState<MadeKey | null>(null);
  // A key that does not manage keys sees itself alone.
  const canManage =
    rows?.some(({ manages_keys: manages, revoked_at: revoked }) => manages && revoked === null) ?? false;
  const done = (key: MadeKey | null): void => {
    setMade(key);
    edit(null);
    announce(key === null ? 'Limits saved' : 'Key made');
    list.reload();
  };
  return (
    <>
      <AccountHead title="Keys" path="/account/keys">
        One key for each agent, each with a budget of Query Units a day, the operations that it may call and a
        last day.
      </AccountHead>
      {made === null ? null : <Secret made={made} onClose={() => setMade(null)} />}
      {editing === null ? (
        <ManageBar canManage={canManage} isKnown={rows !== null} onNew={() => edit({ of: null })} />
      ) : (
        <KeyForm
          key={editing.of?.id ?? 'new'}
          of={editing.of}
          routes={account?.metered_routes ?? []}
          onDone={done}
          onCancel={() => edit(null)}
        />
      )}
      <DataTable
        caption="Keys"
        columns={columnsOf(canManage, { edit: (of) => edit({ of }), reload: list.reload })}
        rows={rows}
        keyOf={({ id }) => id}
        rowClass={({ revoked_at: revoked }) => (revoked === null ? undefined : 'is-over')}
        list={{ what: 'keys', ...list }}
        empty={<EmptyState title="No keys" />}
      />
    </>
  );
}

interface ManageBarProps {
  readonly canManage: boolean;
  readonly isKnown: boolean;
  onNew(): void;
}

function ManageBar({ canManage, isKnown, onNew }: ManageBarProps) {
  if (canManage)
    return (
      <div class="row tool-row">
        <button type="button" class="button primary" onClick={onNew}>
          New key
        </button>
      </div>
    );
  if (!isKnown) return null;
  return (
    <p class="note muted">
      This key sees itself alone. Use one that manages keys to make, change and revoke others.
    </p>
  );
}

/** The secret of a new key. It is in this page alone, and gone once it is closed. */
function Secret({ made, onClose }: { readonly made: MadeKey; onClose(): void }) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <section class="card secret" aria-labelledby="secret-title" tabIndex={-1} ref={box}>
      <h2 id="secret-title">The key “{made.key.label}”</h2>
      <p>Copy it now: it is shown once, and only its digest is stored.</p>
      <p class="secret-line">
        <code class="secret-text">{made.api_key}</code>
        <CopyButton text={made.api_key} what="key" label="Copy" />
      </p>
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </section>
  );
}

interface KeyActions {
  edit(key: AccountKey): void;
  reload(): void;
}

type State = 'active' | 'expired' | 'revoked';

const STATE_TONES: Readonly<Record<State, Tone>> = { active: 'good', expired: 'neutral', revoked: 'neutral' };

function stateOf({ revoked_at: revoked, expires_at: expires }: AccountKey): State {
  if (revoked !== null) return 'revoked';
  return expires !== null && Date.parse(expires) <= Date.now() ? 'expired' : 'active';
}

function columnsOf(canManage: boolean, actions: KeyActions): readonly Column<AccountKey>[] {
  const columns: readonly Column<AccountKey>[] = [
    {
      name: 'Key',
      cell: (key) => (
        <span class="key-cell">
          <strong>{key.label}</strong>
          <span class="mono small muted" title={key.id}>
            {key.id.slice(0, 12)}…
          </span>
        </span>
      ),
    },
    {
      name: 'May call',
      priority: 2,
      cell: ({ operations }) =>
        operations === null ? (
          <span class="muted">everything</span>
        ) : (
          <span title={operations.join(', ')}>
            {operations.length === 1 ? operations[0] : `${countText(operations.length)} operations`}
          </span>
        ),
    },
    {
      name: 'Valid until',
      priority: 2,
      cell: ({ expires_at: at }) =>
        at === null ? (
          <span class="muted">no end</span>
        ) : (
          <time dateTime={at} title={timeText(at)}>
            {at.slice(0, 10)}
          </time>
        ),
    },
    { name: 'Made', priority: 3, cell: ({ created_at: at }) => <Time at={at} ago /> },
    { name: 'History', priority: 3, cell: (key) => <History of={key} /> },
    {
      name: 'State',
      cell: (key) => (
        <>
          <Chip tone={STATE_TONES[stateOf(key)]}>{stateOf(key)}</Chip>{' '}
          {key.manages_keys ? <Chip title="It may make, change and revoke keys">manages keys</Chip> : null}
        </>
      ),
    },
    { name: 'Used today', isFigure: true, cell: (key) => <Budget of={key} /> },
  ];
  if (!canManage) return columns;
  return [...columns, { name: 'Actions', cell: (key) => <Actions of={key} {...actions} /> }];
}

function Budget({ of: { units_used_today: used, units_per_day: most } }: { readonly of: AccountKey }) {
  if (most === null) return <>{countText(used)} QU</>;
  return (
    <span class="budget">
      {countText(used)} of {countText(most)} QU
      <meter min={0} max={most} value={Math.min(used, most)} aria-label="Part of the budget of today" />
    </span>
  );
}

function History({ of: { history } }: { readonly of: AccountKey }) {
  if (history.length === 0) return <span class="muted">–</span>;
  return (
    <details class="key-history">
      <summary>{countText(history.length)}</summary>
      <ul>
        {history.map(({ at, action, set }) => (
          <li key={`${at} ${action}`}>
            {action} <Time at={at} ago />
            {Object.keys(set).length === 0 ? null : (
              <span class="muted"> ({Object.keys(set).join(', ').replaceAll('_', ' ')})</span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Actions({ of, edit, reload }: KeyActions & { readonly of: AccountKey }) {
  const [isAsking, ask] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const revoke = async (): Promise<void> => {
    try {
      await change('DELETE', `/account/keys/${segment(of.id)}`);
      announce(`${of.label} revoked`);
      ask(false);
      reload();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
    }
  };
  if (of.revoked_at !== null) return <span class="muted">–</span>;
  if (problem !== null) return <ProblemState problem={problem} />;
  if (isAsking)
    return (
      <span class="row">
        <span>It will be refused from its next call.</span>
        <button type="button" class="button danger" onClick={() => void revoke()}>
          Revoke “{of.label}”
        </button>
        <button type="button" class="button" onClick={() => ask(false)}>
          Keep
        </button>
      </span>
    );
  return (
    <span class="row">
      <button type="button" class="button" onClick={() => edit(of)}>
        Change
      </button>
      <button type="button" class="button danger" onClick={() => ask(true)}>
        Revoke
      </button>
    </span>
  );
}
