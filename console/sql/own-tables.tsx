import { useRef, useState } from 'preact/hooks';
import { ApiProblem, callApi, segment } from '../api.ts';
import { announce, ProblemState } from '../components/states.tsx';
import type { OwnTable } from '../wire.ts';
import { RemoveButton } from './saved-list.tsx';
import { SchemaTable } from './schema-table.tsx';

/** The tables of the organization: what each has, a file as a new one, and how one is deleted. */

/** Media types by the end of a file's name: browsers know few of them. */
const MEDIA: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

interface OwnTablesProps {
  readonly tables: readonly OwnTable[];
  readonly word: string;
  onInsert(name: string): void;
  /** Reads the schema again. */
  onChange(): void;
}

export function OwnTables({ tables, word, onInsert, onChange }: OwnTablesProps) {
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const attempt = async (act: () => Promise<unknown>, said: string): Promise<boolean> => {
    setProblem(null);
    try {
      await act();
      announce(said);
      onChange();
      return true;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
      return false;
    }
  };
  return (
    <section class="own-tables" aria-label="Your tables">
      <h2>Your tables</h2>
      {tables.map((table) => (
        <SchemaTable key={table.name} table={shown(table)} word={word} onInsert={onInsert}>
          <RemoveButton
            what={table.name}
            onRemove={() =>
              void attempt(() => callApi(pathOf(table.name), { method: 'DELETE' }), `${table.name} removed`)
            }
          />
        </SchemaTable>
      ))}
      <Upload
        onSend={(name, file, types) =>
          attempt(
            () =>
              callApi(pathOf(name), {
                method: 'PUT',
                file,
                headers: { 'content-type': MEDIA[endOf(file.name)] ?? file.type },
                query: { types: types === '' ? null : types },
              }),
            `my.${name} is there`,
          )
        }
      />
      {problem === null ? null : <ProblemState problem={problem} />}
    </section>
  );
}

function pathOf(name: string): string {
  return `/tables/${segment(name.replace(/^my\./, ''))}`;
}

function endOf(fileName: string): string {
  return fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase();
}

/** `Wallet labels.csv` is `wallet_labels`. */
export function tableNameOf(fileName: string): string {
  const plain = fileName
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '');
  return plain.slice(0, NAME_MAX_CHARS).replace(/_$/, '');
}

const NAME_MAX_CHARS = 40;

function shown({ columns, ...table }: OwnTable) {
  return {
    ...table,
    meaning: 'A table of your organization. Nobody else can read it.',
    cheap_by: [],
    columns: columns.map((column) => ({ ...column, meaning: '' })),
  };
}

function Upload({ onSend }: { onSend(name: string, file: File, types: string): Promise<boolean> }) {
  const [isSending, setSending] = useState(false);
  const [name, setName] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(form.current ?? undefined);
    const [file, types] = [fields.get('file'), fields.get('types')];
    if (!(file instanceof File) || isSending) return;
    setSending(true);
    const isKept = await onSend(name, file, String(types ?? '')).finally(() => setSending(false));
    if (!isKept) return;
    form.current?.reset();
    setName('');
  };
  return (
    <details class="schema-table">
      <summary>
        <span>Add a table</span>
      </summary>
      <form ref={form} class="own-upload" onSubmit={(event) => void send(event)}>
        <label>
          File of CSV, NDJSON or Parquet
          <input
            type="file"
            name="file"
            required
            accept=".csv,.ndjson,.jsonl,.parquet"
            onChange={({ currentTarget: { files } }) => setName(tableNameOf(files?.[0]?.name ?? ''))}
          />
        </label>
        <label>
          Name in SQL, after my.
          <input
            type="text"
            name="name"
            required
            pattern="[a-z][a-z0-9_]*"
            title="A lower-case letter, then lower-case letters, digits and _"
            maxLength={NAME_MAX_CHARS}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <label>
          Types, where the found ones are wrong
          <input type="text" name="types" placeholder="amount:UInt256,day:Date" spellcheck={false} />
        </label>
        <button type="submit" class="button" disabled={isSending}>
          {isSending ? 'Sending' : 'Add'}
        </button>
      </form>
    </details>
  );
}
