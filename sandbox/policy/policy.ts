import { createHash } from 'node:crypto';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import type { SqlPolicy } from '../judge/tree.ts';
import { loadFunctionCatalogue } from './function-catalogue.ts';

/** Table functions that make rows from their arguments and read nothing. Source: sandbox.md B.4. */
export const TABLE_FUNCTIONS = ['numbers', 'values', 'generateSeries', 'generate_series'] as const;

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

/** Names a policy: verdicts of one are none of another. */
export function policyVersion({ tables, columns, functions, tableFunctions }: SqlPolicy): string {
  const names = [tables, columns, functions.names, tableFunctions].map((of) => [...of].sort());
  return createHash('sha256').update(JSON.stringify(names)).digest('base64');
}
