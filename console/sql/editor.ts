import {
  acceptCompletion,
  autocompletion,
  type CompletionSource,
  closeCompletion,
  completionKeymap,
  ifNotIn,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, insertNewline } from '@codemirror/commands';
import { schemaCompletionSource } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, LanguageSupport, syntaxHighlighting } from '@codemirror/language';
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
import { tags } from '@lezer/highlight';
import type { SqlSchema } from '../wire.ts';
import { afterDot, clickHouseDialect, columnsByTable, schemaCompletions } from './completion.ts';

/** A fault in the text. Lines and columns count from 1, as in the API. */
export interface Mark {
  readonly severity: 'error' | 'warning';
  readonly line: number;
  readonly column: number;
  /** The text at that place; '' where it is unknown. */
  readonly near: string;
  readonly message: string;
}

export interface SqlEditor {
  /** Shows the document of a tab. Each keeps its cursor and its steps of undoing while others are shown. */
  show(id: string, text: string): void;
  setText(text: string): void;
  /** Inserts a name at the cursor. */
  insert(text: string): void;
  setSchema(schema: SqlSchema): void;
  /** In place of those before. */
  setMarks(marks: readonly Mark[]): void;
  goTo(place: { readonly line: number; readonly column: number }): void;
  focus(): void;
  /** While a query runs no list of completions is open. */
  setRunning(isRunning: boolean): void;
  destroy(): void;
}

interface SqlEditorOptions {
  readonly host: HTMLElement;
  readonly id: string;
  readonly text: string;
  onChange(text: string): void;
  onRun(): void;
}

/**
 * CodeMirror in a shadow root, where it uses constructed style sheets: the content security policy of the page then needs neither a
 * nonce nor inline styles.
 */
export function createSqlEditor({ host, id, text, onChange, onRun }: SqlEditorOptions): SqlEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const completion = new Compartment();
  let known: Extension = new LanguageSupport(clickHouseDialect([]).language);
  let completing: Extension = COMPLETION;
  const stateOf = (doc: string): EditorState =>
    EditorState.create({
      doc,
      selection: { anchor: doc.length },
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => ran(onRun) }])),
        completion.of(completing),
        editing(),
        language.of(known),
        editorLook,
        DESCRIBED,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.sliceDoc());
        }),
      ],
    });
  const view = new EditorView({ root, parent: root, state: stateOf(text) });
  const others = new Map<string, EditorState>();
  let shown = id;
  return {
    show: (next, doc) => {
      if (next === shown) return;
      others.set(shown, view.state);
      shown = next;
      const before = others.get(next);
      view.setState(before?.sliceDoc() === doc ? before : stateOf(doc));
      view.dispatch({ effects: [language.reconfigure(known), completion.reconfigure(completing)] });
    },
    setText: (next) => replaceAll(view, next),
    insert: (name) => {
      view.dispatch(view.state.replaceSelection(name));
      view.focus();
    },
    setSchema: (schema) => {
      known = languageWith(schema);
      view.dispatch({ effects: language.reconfigure(known) });
    },
    setMarks: (marks) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          marks.map((mark) => diagnosticOf(view.state, mark)),
        ),
      ),
    goTo: (place) => {
      view.dispatch({ selection: { anchor: offsetOf(view.state, place) }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    setRunning: (isRunning) => {
      closeCompletion(view);
      completing = isRunning ? [] : COMPLETION;
      view.dispatch({ effects: completion.reconfigure(completing) });
    },
    destroy: () => view.destroy(),
  };
}

const DESCRIBED = EditorView.contentAttributes.of({
  'aria-label': 'SQL query',
  'aria-description':
    'Control or Command and Enter runs it. Tab takes the selected completion while a list is open, and else leaves the editor.',
});

function ran(onRun: () => void): boolean {
  onRun();
  return true;
}

/** Of the package's keys all but Enter, which begins a line: typed text is never changed. */
const COMPLETION: Extension = [
  // Without a delay, in which Tab would leave the editor: no other key takes a completion.
  autocompletion({ icons: false, defaultKeymap: false, interactionDelay: 0 }),
  Prec.highest(
    keymap.of([
      ...completionKeymap.filter(({ key }) => key !== 'Enter'),
      { key: 'Tab', run: acceptCompletion },
    ]),
  ),
];

/**
 * Typed text stays as it is: no brackets are closed, no lines indented. Tab has no binding of its own, so that keyboard users can
 * leave the editor.
 */
function editing(): Extension {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    history(),
    drawSelection(),
    bracketMatching(),
    EditorView.lineWrapping,
    keymap.of([
      { key: 'Enter', run: insertNewline, shift: insertNewline },
      ...historyKeymap,
      ...defaultKeymap,
    ]),
  ];
}

/** Completion is off inside these. */
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
  const to = stands ? from + mark.near.length : endOfPart(state, from, lineEnd);
  return { from, to, severity: mark.severity, message: mark.message };
}

/** A word, or a text or name with its quotes: `near` has the value of a text, without them. */
const PART = /^(?:\w+|'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?|`[^`]*`?)/;

/** At least one character, unless the line ends. */
function endOfPart(state: EditorState, from: number, lineEnd: number): number {
  const [word = ''] = PART.exec(state.sliceDoc(from, lineEnd)) ?? [];
  return Math.min(Math.max(from + word.length, from + 1), Math.max(lineEnd, from));
}

/** The offset of a place. The text may have changed since, so a place beyond it is its end. */
function offsetOf(
  { doc }: EditorState,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(from + Math.max(column - 1, 0), to);
}

/** The colours of the page: the variables of tokens.css apply in the shadow root, and follow the theme. */

const look = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', height: '100%', fontSize: '13.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '10px 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 26%, transparent)',
  },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--muted)',
    border: 'none',
    paddingLeft: '6px',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--raised) 60%, transparent)',
  },
  '.cm-activeLineGutter': { color: 'var(--text)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 22%, transparent)',
    outline: '1px solid var(--accent)',
  },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: '0 6px 24px rgb(0 0 0 / 18%)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px', lineHeight: '1.4' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '1.2em' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionInfo': { fontFamily: 'var(--font)', padding: '8px 12px', maxWidth: '320px' },
  '.cm-diagnostic': { fontFamily: 'var(--font)', padding: '6px 10px' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--warn)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--code-type)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.operator, tags.punctuation, tags.brace, tags.paren], color: 'var(--muted)' },
]);

const editorLook: Extension = [look, syntaxHighlighting(colours)];
