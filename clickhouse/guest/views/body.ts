import { PUBLIC_TABLES, type PublicTableName } from '../../../core/domain/public-tables.ts';
import { expressions } from '../../engine/account.ts';

/**
 * What the bodies of the public views are made of. A column of accounts must have exactly the expression of its skip index: only then does
 * `payer = '0x…'` prune. Columns of the table have the prefix `t`, because inside a SELECT an alias hides the column of the same name.
 */

/**
 * The body of a view: an expression over `t` for each column that is not simply the stored one of its name, then FROM and everything after
 * it.
 */
export interface ViewBody<Name extends PublicTableName> {
  readonly columns: Readonly<Partial<Record<ColumnOf<Name>, string>>>;
  readonly from: string;
}
/** Of some columns of a public table. */
export type Expressions = Readonly<Partial<Record<string, string>>>;

/** A column of a view: by its expression, or else the stored column of its name. */
export function shownColumn(expressions: Expressions, name: string): string {
  return `${expressions[name] ?? `t.${name}`} AS ${name}`;
}

export const INVOKER = 'SQL SECURITY INVOKER';
const DEFINER = 'DEFINER = CURRENT_USER SQL SECURITY DEFINER';

/** The statement that makes a public table as a view in a database. */
export function viewStatementOf(
  into: string,
  name: PublicTableName,
  { columns, from }: { readonly columns: Expressions; readonly from: string },
  security: string = DEFINER,
): string {
  const listed = PUBLIC_TABLES[name].columns.map(({ name: column }) => shownColumn(columns, column));
  return `CREATE OR REPLACE VIEW ${into}.${name} ${security} AS
SELECT ${listed.join(', ')} FROM ${from}`;
}

type ColumnOf<Name extends PublicTableName> = (typeof PUBLIC_TABLES)[Name]['columns'][number]['name'];

export const accountText = (column: string): string => expressions.accountText(`t.${column}`);
export const transactionText = (column: string): string => expressions.transactionText(`t.${column}`);
export const hashText = (column: string): string => expressions.hashText(`t.${column}`);
/** The tables store an unknown text as empty; the views show NULL. An index on the bare column does not serve this expression. */
export const known = (column: string): string => `nullIf(t.${column}, '')`;
/** A word from a short list, stored once per block (LowCardinality). */
export const word = (list: string, at: string): string => `CAST([${list}][${at}], 'LowCardinality(String)')`;

export const dollars = (of: string): string => `CAST(${of}, 'Nullable(Decimal(38, 6))')`;
/**
 * NULL where the token had no dollar value when the row was written. The cast is the outer function: inside, the engine would compute it
 * only for the rows that need it, and a scan take a fifth longer.
 */
export const USD = dollars('if(t.usd_known, t.amount_usd, NULL)');
/** The tables store an unknown time as 1970. */
export const timeOrNull = (column: string): string => `nullIf(t.${column}, toDateTime(0, 'UTC'))`;
