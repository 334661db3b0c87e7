import { type ColumnType, columnType, type ResultColumn } from './column-type.ts';

/**
 * The form in which a result is stored: Parquet, which other programs read, or the engine's Native where a column has a type that the
 * engine does not write into Parquet. Read back with the types of the result, both give every value again as it was, so that a kept
 * result is written in any format exactly as its query would be (test/src/results/kept-results.engine.test.ts).
 */
export type KeptForm = 'Parquet' | 'Native';

/** Types that the engine refuses to write into Parquet. */
const NOT_IN_PARQUET =
  /^(Nothing|Interval|BFloat16|Time|Time64|Dynamic|Variant|JSON|Object|AggregateFunction|QBit)\b|^Interval/;

export function keptForm(columns: readonly ResultColumn[]): KeptForm {
  return columns.every(({ type }) => isInParquet(columnType(type))) ? 'Parquet' : 'Native';
}

function isInParquet(type: ColumnType): boolean {
  switch (type.kind) {
    case 'leaf':
      return !NOT_IN_PARQUET.test(type.text);
    case 'nullable':
    case 'low_cardinality':
    case 'array':
      return isInParquet(type.of);
    case 'map':
      return isInParquet(type.key) && isInParquet(type.value);
    case 'tuple':
      return type.elements.every((element) => isInParquet(element.type));
  }
}

/** The columns as a table is declared with them. */
export function structureOf(columns: readonly ResultColumn[]): string {
  return columns.map(({ name, type }) => `\`${name.replace(/[\\`]/g, '\\$&')}\` ${type}`).join(', ');
}
