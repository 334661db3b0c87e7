import { useState } from 'preact/hooks';
import { Loading, ProblemState } from '../components/states.tsx';
import { countText } from '../format.ts';
import type { AnswerState } from '../use-answer.ts';
import type { SqlSchema, SqlTable } from '../wire.ts';

interface SchemaBrowserProps {
  readonly schema: AnswerState<SqlSchema>;
  /** Inserts a name at the cursor of the editor. */
  onInsert(name: string): void;
}

/** Tables and columns with their meaning. Columns that are cheap to filter by are marked. */
export function SchemaBrowser({ schema: { answer, problem, reload }, onInsert }: SchemaBrowserProps) {
  const [wanted, setWanted] = useState('');
  if (answer === null)
    return problem === null ? (
      <Loading what="the tables" />
    ) : (
      <ProblemState problem={problem} onRetry={reload} />
    );
  const word = wanted.trim().toLowerCase();
  const shown = answer.tables.filter((table) => word === '' || matches(table, word));
  return (
    <>
      <label class="schema-search">
        <span class="visually-hidden">Find a table or a column</span>
        <input
          type="search"
          placeholder="Find a table or column"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      </label>
      {shown.map((table) => (
        <Table key={table.name} table={table} word={word} onInsert={onInsert} />
      ))}
      {shown.length === 0 ? <p class="muted small">No table or column matches.</p> : null}
      <p class="muted small">
        <span class="cheap" aria-hidden="true">
          ◆
        </span>{' '}
        cheap to filter by. <a href="/v0/sql/schema?table=*&functions=*">The schema as JSON</a>
      </p>
    </>
  );
}

function matches({ name, columns }: SqlTable, word: string): boolean {
  return name.includes(word) || columns.some((column) => column.name.includes(word));
}

function Table({
  table: { name, meaning, row_count: rows, cheap_by: cheapBy, columns },
  word,
  onInsert,
}: {
  readonly table: SqlTable;
  readonly word: string;
  onInsert(name: string): void;
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
    </details>
  );
}
