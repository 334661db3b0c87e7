import { useEffect, useRef, useState } from 'preact/hooks';
import type { SqlSchema } from '../wire.ts';
import type { Mark, SqlEditor } from './editor.ts';
import type { Placeholder } from './query-text.ts';

interface QueryEditorProps {
  readonly text: string;
  /** Changes when the text came from elsewhere. What is typed goes out only: given back late, it would undo the keys after it. */
  readonly revision: number;
  readonly schema: SqlSchema | null;
  readonly mark: Mark | null;
  onChange(text: string): void;
  onRun(): void;
  /** Given once, for what only an editor can do. */
  onReady(editor: SqlEditor): void;
}

/** The editor is a chunk of its own; until it is there a plain text area takes the query. */
export function QueryEditor({ text, revision, schema, mark, onChange, onRun, onReady }: QueryEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<SqlEditor | null>(null);
  const now = useRef({ text, onChange, onRun, onReady });
  now.current = { text, onChange, onRun, onReady };
  useEffect(() => {
    let isHere = true;
    let made: SqlEditor | undefined;
    void import('./editor.ts').then(({ createSqlEditor }) => {
      if (!isHere || host.current === null) return;
      made = createSqlEditor({
        host: host.current,
        text: now.current.text,
        onChange: (next) => now.current.onChange(next),
        onRun: () => now.current.onRun(),
      });
      setEditor(made);
      now.current.onReady(made);
    });
    return () => {
      isHere = false;
      made?.destroy();
    };
  }, []);
  // `revision` is not read: it says when.
  useEffect(() => editor?.setText(now.current.text), [editor, revision]);
  useEffect(() => {
    if (schema !== null) editor?.setSchema(schema);
  }, [editor, schema]);
  useEffect(() => editor?.setMark(mark), [editor, mark]);
  return (
    <div class="editor">
      <div ref={host} class="editor-host" hidden={editor === null} />
      {editor === null ? (
        <textarea
          class="editor-plain"
          aria-label="SQL query"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : null}
    </div>
  );
}

interface ParametersProps {
  readonly placeholders: readonly Placeholder[];
  readonly values: Readonly<Record<string, string>>;
  onChange(values: Readonly<Record<string, string>>): void;
}

/** A field for every `{name:Type}` of the query. The engine binds the values; they are never pasted into the text. */
export function Parameters({ placeholders, values, onChange }: ParametersProps) {
  if (placeholders.length === 0) return null;
  return (
    <fieldset class="parameters">
      <legend class="visually-hidden">Values of the placeholders</legend>
      {placeholders.map(({ name, type }) => (
        <label key={name}>
          <span>
            <span class="mono">{name}</span> <span class="muted small">{type}</span>
          </span>
          <input
            type="text"
            class="mono"
            spellcheck={false}
            autocomplete="off"
            value={values[name] ?? ''}
            onInput={({ currentTarget }) => onChange({ ...values, [name]: currentTarget.value })}
          />
        </label>
      ))}
    </fieldset>
  );
}
