import { Type } from '@sinclair/typebox';
import { invalid, type Param, quoted } from '../params.ts';
import { JSON_ROWS_MAX, SQL_MEDIA, type SqlFormat, STREAMED_ROWS_MAX } from './params.ts';

/** Pages of lists and of kept results: how many rows, and from which one on. */

/** Rows of a page of JSON without `limit`. */
const PAGE_ROWS = 1_000;

/** A whole number of a page's query. */
export function countParam<Standard extends number | undefined>(facts: {
  readonly description: string;
  readonly min: number;
  readonly max: number;
  readonly standard: Standard;
  readonly example?: number;
  readonly toolText?: string;
}): Param<number | Standard> {
  const { description, toolText, min, max, standard, example } = facts;
  return {
    in: 'query',
    description,
    required: false,
    ...(toolText === undefined ? {} : { toolText }),
    ...(example === undefined ? {} : { example }),
    schema: Type.Integer({
      minimum: min,
      maximum: max,
      ...(standard === undefined ? {} : { default: standard }),
    }),
    read: (raw, name) => {
      if (raw === undefined) return standard;
      const value = typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : raw;
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
      throw invalid(name, `${name} must be a whole number from ${min} to ${max}, not ${quoted(raw)}.`);
    },
  };
}

/** The page of a kept result. */
export const RESULT_PAGE_PARAMS = {
  limit: {
    ...countParam({
      description: `Rows of the answer. JSON has at most ${JSON_ROWS_MAX}, and ${PAGE_ROWS} without it; the other formats have all rows without it.`,
      toolText: `Rows, ${PAGE_ROWS} without it.`,
      min: 1,
      max: STREAMED_ROWS_MAX,
      standard: undefined,
      example: 1_000,
    }),
    component: 'ResultLimit',
  },
  offset: {
    ...countParam({
      description: 'Rows that are left out at the beginning: `next_offset` of the page before.',
      toolText: 'Earlier next_offset.',
      min: 0,
      max: STREAMED_ROWS_MAX,
      standard: 0,
    }),
    component: 'ResultOffset',
  },
};

/** The rows that a page may have: those that were asked for, at most as many as its format has. */
export function pageRowsMax(format: SqlFormat, limit: number | undefined): number {
  const { rowsMax } = SQL_MEDIA[format];
  const isJson = format === 'json' || format === 'json_compact';
  return Math.min(limit ?? (isJson ? PAGE_ROWS : rowsMax), rowsMax);
}
