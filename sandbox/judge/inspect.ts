import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PUBLISHED_DATABASE } from '../../clickhouse/catalogue/tables.ts';
import { GUEST_MEMORY_MAX_BYTES } from '../../clickhouse/guest/memory.ts';
import { GUEST_FULL_BLOCK_ROWS } from '../../clickhouse/guest/settings.ts';
import { withOwnNames } from '../../core/domain/own-table.ts';
import { NO_OWN_TABLES, type OwnTable, type OwnTables } from '../policy/own-tables.ts';
import type { SqlPolicy } from '../policy/policy.ts';
import type { SqlSetting } from '../policy/settings.ts';
import { advised } from './advice.ts';
import { type CallerText, callerText } from './caller-text.ts';
import { bare, edited, leftOutWarning, type PlainText, plainText, prewhereWarning } from './client-text.ts';
import { type ColumnMeanings, columnMeanings } from './columns.ts';
import { explainSyntax } from './engine-words.ts';
import type { NamedConstant, QueryWarning } from './literals/constants.ts';
import { parametersAsSent, parametersOf, type QueryParameter, valuesAsRead } from './literals/parameters.ts';
import { ownNames } from './own-names.ts';
import {
  isProblem,
  type Parsed,
  type ParseProblem,
  type QueryParameters,
  type SqlParser,
  type Token,
} from './parser.ts';
import { readTree, type TreeNode } from './query-tree.ts';
import { editsOfWord, placed, positionsIn, REFUSALS, type Refusal, Refused, refuse } from './refusal.ts';
import { NO_REWRITES, type Rewrites } from './rewrites.ts';
import type { Facts, ParsedQuery, TreeQuery } from './rule.ts';
import { rulesOn } from './rules.ts';
import { spillableText } from './spillable.ts';
import { withStandIns } from './stand-ins.ts';

/**
 * The first wall around callers' SQL: the engine parses the text, the rules of rules.ts decide, and only the engine's canonical text
 * is ever run. The second wall, the guest user's grants, does not rely on this one (docs/design/sandbox.md).
 */

export interface Accepted {
  /** The text that runs. */
  readonly text: string;
  readonly tables: readonly string[];
  /** Tables of the caller's organization that it reads; every statement about the text is sent with them (run/attached.ts). */
  readonly own?: readonly OwnTable[];
  readonly functions: readonly string[];
  readonly parameters: readonly QueryParameter[];
  readonly warnings: readonly QueryWarning[];
  /** Constants that are compared with names of indexed chains and facilitators. */
  readonly namedConstants: readonly NamedConstant[];
  /** Columns of ids that it could group or join by in place of addresses (wallet-keys.ts). */
  readonly walletKeys: readonly string[];
  readonly rewrites: Rewrites;
  /** Rows per block with which it can be stopped in time. */
  readonly blockRows: number;
  /** Whether planning it is always fast. */
  readonly safeToPlan: boolean;
  /** Memory with which it can be stopped in time, where that may be less than its tier has. */
  readonly memoryMaxBytes?: number;
  /** Whether it groups by long keys alone, and goes on disk later (work/long-keys.ts). */
  readonly hasLongKeys?: boolean;
  /** The format that it ends with; only where `readsLikeServer`. */
  readonly format?: string;
  /** Its SETTINGS; `text` holds none of them. */
  readonly settings?: readonly SqlSetting[];
}

export type Judgement = { readonly accepted: Accepted } | { readonly refused: Refusal };
export type Placeholders =
  | { readonly placeholders: readonly QueryParameter[] }
  | { readonly refused: Refusal };

export interface InspectDeps {
  readonly parser: SqlParser;
  readonly policy: SqlPolicy;
  /** As in `SandboxText`. */
  readonly readsLikeServer?: boolean;
  readonly settings?: readonly SqlSetting[];
}

/** Judges a text. Every text gets a verdict; rejects only if the engine cannot be reached. */
export function inspect(text: string, values: QueryParameters, deps: InspectDeps): Promise<Judgement> {
  return judged(text, deps, async (sent) => {
    const caller = callerText(text, sent.written);
    const { namedBy, ...plain } = await plainQuery({ ...sent, caller }, values, deps);
    const left = without(values, namedBy);
    const given = deps.readsLikeServer === true ? valuesAsRead(parametersOf(plain.tokens), left) : left;
    const query = judgeTokens({ ...plain, values: given, policy: deps.policy });
    return { accepted: acceptedOf(await judgeTree(query, text, deps.parser)) };
  });
}

/** The placeholders that a text declares, which tell what values it can be judged with. */
export function placeholdersIn(text: string, deps: InspectDeps): Promise<Placeholders> {
  return judged(text, deps, ({ tokens }) => Promise.resolve({ placeholders: parametersOf(tokens) }));
}

