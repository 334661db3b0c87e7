import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { attachedName } from '../../core/domain/own-table.ts';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { refusalOf } from './function-policy.ts';
import type { Work } from './function-work.ts';
import type { OwnTable, OwnTables } from './own-tables.ts';

/** Table functions that make rows from their arguments and read nothing. Others read files, URLs or hidden tables. */
export const TABLE_FUNCTIONS = ['numbers', 'values', 'generateSeries', 'generate_series'] as const;

export interface SqlPolicy {
  /** Names of the public tables. */
  readonly tables: ReadonlySet<string>;
  /** Names of their columns, which take precedence over functions without parentheses. */
  readonly columns: ReadonlySet<string>;
  readonly functions: FunctionCatalogue;
  /** Lower case. */
  readonly tableFunctions: ReadonlySet<string>;
  /** Columns that may stand alone although a refused function has the same name. Default: none. */
  readonly columnsBeforeFunctions?: ReadonlySet<string>;
  /** Tables of the caller's organization. Default: none. */
  readonly own?: OwnTables;
  /** Of tables whose queries are free: how many rows each has, and how many a query may make of them. Default: queries are metered. */
  readonly freeRows?: { readonly of: ReadonlyMap<string, number>; readonly max: number };
}

/** The names that a query may use: the public tables and the reviewed functions. */
export function loadPolicy(): SqlPolicy {
  return {
    tables: new Set(PUBLIC_TABLE_NAMES),
    columns: new Set(
      PUBLIC_TABLE_NAMES.flatMap((name) => PUBLIC_TABLES[name].columns.map((column) => column.name)),
    ),
    functions: loadFunctionCatalogue(),
    tableFunctions: new Set(TABLE_FUNCTIONS.map((name) => name.toLowerCase())),
  };
}

/** Identifies a policy, so that verdicts of different policies are never mixed up. */
export function policyVersion({ tables, columns, functions, tableFunctions }: SqlPolicy): string {
  const names = [tables, columns, functions.names, tableFunctions].map((of) => [...of].sort());
  return createHash('sha256').update(JSON.stringify(names)).digest('base64');
}

/** The pinned allow-list as `functions.json` holds it. Generated: `npm run gen -- functions`. */
export interface FunctionFile {
  /** The engine version that it was read from. */
  readonly engine: string;
  readonly allowed: readonly FunctionEntry[];
  /** Combinator suffixes of aggregate functions. */
  readonly combinators: readonly string[];
}

export interface FunctionEntry {
  readonly name: string;
  readonly aggregate?: true;
  /** Whether the engine ignores the case of the name. */
  readonly anyCase?: true;
  /** How its time grows with its values (function-work.ts). Default: `unknown`. */
  readonly work?: Work;
  /** The argument that is a regular expression, a needle or a LIKE pattern, according to the engine's documentation. */
  readonly regexp?: number;
  readonly needle?: number;
}

export interface FunctionCatalogue {
  allows(name: string): boolean;
  /** Why a name is refused, in words for the caller; null when there is no such function. */
  refusal(name: string): { readonly why: string; readonly hint: string } | null;
  readonly names: readonly string[];
  /** The catalogue's facts about a function's time; null for a name that it lacks, such as a lambda's. */
  costOf(name: string): FunctionEntry | null;
}

/** `sumIfOrNull` has two; no real query needs more. */
const COMBINATORS_MAX = 4;

export function loadFunctionCatalogue(): FunctionCatalogue {
  const text = readFileSync(new URL('./functions.json', import.meta.url), 'utf8');
  return createFunctionCatalogue(JSON.parse(text) as FunctionFile); // our own file, written by the generator
}

export function createFunctionCatalogue({ allowed, combinators }: FunctionFile): FunctionCatalogue {
  const exact = new Map(allowed.map((entry) => [entry.name, entry]));
  const anyCase = new Map(
    allowed.filter((entry) => entry.anyCase).map((entry) => [entry.name.toLowerCase(), entry]),
  );
  const find = (name: string): FunctionEntry | undefined =>
    exact.get(name) ?? anyCase.get(name.toLowerCase());
  const suffixes = [...combinators].sort((a, b) => b.length - a.length);
  const allows = (name: string): boolean => {
    if (refusalOf(name) !== undefined) return false;
    if (find(name) !== undefined) return true;
    return bases(name, suffixes).some(
      (base) => find(base)?.aggregate === true && refusalOf(base) === undefined,
    );
  };
  return {
    allows,
    refusal(name) {
      const refused = [name, ...bases(name, suffixes)].map(refusalOf).find((found) => found !== undefined);
      return refused ?? null;
    },
    names: allowed.map(({ name }) => name),
    costOf: (name) =>
      find(name) ??
      bases(name, suffixes)
        .map(find)
        .find((base) => base?.aggregate === true) ??
      null,
  };
}

/** The base names after removing one, two … combinators: every possible reading. */
function bases(name: string, suffixes: readonly string[], depth = 1): string[] {
  if (depth > COMBINATORS_MAX) return [];
  return suffixes
    .filter((suffix) => name.length > suffix.length && name.endsWith(suffix))
    .map((suffix) => name.slice(0, -suffix.length))
    .flatMap((base) => [base, ...bases(base, suffixes, depth + 1)]);
}

/** The policy for a text whose caller has these tables. */
export function withOwnTables(policy: SqlPolicy, tables: readonly OwnTable[]): SqlPolicy {
  if (tables.length === 0) return policy;
  const columns = tables.flatMap((table) => table.columns.map(({ name }) => name));
  return {
    ...policy,
    columns: new Set([...policy.columns, ...columns]),
    own: new Map(tables.map((table) => [attachedName(table), table])),
  };
}
