import type { SqlColumn } from '../wire.ts';
import { COPY_FORMATS, type CopyFormat } from './copy-rows.ts';
import type { RowFilter } from './row-order.ts';

interface GridToolsProps {
  readonly columns: readonly SqlColumn[];
  readonly filter: RowFilter;
  /** How many rows the filter lets through; '' without one. */
  readonly shownText: string;
  onFilter(filter: RowFilter): void;
  onCopy(format: CopyFormat): void;
}

const FORMATS: readonly CopyFormat[] = ['tsv', 'json', 'sql'];

/** Above the rows: which are shown, and copies of them. The rows are in the browser; no query runs. */
export function GridTools({ columns, filter, shownText, onFilter, onCopy }: GridToolsProps) {
  return (
    <div class="grid-tools">
      <label>
        <span class="visually-hidden">Filter rows</span>
        <input
          type="search"
          placeholder="Filter rows: text, or > 100"
          value={filter.text}
          onInput={({ currentTarget }) => onFilter({ ...filter, text: currentTarget.value })}
        />
      </label>
      <label>
        <span class="visually-hidden">Column of the filter</span>
        <select
          value={filter.column ?? ''}
          onChange={({ currentTarget: { value } }) =>
            onFilter({ ...filter, column: value === '' ? null : Number(value) })
          }
        >
          <option value="">in any column</option>
          {columns.map(({ name }, index) => (
            <option key={index} value={index}>
              in {name}
            </option>
          ))}
        </select>
      </label>
      <span class="muted small" role="status">
        {shownText}
      </span>
      <div class="row grid-tools-end">
        <span class="muted small" id="copy-note">
          Copy the rows as
        </span>
        {FORMATS.map((format) => (
          <button
            key={format}
            type="button"
            class="button small-button"
            aria-label={`Copy rows as ${COPY_FORMATS[format]}`}
            onClick={() => onCopy(format)}
          >
            {COPY_FORMATS[format]}
          </button>
        ))}
      </div>
    </div>
  );
}
