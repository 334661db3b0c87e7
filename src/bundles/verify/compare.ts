import type { RowColumn, RowValues } from '../rows.ts';
import { type BundleTable, bundleTable, rowKey } from '../tables.ts';

/** Compares two lists of rows in one order, a row of each in memory, and stops at the first that differs. */

export interface Difference {
  /** UTC day of the row. */
  readonly day: string;
  /** What names the row: column and value. */
  readonly row: readonly (readonly [string, string])[];
  /** Null: one side does not have the row. */
  readonly column: string | null;
  /** As JSON; null where that side does not have the row. */
  readonly bundle: string | null;
  readonly api: string | null;
}

export interface Rows {
  readonly table: BundleTable;
  readonly columns: readonly RowColumn[];
  readonly bundle: AsyncIterable<RowValues>;
  readonly api: AsyncIterable<RowValues>;
}

export async function firstDifference({ table, columns, bundle, api }: Rows): Promise<Difference | null> {
  const key = rowKey(table).map((name) => columns.findIndex((column) => column.name === name));
  const [ours, theirs] = [bundle[Symbol.asyncIterator](), api[Symbol.asyncIterator]()];
  try {
    for (;;) {
      const [{ value: a, done: aEnded }, { value: b, done: bEnded }] = await Promise.all([
        ours.next(),
        theirs.next(),
      ]);
      if (aEnded && bEnded) return null;
      const order = aEnded || bEnded ? 0 : compareKeys(a, b, { key, columns });
      if (bEnded || order < 0) return difference(table, columns, { bundle: a, api: null });
      if (aEnded || order > 0) return difference(table, columns, { bundle: null, api: b });
      const at = columns.findIndex((_column, index) => JSON.stringify(a[index]) !== JSON.stringify(b[index]));
      if (at !== -1) return difference(table, columns, { bundle: a, api: b }, at);
    }
  } finally {
    await Promise.all([ours.return?.(), theirs.return?.()]);
  }
}

function difference(
  table: BundleTable,
  columns: readonly RowColumn[],
  { bundle, api }: { readonly bundle: RowValues | null; readonly api: RowValues | null },
  at?: number,
): Difference {
  const row = bundle ?? api ?? [];
  const named = bundleTable(table).namedBy.map((name) => {
    const value = row[columns.findIndex((column) => column.name === name)];
    return [name, String(value ?? 'NULL')] as const;
  });
  const shown = (values: RowValues | null): string | null =>
    values === null ? null : JSON.stringify(at === undefined ? values : values[at]);
  return {
    day: dayOfRow(table, columns, row),
    row: named,
    column: at === undefined ? null : (columns[at]?.name ?? null),
    bundle: shown(bundle),
    api: shown(api),
  };
}

function dayOfRow(table: BundleTable, columns: readonly RowColumn[], row: RowValues): string {
  const { day } = bundleTable(table);
  return String(row[columns.findIndex(({ name }) => name === day)] ?? '').slice(0, 'YYYY-MM-DD'.length);
}

/** As the engine orders them: numbers by value, texts by their bytes, nothing as an empty text. */
function compareKeys(
  a: RowValues,
  b: RowValues,
  { key, columns }: { readonly key: readonly number[]; readonly columns: readonly RowColumn[] },
): number {
  for (const at of key) {
    const [left, right] = [String(a[at] ?? ''), String(b[at] ?? '')];
    const isNumber = ['integer', 'small_integer'].includes(columns[at]?.kind ?? '');
    const order = isNumber
      ? Number(BigInt(left) - BigInt(right) > 0n) - Number(BigInt(left) - BigInt(right) < 0n)
      : Buffer.compare(Buffer.from(left), Buffer.from(right));
    if (order !== 0) return order;
  }
  return 0;
}
