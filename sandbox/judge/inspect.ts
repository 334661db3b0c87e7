import { advised } from './advise.ts';
import { checkClauses } from './clauses.ts';
import { columnMeanings } from './column-meaning.ts';
import { checkColumns } from './columns.ts';
import { explainSyntax } from './explain-syntax.ts';
import { checkConstants } from './matched-constants.ts';
import { checkMatchedTimes } from './matched-times.ts';
import { parametersAsSent } from './parameter-texts.ts';
import { checkValues } from './parameter-values.ts';
import {
  isProblem,
  type Parsed,
  type ParseProblem,
  type QueryParameters,
  type SqlParser,
  type Token,
} from './parser.ts';
import { readTree } from './query-tree.ts';
import { type Position, REFUSALS, type Refusal, Refused, refuse } from './refusal.ts';
import { checkRepeatedStates } from './repeated-states.ts';
import { isSafeToPlan } from './safe-to-plan.ts';
import { checkSecondView } from './second-view.ts';
import { checkStates } from './states.ts';
import { withPlainTimes } from './time-literals.ts';
import { checkFirstWord, checkTokens, type QueryParameter, type TokenFacts } from './tokens.ts';
import { checkTree, type SqlPolicy } from './tree.ts';
import type { NamedConstant, QueryWarning } from './warnings.ts';
import { checkWork } from './work.ts';

/**
 * The first wall around callers' SQL (sandbox.md C): the engine parses, allow-lists decide, and only the engine's own canonical
 * text is ever run. The second wall, the guest user's grants, does not rely on this one.
 */

export const QUERY_MAX_BYTES = 64 * 1024;

export interface Accepted {
  /** The text that runs. */
  readonly text: string;
  readonly tables: readonly string[];
  readonly functions: readonly string[];
  readonly parameters: readonly QueryParameter[];
  readonly warnings: readonly QueryWarning[];
  /** Constants that are compared with names of what is indexed. */
  readonly namedConstants: readonly NamedConstant[];
  /** Whether it can be stopped in time only where it works on few rows at once. */
  readonly needsSmallBlocks: boolean;
  /** Whether planning it computes nothing that takes long: safe-to-plan.ts. */
  readonly safeToPlan: boolean;
  /** Whether it can be stopped in time only where it holds little at once. */
  readonly needsLittleMemory?: boolean;
}

export type Verdict = { readonly accepted: Accepted } | { readonly refused: Refusal };

export interface InspectDeps {
  readonly parser: SqlParser;
  readonly policy: SqlPolicy;
}

