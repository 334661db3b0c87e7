import { type ComponentChildren, toChildArray } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { chainText } from '../format.ts';
import { navigate } from '../router.tsx';
import { withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Telemetry } from '../wire.ts';

interface PageHeadProps {
  readonly title: string;
  /** What the page shows, in a sentence. */
  readonly children: ComponentChildren;
  /** Links and buttons about the whole page. */
  readonly tools?: ComponentChildren;
}

/** The head of most pages: the title, and what the page shows. */
export function PageHead({ title, children, tools }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        <p class="muted">{children}</p>
      </div>
      {tools === undefined ? null : <div class="page-tools">{tools}</div>}
    </div>
  );
}

/** Filters are kept in the address, so that a filtered list can be shared and the back button undoes a change. */

interface FilterFormProps {
  readonly label: string;
  readonly query: URLSearchParams;
  readonly children: ComponentChildren;
}

/** Parameters that choose a page or an order, and filter nothing. */
const NOT_FILTERS: ReadonlySet<string> = new Set(['offset', 'before', 'after', 'by', 'order', 'window']);
const NARROW = '(max-width: 560px)';
/** Fewer filters need no sheet. */
const SHEET_FROM = 3;

/** The filters of a list; on a narrow screen a button that opens them in a sheet, and says how many are set. */
export function FilterForm({ label, query, children }: FilterFormProps) {
  const isNarrow = useMedia(NARROW);
  const sheet = useRef<HTMLDialogElement>(null);
  const form = (
    <form class="filters" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
  if (!isNarrow || toChildArray(children).length < SHEET_FROM) return form;
  const set = [...query.keys()].filter((name) => !NOT_FILTERS.has(name)).length;
  return (
    <>
      <button
        type="button"
        class="button filter-button"
        aria-haspopup="dialog"
        onClick={() => sheet.current?.showModal()}
      >
        Filters{set === 0 ? '' : ` (${set})`}
      </button>
      <dialog ref={sheet} class="dialog sheet" aria-label={label}>
        {form}
        <button type="button" class="button primary" onClick={() => sheet.current?.close()}>
          Show the list
        </button>
      </dialog>
    </>
  );
}

function useMedia(text: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(text).matches);
  useEffect(() => {
    const media = matchMedia(text);
    const follow = (): void => setMatches(media.matches);
    follow();
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, [text]);
  return matches;
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
  const chosen = query.get(name) ?? '';
  const isListed = options.some(({ value }) => value === chosen);
  return (
    <label class="filter">
      <span>{label}</span>
      <select value={chosen} onChange={(event) => change(path, query, name, event.currentTarget.value)}>
        {isListed ? null : <option value={chosen}>{chosen}</option>}
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

/** A day, by its first second. */
export function DateFilter({ label, path, query, name }: FieldProps) {
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        type="date"
        value={query.get(name) ?? ''}
        onChange={(event) => change(path, query, name, event.currentTarget.value)}
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

/** The chains of this deployment as options of a filter, which narrows: without one a page is about all of them. */
export function useChainOptions(): readonly Option[] {
  const { answer } = useAnswer<Telemetry>('/telemetry');
  const chains = answer?.chains.map(({ chain }) => ({ value: chain, label: chainText(chain) })) ?? [];
  return [{ value: '', label: 'all chains' }, ...chains];
}
