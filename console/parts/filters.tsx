import type { ComponentChildren } from 'preact';
import { navigate } from '../router.tsx';
import { withQuery } from './offset-nav.tsx';

/** Filters live in the address: a filtered list can be shared, and back undoes a change. */

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
  /** The parameter of the address, named like that of the API. */
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

/** Takes effect when it is left, or with Enter. */
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

/** A changed filter is another list: it starts at its beginning. */
function change(path: string, query: URLSearchParams, name: string, value: string | null): void {
  navigate(withQuery(path, query, { [name]: value, offset: null }));
}

/** The named values of an address that are set, for the query of a request. */
export function pick(query: URLSearchParams, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = query.get(name);
    if (value !== null && value !== '') picked[name] = value;
  }
  return picked;
}