/** Judges a text. Rejects only when the engine cannot be asked; whatever a caller wrote is answered with a verdict. */
export async function inspect(
  text: string,
  parameters: QueryParameters,
  { parser, policy }: InspectDeps,
): Promise<Verdict> {
  let parsed: Parsed | undefined;
  try {
    checkText(text);
    parsed = read(await parser.parse(text));
    checkFirstWord(parsed.written);
    const facts = checkTokens(parsed.tokens);
    checkParameters(facts.parameters, parameters);
    checkValues(facts.parameters, parameters);
    const canonical = withoutFormat(parsed, facts);
    // At the same time: each is a round trip, and neither runs anything. The tree first: it takes longer, and is read meanwhile.
    const tree = parser.tree(canonical, parametersAsSent(facts.parameters, parameters));
    const secondView = facts.parameters.length === 0 ? parser.ast(canonical) : null;
    secondView?.catch(() => undefined); // whoever waits for it hears of it
    const root = readTree(read(await tree));
    const named = checkTree(
      root,
      policy,
      new Set(parsed.tokens.map((token) => token.text.replace(/[`"]/g, ''))),
    );
    checkStates(root);
    checkRepeatedStates(root);
    const { tokens, written } = parsed;
    const care = checkWork(root, tokens, policy.functions);
    checkColumns({ root, tables: named.tables, tokens, written, functions: policy.functions });
    const { hasTotals } = checkClauses(root);
    if (secondView !== null) checkSecondView(read(await secondView), named);
    const meanings = columnMeanings(root, named.tables);
    checkMatchedTimes(root, meanings);
    const constants = checkConstants(root, meanings, (literal) => {
      const at = literalOffset(literal, written);
      return at === undefined ? undefined : positionOf(text, at);
    });
    return {
      accepted: {
        text: withPlainTimes(canonical, tokens, root, meanings),
        tables: named.tables,
        functions: named.functions,
        parameters: facts.parameters,
        needsSmallBlocks: named.needsSmallBlocks || care.needsSmallBlocks,
        needsLittleMemory: care.needsLittleMemory,
        safeToPlan: isSafeToPlan(root),
        warnings: [
          ...(facts.format === null ? [] : [{ code: 'format_ignored' as const }]),
          ...(hasTotals ? [{ code: 'totals_left_out' as const }] : []),
          ...constants.warnings,
        ],
        namedConstants: constants.named,
      },
    };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const refusal = advised(error.refusal, policy);
    if (error instanceof Unparsed && error.at !== null) {
      return { refused: { ...refusal, position: positionOf(text, error.at) } };
    }
    return { refused: placed(refusal, text, parsed) };
  }
}

function checkText(text: string): void {
  if (text.trim() === '') refuse('empty');
  if (Buffer.byteLength(text) > QUERY_MAX_BYTES) refuse('too_long');
  if (text.includes('\0')) refuse('nul_byte');
}

/** The engine's own words where the text does not parse. */
class Unparsed extends Refused {
  readonly at: number | null;

  constructor({ problem, at }: ParseProblem) {
    super(
      /^Empty query/.test(problem)
        ? { code: 'empty', detail: REFUSALS.empty }
        : explainSyntax({ problem, at }),
    );
    this.at = at;
  }
}

function read<Answer extends object>(outcome: Answer | ParseProblem): Answer {
  if (isProblem(outcome)) throw new Unparsed(outcome);
  return outcome;
}

function checkParameters(wanted: readonly QueryParameter[], given: QueryParameters): void {
  const missing = wanted.find(({ name }) => !Object.hasOwn(given, name));
  if (missing) {
    refuse('parameter', {
      near: missing.name,
      detail: `The query names {${missing.name}:${missing.type}}, but params has no ${missing.name}.`,
    });
  }
  const unused = Object.keys(given).find((name) => !wanted.some((one) => one.name === name));
  if (unused !== undefined) {
    refuse('parameter', {
      detail: `params has ${unused}, but the query has no placeholder {${unused}:Type}.`,
    });
  }
}

/** Offsets count bytes, as the engine's do. */
function withoutFormat({ canonical }: Parsed, { format }: TokenFacts): string {
  if (format === null) return canonical;
  return Buffer.from(canonical).subarray(0, format.at).toString('utf8').trimEnd();
}

/** Adds where in the caller's own text the refusal points to, when that can be told. */
function placed(refusal: Refusal, text: string, parsed: Parsed | undefined): Refusal {
  if (refusal.position !== undefined) return refusal;
  const at = refusal.near === undefined ? undefined : offsetOf(refusal.near, parsed?.written ?? []);
  return at === undefined ? refusal : { ...refusal, position: positionOf(text, at) };
}

/** Signs that the engine's tree calls by the name of a function. */
const SPELLED: ReadonlyMap<string, string> = new Map([
  ['globalVariable', '@@'],
  ['_CAST', '::'],
]);

function offsetOf(near: string, written: readonly Token[]): number | undefined {
  const parts = /^["`]/.test(near) ? [near] : (SPELLED.get(near) ?? near).split(/[\s.]/);
  const [wanted = '', next] = parts.map(bare);
  // Of a name with a dot both words, or the first that is like its table would be taken for it.
  const whole = written.find(
    (token, at) =>
      bare(token.text) === wanted &&
      written[at + 1]?.kind === 'Dot' &&
      bare(written[at + 2]?.text ?? '') === next,
  );
  if (whole !== undefined) return whole.at;
  const isNear = (token: Token): boolean => bare(token.text) === wanted;
  // Inside a text, such as the type in CAST(x, 'Type').
  const holds = (token: Token): boolean =>
    token.kind === 'StringLiteral' && bare(token.text).includes(wanted);
  return (written.find(isNear) ?? written.find(holds))?.at;
}

/** Where a literal of this text stands first; an escape in it is not looked into. */
function literalOffset(literal: string, written: readonly Token[]): number | undefined {
  return written.find(({ kind, text }) => kind === 'StringLiteral' && text.slice(1, -1) === literal)?.at;
}

function bare(word: string): string {
  return word.replace(/[`"']/g, '').toLowerCase();
}

/** Line and column of a byte offset, both from 1; columns count characters. */
export function positionOf(text: string, at: number): Position {
  const before = Buffer.from(text).subarray(0, at).toString('utf8');
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}
