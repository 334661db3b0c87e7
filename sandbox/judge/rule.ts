import type { SqlPolicy } from '../policy/policy.ts';
import type { SqlSetting } from '../policy/settings.ts';
import type { CallerText } from './caller-text.ts';
import type { ColumnMeanings } from './columns.ts';
import type { NamedConstant, QueryWarning } from './literals/constants.ts';
import type { QueryParameter } from './literals/parameters.ts';
import type { Parsed, QueryParameters } from './parser.ts';
import type { TreeNode } from './query-tree.ts';
import type { Position } from './refusal.ts';
import type { Rewrites } from './rewrites.ts';

/** A rule of the first judgement: what it sees of a query, and what it may say. The rules themselves are in rules.ts. */

/** The facts found by the rules so far; each rule sees the facts that earlier rules found. */
export interface Facts {
  /** The canonical text, with the rules' changes so far. */
  readonly text: string;
  /** Public tables that the query reads, and tables of its caller's organization. */
  readonly tables: readonly string[];
  /** Every name in a table's place: public tables, CTEs and table functions. */
  readonly tableNames: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  readonly parameters: readonly QueryParameter[];
  readonly warnings: readonly QueryWarning[];
  readonly namedConstants: readonly NamedConstant[];
  readonly walletKeys: readonly string[];
  readonly rewrites: Rewrites;
  /** Rows per block at most. */
  readonly blockRows: number;
  readonly memoryMaxBytes: number;
  readonly hasLongKeys: boolean;
  readonly safeToPlan: boolean;
  /** The format that it ends with, where that is kept. */
  readonly format: string | undefined;
  readonly settings: readonly SqlSetting[];
  /** How often each table was replaced by a subquery over it (stand-ins.ts). */
  readonly replacedTables: ReadonlyMap<string, number>;
}

/** The inputs of a rule, by the form of the query that it applies to. */
interface Subjects {
  /** The text as sent. */
  readonly text: string;
  /** The engine's tokens of the canonical text and of the original text. */
  readonly tokens: ParsedQuery;
  /** The engine's tree, with nothing resolved or computed. */
  readonly tree: TreeQuery;
  /** The engine's other printed form of the same text: `EXPLAIN AST`. */
  readonly ast: TreeQuery & { readonly astLines: readonly string[] };
}
export type Subject = keyof Subjects;

export interface ParsedQuery extends Parsed, Facts {
  readonly caller: CallerText;
  /** Parameter values as sent. */
  readonly values: QueryParameters;
  /** Whether a FORMAT at its end is the caller's choice. */
  readonly keepsFormat: boolean;
  readonly policy: SqlPolicy;
}

export interface TreeQuery extends ParsedQuery {
  readonly root: TreeNode;
  /** What its columns mean, once the tables that it reads are known. */
  meaningsIn(tables: readonly string[]): ColumnMeanings;
  /** The position of a byte of what the caller sent. */
  positionAt(offset: number): Position;
}

export type Rule = {
  readonly [On in Subject]: {
    readonly name: string;
    readonly on: On;
    /** The guarantee for every query that runs. */
    readonly says: string;
    /** Throws `Refused`. */
    check?(subject: Subjects[On]): void;
    /** Returns facts for later rules and the run. Throws `Refused`. */
    find?(subject: Subjects[On]): Partial<Facts>;
  };
}[Subject];
