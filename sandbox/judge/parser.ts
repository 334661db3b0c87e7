/**
 * The engine as a parser: the same server and version that will run the text (sandbox.md C). Nothing here executes what a
 * caller wrote: `parse` sends it as a hex literal, `tree` and `ast` only ever get the canonical text that `parse` gave.
 */
export interface SqlParser {
  /** The canonical single-line text with its tokens, and the tokens of the text as it was written. */
  parse(text: string): Promise<Parsed | ParseProblem>;
  /** Lines of `EXPLAIN QUERY TREE run_passes = 0`. `parameters` are those of the query, as sent. */
  tree(canonical: string, parameters: QueryParameters): Promise<readonly string[] | ParseProblem>;
  /** Lines of `EXPLAIN AST`: a second, independent view for the self-check. */
  ast(canonical: string): Promise<readonly string[] | ParseProblem>;
}

export type QueryParameters = Readonly<Record<string, string>>;

export interface Token {
  /** The engine's name of the kind: BareWord, QuotedIdentifier, StringLiteral, … */
  readonly kind: string;
  readonly text: string;
  /** Byte offset in its text. */
  readonly at: number;
}

export interface Parsed {
  readonly canonical: string;
  /** Without whitespace. */
  readonly tokens: readonly Token[];
  /** Tokens of the caller's own text, without whitespace; for positions only. */
  readonly written: readonly Token[];
}

export interface ParseProblem {
  /** The engine's words, without its version and without our wrapping statement. */
  readonly problem: string;
  /** Byte offset in the text where it stopped, when it says so. */
  readonly at: number | null;
}

export function isProblem(outcome: object): outcome is ParseProblem {
  return 'problem' in outcome;
}