/** The answer of `judge` to a text that the engine can read, or why the text is refused. */
async function judged<Answer>(
  text: string,
  deps: InspectDeps,
  judge: (sent: Parsed) => Promise<Answer>,
): Promise<Answer | { readonly refused: Refusal }> {
  /** Tokens of the caller's text, once parsed: for the position of a refusal. */
  let written: readonly Token[] = [];
  try {
    for (const rule of rulesOn('text')) rule.check?.(text);
    const sent = read(await deps.parser.parse(text));
    written = sent.written;
    return await judge(sent);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const said = shown(advised(error.refusal, deps.policy));
    const refusal = { ...said, ...editsOfWord(text, said.near, said.meant) };
    const at = error instanceof Unparsed ? error.at : null;
    return {
      refused: at === null ? placed(refusal, text, written) : { ...refusal, position: positionsIn(text)(at) },
    };
  }
}

/** The query without the parts that are left out of a client's text (client-text.ts), as the engine prints it. */
async function plainQuery(
  sent: Parsed & { readonly caller: CallerText },
  values: QueryParameters,
  { parser, policy, readsLikeServer = false, settings: sentApart = [] }: InspectDeps,
): Promise<Omit<ParsedQuery, 'values' | 'policy'> & { readonly namedBy: ReadonlySet<string> }> {
  const found = { ...NOTHING_FOUND, keepsFormat: readsLikeServer, settings: sentApart };
  const plain = plainText(sent, readsLikeServer ? [PUBLISHED_DATABASE] : [], values);
  const { settings, hadPrewhere, namedBy } = plain ?? NOTHING_CHANGED;
  const named =
    plain === null ? sent : await parsedAgain(plain.text, hadPrewhere || namedBy.size > 0, parser);
  const pieces = ownNames(named.tokens, policy.own ?? NO_OWN_TABLES);
  const parsed =
    pieces.length === 0 ? named : await parsedAgain(edited(named.canonical, pieces), true, parser);
  const all = [...sentApart, ...settings];
  const standIns = await withStandIns(parsed, all, parser);
  const stood = standIns === null ? parsed : await parsedAgain(standIns.text, true, parser);
  const spillable = spillableText(stood);
  const whole = spillable === null ? stood : await parsedAgain(spillable, true, parser);
  const warnings: QueryWarning[] = [
    ...leftOutWarning(settings, sent.caller),
    ...(hadPrewhere ? [prewhereWarning(sent.caller)] : []),
  ];
  return {
    ...whole,
    ...found,
    written: sent.written,
    caller: sent.caller,
    text: whole.canonical,
    settings: all,
    replacedTables: standIns?.replaced ?? new Map(),
    warnings,
    namedBy,
  };
}

const NOTHING_CHANGED: Omit<PlainText, 'text'> = { settings: [], hadPrewhere: false, namedBy: new Set() };

/** The engine must read the text as it was put together. */
async function parsedAgain(text: string, formMayDiffer: boolean, parser: SqlParser): Promise<Parsed> {
  const parsed = read(await parser.parse(text));
  if (!isSameText(parsed, text, formMayDiffer)) refuse('unexplained', { near: 'SETTINGS' });
  return parsed;
}

function without(values: QueryParameters, names: ReadonlySet<string>): QueryParameters {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}

/** Whether the engine reads the text as it was put together. Around joined conditions it writes its own brackets, and quotes around few names. */
function isSameText({ canonical, tokens, written }: Parsed, text: string, formMayDiffer: boolean): boolean {
  if (!formMayDiffer) return canonical === text;
  const words = (all: readonly Token[]): string =>
    all.flatMap((token) => (/RoundBracket$/.test(token.kind) ? [] : [bare(token)])).join(' ');
  return words(tokens) === words(written);
}

const NOTHING_FOUND: Omit<Facts, 'text'> = {
  tables: [],
  tableNames: new Set(),
  functions: new Set(),
  parameters: [],
  warnings: [],
  namedConstants: [],
  walletKeys: [],
  rewrites: NO_REWRITES,
  blockRows: GUEST_FULL_BLOCK_ROWS,
  memoryMaxBytes: GUEST_MEMORY_MAX_BYTES,
  hasLongKeys: false,
  safeToPlan: false,
  format: undefined,
  settings: [],
  replacedTables: new Map(),
};

function judgeTokens(parsed: ParsedQuery): ParsedQuery {
  let query = parsed;
  for (const rule of rulesOn('tokens')) query = applied(rule, query);
  return query;
}

