import { createHash } from 'node:crypto';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { type FunctionCatalogue, loadFunctionCatalogue } from './function-catalogue.ts';

/** Table functions that make rows from their arguments and read nothing. Of all others some read files, URLs or hidden tables. */
export const TABLE_FUNCTIONS = ['numbers', 'values', 'generateSeries', 'generate_series'] as const;

export interface SqlPolicy {
  /** Names of the public tables. */
  readonly tables: ReadonlySet<string>;
  /** Names of their columns, which win over functions that are written without parentheses. */
  readonly columns: ReadonlySet<string>;
  readonly functions: FunctionCatalogue;
  /** Lower case. */
  readonly tableFunctions: ReadonlySet<string>;
}

/** What a query may name: the public tables, and the reviewed functions. */
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

/** Identifies a policy, so that a verdict of one is never taken for a verdict of another. */
export function policyVersion({ tables, columns, functions, tableFunctions }: SqlPolicy): string {
  const names = [tables, columns, functions.names, tableFunctions].map((of) => [...of].sort());
  return createHash('sha256').update(JSON.stringify(names)).digest('base64');
}
