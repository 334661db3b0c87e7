import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { chainText } from '../format.ts';
import { navigate } from '../router.tsx';
import { SEARCH_TEXT_MAX, searchPath, withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Telemetry } from '../wire.ts';

interface PageHeadProps {
  readonly title: string;
  /** What the page shows, in a sentence. */
  readonly children: ComponentChildren;
}

/** The head of most pages: the title, what the page shows, and the search for wallets and agents. */
export function PageHead({ title, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        <p class="muted">{children}</p>
      </div>
      <SearchBox />
    </div>
  );
}

function SearchBox() {
  const [text, setText] = useState('');
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const path = searchPath(text);
    if (path === null) return;
    setText('');
    navigate(path);
  };
  return (
    <search class="search-place">
      <form class="search" onSubmit={onSubmit}>
        <label>
          <span class="visually-hidden">Search wallets and agents</span>
          <input
            type="search"
            name="q"
            value={text}
            maxLength={SEARCH_TEXT_MAX}
            placeholder="Wallet address or name of an agent"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button">
          Search
        </button>
      </form>
    </search>
  );
}

/** Filters are kept in the address, so that a filtered list can be shared and the back button undoes a change. */

interface FilterFormProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

export function FilterForm({ label, children }: FilterFormProps) {
  return (
    <form class="filters" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The parameter of the address; the parameter of the API has the same name. */
  readonly name: string;
}

interface SelectFilterProps extends FieldProps {
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

export function SelectFilter({ label, path, query, name, options }: SelectFilterProps) {
  return (
    <label class="filter">
      <span>{label}</span>
      <select
        value={query.get(name) ?? ''}
        onChange={(event) => change(path, query, name, event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextFilterProps extends FieldProps {
  readonly placeholder: string;
  readonly maxLength: number;
}

/** Takes effect on Enter, and when the field loses the focus. */
export function TextFilter({ label, path, query, name, placeholder, maxLength }: TextFilterProps) {
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        type="search"
        key={query.get(name) ?? ''}
        defaultValue={query.get(name) ?? ''}
        placeholder={placeholder}
        maxLength={maxLength}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => change(path, query, name, event.currentTarget.value.trim())}
      />
    </label>
  );
}

export function CheckFilter({ label, path, query, name }: FieldProps) {
  return (
    <label class="filter is-check">
      <input
        type="checkbox"
        checked={query.get(name) === 'true'}
        onChange={(event) => change(path, query, name, event.currentTarget.checked ? 'true' : null)}
      />
      <span>{label}</span>
    </label>
  );
}

/** A changed filter gives another list, which starts at its first row. */
function change(path: string, query: URLSearchParams, name: string, value: string | null): void {
  navigate(withQuery(path, query, { [name]: value, offset: null }));
}

interface Option {
  readonly value: string;
  readonly label: string;
}

/** The chains of this deployment as options of a filter. `unset` is the label for no choice. */
export function useChainOptions(unset: string): readonly Option[] {
  const { answer } = useAnswer<Telemetry>('/telemetry');
  const chains = answer?.chains.map(({ chain }) => ({ value: chain, label: chainText(chain) })) ?? [];
  return [{ value: '', label: unset }, ...chains];
}
