import type { ComponentChildren } from 'preact';
import { countText } from '../format.ts';
import type { SqlTable } from '../wire.ts';

/** A table with its columns, which are inserted by a click. */
export function SchemaTable({
  table: { name, meaning, row_count: rows, cheap_by: cheapBy, columns },
  word,
  onInsert,
  children,
}: {
  readonly table: Omit<SqlTable, 'example'>;
  readonly word: string;
  onInsert(name: string): void;
  /** Behind the columns. */
  readonly children?: ComponentChildren;
}) {
  const shown = columns.filter((column) => word === '' || name.includes(word) || column.name.includes(word));
  return (
    <details class="schema-table" open={word !== ''}>
      <summary title={meaning}>
        <span class="mono">{name}</span>
        <span class="muted small number">{countText(rows)}</span>
      </summary>
      <p class="muted small">{meaning}</p>
      <ul>
        {shown.map((column) => (
          <li key={column.name}>
            <button
              type="button"
              class="schema-column"
              title={column.meaning}
              onClick={() => onInsert(column.name)}
            >
              <span class="mono">{column.name}</span>
              {cheapBy.includes(column.name) ? (
                <span class="cheap" title="A filter on this column reads little data">
                  ◆<span class="visually-hidden"> cheap to filter by</span>
                </span>
              ) : null}
              <span class="muted small type">{column.type}</span>
            </button>
          </li>
        ))}
      </ul>
      <button type="button" class="button insert" onClick={() => onInsert(name)}>
        Insert the name
      </button>
      {children}
    </details>
  );
}
