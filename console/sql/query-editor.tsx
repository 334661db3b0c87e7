import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SqlSchema } from '../wire.ts';
import type { Mark, SqlEditor } from './editor.ts';

interface QueryEditorProps {
  /** Of the tab. */
  readonly id: string;
  readonly text: string;
  /** Changes when the text was set from outside. Typed text is never put back into the editor, which would undo later keys. */
  readonly revision: number;
  readonly schema: SqlSchema | null;
  readonly marks: readonly Mark[];
  readonly isRunning: boolean;
  onChange(text: string): void;
  onRun(): void;
  /** Called once, when the editor is shown. */
  onReady(editor: SqlEditor): void;
}

/** The editor, with a plain text area until its chunk is loaded. */
export function QueryEditor(props: QueryEditorProps) {
  const { id, text, revision, schema, marks, isRunning, onChange, onRun, onReady } = props;
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<SqlEditor | null>(null);
  const now = useRef({ id, text, onChange, onRun, onReady });
  now.current = { id, text, onChange, onRun, onReady };
  useEffect(() => {
    let isHere = true;
    let made: SqlEditor | undefined;
    void import('./editor.ts').then(({ createSqlEditor }) => {
      if (!isHere || host.current === null) return;
      made = createSqlEditor({
        host: host.current,
        id: now.current.id,
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
  // At once when its place is shown (a hidden editor takes no focus): a key that is typed before would be lost.
  useLayoutEffect(() => {
    if (editor !== null) now.current.onReady(editor);
  }, [editor]);
  useLayoutEffect(() => editor?.show(id, now.current.text), [editor, id]);
  // `revision` is only a trigger.
  useLayoutEffect(() => editor?.setText(now.current.text), [editor, revision]);
  useEffect(() => {
    if (schema !== null) editor?.setSchema(schema);
  }, [editor, schema]);
  useEffect(() => editor?.setMarks(marks), [editor, marks, id]);
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
