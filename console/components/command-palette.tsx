import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApiProblem } from '../api.ts';
import { countText } from '../format.ts';
import type { Entry, EntryGroup, EntryKind } from '../palette/entries.ts';
import { isPaletteOpen } from '../palette/open.ts';
import { noteOpened } from '../palette/recent.ts';
import { useEntries } from '../palette/use-entries.ts';
import { navigate } from '../router.tsx';
import { CONSOLE_BASE, SEARCH_TEXT_MAX } from '../routes.ts';
import { Identicon } from './identicon.tsx';
import { SearchSign } from './search-sign.tsx';

/**
 * The search of the header: wallets, transactions, channels, names, pages and documentation. A combobox with a list that the keyboard walks through
 * while the focus stays in the field. Source: WAI-ARIA Authoring Practices, "Combobox".
 */
export function CommandPalette() {
  const dialog = useRef<HTMLDialogElement>(null);
  // At once: a key that is typed before the field has the focus would be lost.
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  const close = (): void => isPaletteOpen.set(false);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search"
      onClose={close}
      onClick={(event) => {
        // A click on the backdrop has the dialog itself as its target.
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <Search onDone={() => dialog.current?.close()} />
    </dialog>
  );
}

const LIST_ID = 'palette-list';
const idOf = (at: number): string => `palette-entry-${at}`;

function Search({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState('');
  const [chosen, choose] = useState<string | null>(null);
  const { groups, isSearching, problem } = useEntries(text);
  const entries = groups.flatMap((group) => group.entries);
  const kept = entries.findIndex(({ href }) => href === chosen);
  // An entry that the visitor chose stays chosen while others arrive; otherwise the best one is.
  const active = kept === -1 ? 0 : kept;
  const open = (entry: Entry | undefined, inNewTab: boolean): void => {
    if (entry === undefined) return;
    noteOpened(entry);
    onDone();
    go(entry.href, inNewTab);
  };
  const step = (by: number): void => {
    if (entries.length === 0) return;
    choose(entries[(active + by + entries.length) % entries.length]?.href ?? null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = MOVES[event.key];
    if (move !== undefined) {
      event.preventDefault();
      step(move);
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      open(entries[active], event.metaKey || event.ctrlKey);
    }
  };
  useEffect(() => {
    document.getElementById(idOf(active))?.scrollIntoView({ block: 'nearest' });
  }, [active, entries.length]);
  return (
    <>
      <div class="palette-field">
        <SearchSign />
        <input
          type="text"
          role="combobox"
          aria-label="Search wallets, transactions, channels, names, pages and documentation"
          aria-expanded={entries.length > 0}
          aria-controls={LIST_ID}
          aria-autocomplete="list"
          {...(entries.length > 0 ? { 'aria-activedescendant': idOf(active) } : {})}
          placeholder="Search wallets or agents"
          autofocus
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="go"
          maxLength={SEARCH_TEXT_MAX}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            choose(null);
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" class="palette-close" onClick={onDone}>
          Close
        </button>
      </div>
      <div id={LIST_ID} class="palette-list" role="listbox" aria-label="Results" tabIndex={-1}>
        <Groups groups={groups} active={active} onChoose={choose} onOpen={open} />
      </div>
      <p class="palette-foot" role="status">
        <State {...{ isSearching, count: entries.length, text, problem }} />
      </p>
    </>
  );
}

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Pages of the console open in place, the documentation is another document. */
function go(href: string, inNewTab: boolean): void {
  if (inNewTab) globalThis.open(href, '_blank', 'noopener');
  else if (href === CONSOLE_BASE) navigate('/');
  else if (href.startsWith(`${CONSOLE_BASE}/`)) navigate(href.slice(CONSOLE_BASE.length));
  else location.assign(href);
}

interface GroupsProps {
  readonly groups: readonly EntryGroup[];
  readonly active: number;
  onChoose(href: string): void;
  onOpen(entry: Entry, inNewTab: boolean): void;
}

function Groups({ groups, active, onChoose, onOpen }: GroupsProps) {
  let at = -1;
  return (
    <>
      {groups.map(({ name, entries }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
        <div key={name} role="group" aria-label={name}>
          <div class="palette-group" aria-hidden="true">
            {name}
          </div>
          {entries.map((entry) => {
            at += 1;
            return (
              <Option
                key={entry.href}
                id={idOf(at)}
                entry={entry}
                isActive={at === active}
                onChoose={onChoose}
                onOpen={onOpen}
              />
            );
          })}
        </div>
      ))}
    </>
  );
}

interface OptionProps extends Pick<GroupsProps, 'onChoose' | 'onOpen'> {
  readonly id: string;
  readonly entry: Entry;
  readonly isActive: boolean;
}

function Option({ id, entry, isActive, onChoose, onOpen }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys of the list
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
    <div
      id={id}
      class="palette-entry"
      role="option"
      aria-selected={isActive}
      onMouseMove={() => onChoose(entry.href)}
      onClick={(event) => onOpen(entry, event.metaKey || event.ctrlKey)}
      onAuxClick={() => onOpen(entry, true)}
    >
      {entry.wallet === undefined ? <KindSign kind={entry.kind} /> : <Identicon address={entry.wallet} />}
      <span class="palette-title">{entry.title}</span>
      {entry.detail === undefined ? null : <span class="palette-detail">{entry.detail}</span>}
    </div>
  );
}

interface StateProps {
  readonly isSearching: boolean;
  readonly count: number;
  readonly text: string;
  readonly problem: ApiProblem | null;
}

function State({ isSearching, count, text, problem }: StateProps) {
  if (isSearching) return <>Searching …</>;
  if (problem !== null) return <>{problemText(problem)}</>;
  if (text.trim() === '') return <>Type an address, a transaction hash or a name.</>;
  return <>{count === 1 ? '1 result' : `${countText(count)} results`}</>;
}

function problemText({ retryAfterSeconds, body }: ApiProblem): string {
  if (retryAfterSeconds !== null) return 'Some names could not be searched yet. Trying again …';
  const isKeyNeeded = NEEDS_KEY.includes(body.status);
  return `Names could not be searched. ${isKeyNeeded ? 'Entering a key may help.' : body.detail}`;
}

/** Unauthorized, payment required, forbidden. */
const NEEDS_KEY: readonly number[] = [401, 402, 403];

const SIGNS: Readonly<Record<EntryKind, string>> = {
  wallet: 'M2 4.5h12v8H2zM10.5 8.5h1',
  merchant: 'M2.5 6.5h11M3.5 6.5v6h9v-6M4 3h8l1.5 3.5h-11z',
  transaction: 'M2 5h10M9 2l3 3-3 3M14 11H4M7 8l-3 3 3 3',
  channel: 'M2 4.5h12M2 11.5h12M5 8h6M9 6l2 2-2 2',
  agent: 'M3.5 5.5h9v7h-9zM8 5.5v-3M6 9h.5M9.5 9h.5',
  endpoint: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  facilitator: 'M2 8h12M8 2v12M3.8 3.8l8.4 8.4',
  capability: 'M8 2l1.8 4.2L14 8l-4.2 1.8L8 14l-1.8-4.2L2 8l4.2-1.8z',
  page: 'M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5',
  docs: 'M3 2.5h7.5a2 2 0 0 1 2 2v9H5a2 2 0 0 1-2-2zM5.5 5.5H10',
  search: 'M10 10l4 4M6.5 11a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Z',
};

function KindSign({ kind }: { readonly kind: EntryKind }) {
  return (
    <svg class="sign" viewBox="0 0 16 16" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={SIGNS[kind]} />
    </svg>
  );
}
