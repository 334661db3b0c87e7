import { useState } from 'preact/hooks';
import { Loading, ProblemState } from '../components/states.tsx';
import type { AnswerState } from '../use-answer.ts';
import type { SqlSchema, SqlTable } from '../wire.ts';
import { OwnTables } from './own-tables.tsx';
import { SchemaTable } from './schema-table.tsx';

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
      {answer.own_tables === undefined ? null : (
        <OwnTables tables={answer.own_tables} word={word} onInsert={onInsert} onChange={reload} />
      )}
      {shown.map((table) => (
        <SchemaTable key={table.name} table={table} word={word} onInsert={onInsert} />
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
