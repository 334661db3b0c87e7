import {
  autocompletion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  ifNotIn,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { schemaCompletionSource } from '@codemirror/lang-sql';
import { bracketMatching, indentOnInput, LanguageSupport } from '@codemirror/language';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { afterDot, columnsByTable, schemaCompletions } from './completion.ts';
import { clickHouseDialect } from './dialect.ts';
import { editorLook } from './editor-look.ts';
import type { SqlSchema } from './wire.ts';

/** What is wrong, and where: line and column from 1, as the API counts. */
export interface Mark {
  readonly line: number;
  readonly column: number;
  /** The text that stands there; '' when nobody knows. */
  readonly near: string;
  readonly message: string;
}

export interface SqlEditor {
  setText(text: string): void;
  /** Puts a name where the cursor is. */
  insert(text: string): void;
  setSchema(schema: SqlSchema): void;
  /** Null takes the mark away. */
  setMark(mark: Mark | null): void;
  goTo(place: { readonly line: number; readonly column: number }): void;
  focus(): void;
  destroy(): void;
}

export interface SqlEditorOptions {
  readonly host: HTMLElement;
  readonly text: string;
  onChange(text: string): void;
  onRun(): void;
}

/**
 * CodeMirror in a shadow root: there its style sheets are constructed ones, so that the policy of the page needs neither a nonce nor
 * inline styles.
 */
export function createSqlEditor({ host, text, onChange, onRun }: SqlEditorOptions): SqlEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => ran(onRun) }])),
        editing(),
        language.of(new LanguageSupport(clickHouseDialect([]).language)),
        editorLook,
        EditorView.contentAttributes.of({
          'aria-label': 'SQL query',
          'aria-description': 'Control or Command and Enter runs it. Tab leaves the editor.',
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.sliceDoc());
        }),
      ],
    }),
  });
  return {
    setText: (next) => replaceAll(view, next),
    insert: (name) => {
      view.dispatch(view.state.replaceSelection(name));
      view.focus();
    },
    setSchema: (schema) => view.dispatch({ effects: language.reconfigure(languageWith(schema)) }),
    setMark: (mark) =>
      view.dispatch(setDiagnostics(view.state, mark === null ? [] : [diagnosticOf(view.state, mark)])),
    goTo: (place) => {
      view.dispatch({ selection: { anchor: offsetOf(view.state, place) }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function ran(onRun: () => void): boolean {
  onRun();
  return true;
}

/** No key of it takes Tab: keyboards must be able to leave the editor. */
function editing(): Extension {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    EditorView.lineWrapping,
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
  ];
}

/** Where nothing of ours belongs. */
const QUOTED = ['String', 'LineComment', 'BlockComment', 'QuotedIdentifier'];

function languageWith(schema: SqlSchema): Extension {
  const dialect = clickHouseDialect([...schema.functions, ...schema.table_functions]);
  const complete = (autocomplete: CompletionSource): Extension => dialect.language.data.of({ autocomplete });
  return new LanguageSupport(dialect.language, [
    complete(afterDot(schemaCompletionSource({ dialect, schema: columnsByTable(schema) }))),
    complete(ifNotIn(QUOTED, schemaCompletions(schema))),
  ]);
}

function replaceAll(view: EditorView, text: string): void {
  if (view.state.sliceDoc() === text) return;
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    selection: { anchor: text.length },
  });
}

function diagnosticOf(state: EditorState, mark: Mark): Diagnostic {
  const from = offsetOf(state, mark);
  const { to: lineEnd } = state.doc.lineAt(from);
  const stands = mark.near !== '' && state.sliceDoc(from, from + mark.near.length) === mark.near;
  const to = stands ? from + mark.near.length : endOfWord(state, from, lineEnd);
  return { from, to, severity: 'error', message: mark.message };
}

/** At least one character, where there is one. */
function endOfWord(state: EditorState, from: number, lineEnd: number): number {
  const [word = ''] = /^\w+/.exec(state.sliceDoc(from, lineEnd)) ?? [];
  return Math.min(Math.max(from + word.length, from + 1), Math.max(lineEnd, from));
}

/** The API counts from 1; a place beyond the text, which may have changed meanwhile, is its end. */
function offsetOf(
  { doc }: EditorState,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(from + Math.max(column - 1, 0), to);
}
