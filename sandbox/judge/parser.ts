import { EngineError, type Guest } from '../../clickhouse/engine/engine.ts';

/**
 * The engine as a parser: the same server and version that will run the text (docs/design/sandbox.md). Nothing here executes a
 * caller's text: `parse` sends it as a hex literal, and `tree` and `ast` only ever get the canonical text that `parse` returned.
 */
export interface SqlParser {
  /** The canonical single-line text with its tokens, and the tokens of the original text. */
  parse(text: string): Promise<Parsed | ParseProblem>;
  /** Lines of `EXPLAIN QUERY TREE run_passes = 0`. `parameters` belong to the query, as sent. */
  tree(canonical: string, parameters: QueryParameters): Promise<readonly string[] | ParseProblem>;
  /** Lines of `EXPLAIN AST`: a second, independent view for the self-check. */
  ast(canonical: string): Promise<readonly string[] | ParseProblem>;
}

export type QueryParameters = Readonly<Record<string, string>>;

export interface Token {
  /** The engine's name for the kind: BareWord, QuotedIdentifier, StringLiteral, … */
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
  /** The engine's message, without its version and our wrapping statement. */
  readonly problem: string;
  /** Byte offset in the text where parsing stopped, if the engine reports it. */
  readonly at: number | null;
}

export function isProblem(outcome: object): outcome is ParseProblem {
  return 'problem' in outcome;
}

/** Parses as the guest. A caller's text is sent as hex digits until its canonical form is known. */

const PARSE_SECONDS = 5;
/** Parts of the engine's message that come from our wrapping statement. */
const WRAPPING = /: (?:while executing 'FUNCTION formatQuerySingleLine|In scope WITH materialize)[\s\S]*$/;
const VERSION = /(?<!\s)\s*\([A-Z_]+\)(?: \(version [^)]*\))?$/;
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

/** One round trip: the canonical text, its tokens, and the tokens of the original text. */
async function parse(guest: Guest, text: string): Promise<Parsed> {
  const hex = Buffer.from(text, 'utf8').toString('hex');
  const [row] = await guest.explain({
    name: 'sql-parse',
    // As a column: a constant would be folded during analysis, and its tokens would become its printed name.
    text: `WITH materialize(unhex('${hex}')) AS text SELECT formatQuerySingleLine(text) AS canonical, ${tokensIn('canonical')}, ${tokensIn('text')}`,
    maxSeconds: PARSE_SECONDS,
  });
  const [canonical, ends, kinds, writtenEnds, writtenKinds] = row ?? [];
  if (typeof canonical !== 'string') throw new Error('the engine gave no canonical text');
  return {
    canonical,
    tokens: readTokens(ends, kinds, canonical),
    written: readTokens(writtenEnds, writtenKinds, text),
  };
}

/** Where each token ends, in bytes, and the names of their kinds with a space between: a text of 64 KiB has some 30,000 tokens. */
function tokensIn(text: string): string {
  return `arrayMap(token -> toUInt32(token.end), tokenizeQuery(${text})), arrayStringConcat(arrayMap(token -> toString(token.type), tokenizeQuery(${text})), ' ')`;
}

/** Each token begins where the one before it ends. */
function readTokens(ends: unknown, kinds: unknown, text: string): Token[] {
  if (!Array.isArray(ends) || typeof kinds !== 'string') throw new Error('the engine gave no tokens');
  const names = kinds === '' ? [] : kinds.split(' ');
  if (names.length !== ends.length) throw new Error('the engine gave no kind of a token');
  const bytes = Buffer.from(text, 'utf8');
  // Where each character is one byte, a slice of the text needs no decoding.
  const read = bytes.length === text.length ? text.slice.bind(text) : decodedFrom(bytes);
  const tokens: Token[] = [];
  let at = 0;
  for (const [index, kind] of names.entries()) {
    const end = Number(ends[index]);
    if (kind !== 'Whitespace') tokens.push({ kind, text: read(at, end), at });
    at = end;
  }
  return tokens;
}

function decodedFrom(bytes: Buffer): (from: number, to: number) => string {
  return (from, to) => bytes.toString('utf8', from, to);
}

/** READONLY, UNKNOWN_USER, AUTHENTICATION_FAILED: a text in hex digits cannot cause these, so the setup is wrong. */
const OUR_FAULT: ReadonlySet<number> = new Set([164, 192, 516]);

function throwOurFault(error: unknown): never {
  if (error instanceof EngineError && OUR_FAULT.has(error.engineCode ?? 0))
    throw new Error('the engine does not let the guest judge a text', { cause: error });
  throw error;
}

/** Returns a problem of the text as a value; an unreachable engine rejects. */
async function orProblem<Answer>(ask: () => Promise<Answer>): Promise<Answer | ParseProblem> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof EngineError) || error.problem !== 'engine_refused') throw error;
    return problemOf(error.cause instanceof Error ? error.cause.message : '');
  }
}

function problemOf(message: string): ParseProblem {
  const clean = message.replace(WRAPPING, '').trimEnd().replace(VERSION, '').trim();
  const position = /failed at position (\d+)/.exec(clean)?.[1];
  return {
    problem: clean.slice(0, PROBLEM_MAX_CHARS),
    at: position === undefined ? null : Number(position) - 1,
  };
}
