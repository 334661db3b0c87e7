import { EngineError, type Guest } from '../../clickhouse/engine/engine.ts';

/**
 * The engine as a parser: the same server and version that will run the text (docs/design/sandbox.md). Nothing here executes what a
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

/** The engine as the parser, asked as the guest. A caller's text travels as hex digits until its canonical form is known. */

const PARSE_SECONDS = 5;
/** What our own statement around the text adds to the engine's words. */
const WRAPPING = /: (?:while executing 'FUNCTION formatQuerySingleLine|In scope WITH materialize)[\s\S]*$/;
const VERSION = /\s*\((?:[A-Z_]+)\)(?: \(version [^)]*\))?\s*$/;
const PROBLEM_MAX_CHARS = 2_000;

export function createEngineParser(guest: Guest): SqlParser {
  const lines = async (name: string, text: string, parameters?: QueryParameters) => {
    const rows = await guest.explain({
      name,
      text,
      maxSeconds: PARSE_SECONDS,
      ...(parameters === undefined ? {} : { parameters }),
    });
    return rows.map(([line]) => String(line));
  };
  return {
    parse: (text) => orProblem(() => parse(guest, text).catch(throwOurFault)),
    tree: (canonical, parameters) =>
      orProblem(() => lines('sql-tree', `EXPLAIN QUERY TREE run_passes = 0 ${canonical}`, parameters)),
    ast: (canonical) => orProblem(() => lines('sql-ast', `EXPLAIN AST ${canonical}`)),
  };
}

/** One round trip: the canonical text, its tokens, and those of the text as it was written. */
async function parse(guest: Guest, text: string): Promise<Parsed> {
  const hex = Buffer.from(text, 'utf8').toString('hex');
  const [row] = await guest.explain({
    name: 'sql-parse',
    // As a column: a constant would be computed while the statement is analysed, and its tokens printed there as its name.
    text: `WITH materialize(unhex('${hex}')) AS text SELECT formatQuerySingleLine(text) AS canonical, tokenizeQuery(canonical) AS tokens, tokenizeQuery(text) AS written`,
    maxSeconds: PARSE_SECONDS,
  });
  const [canonical, tokens, written] = row ?? [];
  if (typeof canonical !== 'string') throw new Error('the engine gave no canonical text');
  return { canonical, tokens: readTokens(tokens, canonical), written: readTokens(written, text) };
}

/** `tokenizeQuery` answers (begin, end, kind) in bytes. */
function readTokens(value: unknown, text: string): Token[] {
  if (!Array.isArray(value)) throw new Error('the engine gave no tokens');
  const bytes = Buffer.from(text, 'utf8');
  const tokens: Token[] = [];
  for (const token of value) {
    const { begin, end, type } = fieldsOf(token);
    if (type !== 'Whitespace')
      tokens.push({ kind: type, text: bytes.toString('utf8', begin, end), at: begin });
  }
  return tokens;
}

/** Tuples are printed as objects or as arrays, by a setting of the engine's profile. */
function fieldsOf(token: unknown): { begin: number; end: number; type: string } {
  const [begin, end, type] = Array.isArray(token)
    ? token
    : [at(token, 'begin'), at(token, 'end'), at(token, 'type')];
  return { begin: Number(begin), end: Number(end), type: String(type) };
}

function at(token: unknown, name: string): unknown {
  return typeof token === 'object' && token !== null ? Reflect.get(token, name) : undefined;
}

/** READONLY, UNKNOWN_USER, AUTHENTICATION_FAILED: the caller's text is only hex digits there, so the setup is wrong. */
const OUR_FAULT: ReadonlySet<number> = new Set([164, 192, 516]);

function throwOurFault(error: unknown): never {
  if (error instanceof EngineError && OUR_FAULT.has(error.engineCode ?? 0))
    throw new Error('the engine does not let the guest judge a text', { cause: error });
  throw error;
}

/** What is wrong with the text is an answer; an engine that cannot be asked is an accident. */
async function orProblem<Answer>(ask: () => Promise<Answer>): Promise<Answer | ParseProblem> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof EngineError) || error.problem !== 'engine_refused') throw error;
    return problemOf(error.cause instanceof Error ? error.cause.message : '');
  }
}

function problemOf(message: string): ParseProblem {
  const clean = message.replace(WRAPPING, '').replace(VERSION, '').trim();
  const position = /failed at position (\d+)/.exec(clean)?.[1];
  return {
    problem: clean.slice(0, PROBLEM_MAX_CHARS),
    at: position === undefined ? null : Number(position) - 1,
  };
}
