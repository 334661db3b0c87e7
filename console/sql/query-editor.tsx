import { useEffect, useRef, useState } from 'preact/hooks';
import type { SqlSchema } from '../wire.ts';
import type { Mark, SqlEditor } from './editor.ts';
import type { Placeholder } from './query-text.ts';

interface QueryEditorProps {
  readonly text: string;
  /** Changes when the text was set from outside. Typed text is never put back into the editor, which would undo later keys. */
  readonly revision: number;
  readonly schema: SqlSchema | null;
  readonly mark: Mark | null;
  readonly isRunning: boolean;
  onChange(text: string): void;
  onRun(): void;
  /** Called once, when the editor is shown. */
  onReady(editor: SqlEditor): void;
}

/** The editor, with a plain text area until its chunk is loaded. */
export function QueryEditor(props: QueryEditorProps) {
  const { text, revision, schema, mark, isRunning, onChange, onRun, onReady } = props;
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
    });
    return () => {
      isHere = false;
      made?.destroy();
    };
  }, []);
  // Once its place is shown: a hidden editor takes no focus.
  useEffect(() => {
    if (editor !== null) now.current.onReady(editor);
  }, [editor]);
  // `revision` is only a trigger.
  useEffect(() => editor?.setText(now.current.text), [editor, revision]);
  useEffect(() => {
    if (schema !== null) editor?.setSchema(schema);
  }, [editor, schema]);
  useEffect(() => editor?.setMark(mark), [editor, mark]);
  useEffect(() => editor?.setRunning(isRunning), [editor, isRunning]);
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

/** A field for every placeholder `{name:Type}`. The engine binds the values; they are never inserted into the text. */
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