function applied<Query extends Facts>(
  rule: { check?(query: Query): void; find?(query: Query): Partial<Facts> },
  query: Query,
): Query {
  rule.check?.(query);
  return { ...query, ...rule.find?.(query) };
}

async function judgeTree(parsed: ParsedQuery, sent: string, parser: SqlParser): Promise<TreeQuery> {
  const { text, parameters, values } = parsed;
  // In parallel: each is a round trip, and neither runs anything. The tree first, because it takes longer.
  const tree = parser.tree(text, parametersAsSent(parameters, values));
  // With placeholders the engine prints only the tree.
  const ast = parameters.length === 0 ? parser.ast(text) : null;
  ast?.catch(() => undefined); // the await below reports a rejection
  const root = readTree(read(await tree));
  let query: TreeQuery = {
    ...parsed,
    root,
    meaningsIn: meaningsOnce(root, parsed.policy.own),
    positionAt: positionsIn(sent),
  };
  for (const rule of rulesOn('tree')) query = applied(rule, query);
  if (ast === null) return query;
  const astLines = read(await ast);
  for (const rule of rulesOn('ast')) rule.check?.({ ...query, astLines });
  return query;
}

/** A query has many rules about its columns, and one set of tables. */
function meaningsOnce(root: TreeNode, own: OwnTables | undefined): TreeQuery['meaningsIn'] {
  let made: ColumnMeanings | undefined;
  return (tables) => {
    made ??= columnMeanings(root, tables, own);
    return made;
  };
}

function acceptedOf(query: TreeQuery): Accepted {
  const { own = NO_OWN_TABLES } = query.policy;
  const { text, tables, functions, parameters, warnings, namedConstants, walletKeys, rewrites } = query;
  const { blockRows, memoryMaxBytes, hasLongKeys, safeToPlan, format, settings } = query;
  return {
    ...(format === undefined ? {} : { format }),
    ...(settings.length === 0 ? {} : { settings }),
    text,
    tables: tables.filter((name) => !own.has(name)),
    own: tables.flatMap((name) => own.get(name) ?? []),
    functions: [...functions],
    parameters,
    blockRows,
    memoryMaxBytes,
    hasLongKeys,
    safeToPlan,
    warnings,
    namedConstants,
    walletKeys,
    rewrites,
  };
}

/** With own tables as the caller writes them. */
function shown(refusal: Refusal): Refusal {
  const { detail, near, hint, meant } = refusal;
  return {
    ...refusal,
    detail: withOwnNames(detail),
    ...(near === undefined ? {} : { near: withOwnNames(near) }),
    ...(hint === undefined ? {} : { hint: withOwnNames(hint) }),
    ...(meant === undefined ? {} : { meant: withOwnNames(meant) }),
  };
}

/** The engine's explanation of a text that does not parse. */
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

/**
 * A cache of verdicts. A verdict depends on the engine's version, the policy, the text and its parameters: a value can be the name of
 * a function, or not fit its type. The key is the full SHA-256 of all of them: a shortened one could let a text pass under another's
 * verdict (docs/design/sandbox.md).
 */
export interface VerdictCache {
  /** The cached verdict, or that of `judge`, which is then cached. Rejections are not cached. */
  verdict(subject: JudgedText, judge: () => Promise<Judgement>): Promise<Judgement>;
}

export interface JudgedText {
  readonly engineVersion: string;
  readonly policyVersion: string;
  readonly text: string;
  readonly parameters: QueryParameters;
  readonly readsLikeServer?: boolean;
  readonly settings?: readonly SqlSetting[];
}

export interface VerdictCacheLimits {
  readonly entriesMax: number;
  /** Total size of the cached texts, in UTF-16 units. */
  readonly charsMax: number;
}

export function createVerdictCache({ entriesMax, charsMax }: VerdictCacheLimits): VerdictCache {
  const kept = new LRUCache<string, Judgement>({
    max: entriesMax,
    maxSize: charsMax,
    sizeCalculation: charsOf,
  });
  return {
    async verdict(subject, judge) {
      const key = keyOf(subject);
      const known = kept.get(key);
      if (known !== undefined) return known;
      const verdict = await judge();
      kept.set(key, verdict);
      return verdict;
    },
  };
}

/** JSON, because its quoting separates the parts unambiguously. */
function keyOf({
  engineVersion,
  policyVersion,
  text,
  parameters,
  readsLikeServer = false,
  settings = [],
}: JudgedText): string {
  const values = Object.keys(parameters)
    .sort()
    .map((name) => [name, parameters[name]]);
  return createHash('sha256')
    .update(JSON.stringify([engineVersion, policyVersion, text, values, readsLikeServer, settings]))
    .digest('base64');
}

function charsOf(verdict: Judgement): number {
  return JSON.stringify(verdict).length;
}
