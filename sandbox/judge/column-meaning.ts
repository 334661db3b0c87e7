import {
  type ColumnDomain,
  PUBLIC_TABLES,
  type PublicColumn,
  type PublicTableName,
} from '../../core/domain/public-tables.ts';
import { type NamedValues, namedValues } from './named-values.ts';
import { attribute, listIn, type TreeNode } from './query-tree.ts';

/**
 * Which public column an expression is the value of, as far as names tell it: for help with constants, never for a wall. A name that
 * may mean two things means nothing here.
 */
export interface ColumnMeanings {
  domainOf(node: TreeNode): ColumnDomain | undefined;
  /** Whether it is a column of texts that is NULL, and never empty, where its value is unknown. */
  mayBeNull(node: TreeNode): boolean;
  timeOf(node: TreeNode): TimeKind | undefined;
}

/** A time to the second in UTC, or a day. */
export type TimeKind = 'time' | 'day';

/** Names lead to names: an alias of an alias of a column is as far as anybody goes. */
const STEPS_MAX = 8;
/** Give one of the values of their first argument, as it is. */
const SAME_VALUE =
  /^(any|anylast|any_value|first_value|last_value|min|max|argmin|argmax|assumenotnull|tonullable|materialize|identity|laginframe|leadinframe|lag|lead|nth_value)(if|ornull)*$/i;
/** Leave a text that is in lower case as it is. */
const AS_TEXT = /^(lower|lcase|lowerutf8|trim|tostring)$/i;
/** Of a time in UTC, a time in UTC; another argument would be a time zone. */
const KEEPS_TIME = /^tostartof(second|minute|fiveminutes|tenminutes|fifteenminutes|hour|day)$/i;
const MAKES_DAY = /^(todate|tomonday|tostartof(week|month|quarter|year)|tolastdayofmonth)$/i;
const PLUS_INTERVAL = /^(plus|minus)$/i;
const INTERVAL = /^tointerval/i;

export function columnMeanings(root: TreeNode, tables: readonly string[]): ColumnMeanings {
  const columns = tables.flatMap(columnsOf);
  const named = namedValues(root);
  return {
    domainOf: (node) => meaningOf(node, { columns, named, of: ({ domain }) => domain, through: sameText }),
    mayBeNull: (node) => meaningOf(node, { columns, named, of: nullableText, through: sameText }) === true,
    timeOf: (node) => meaningOf(node, { columns, named, of: timeKind, through: timeThrough }),
  };
}

function columnsOf(table: string): readonly PublicColumn[] {
  return Object.hasOwn(PUBLIC_TABLES, table) ? PUBLIC_TABLES[table as PublicTableName].columns : []; // by the check before it
}

function timeKind({ type }: PublicColumn): TimeKind | undefined {
  if (/\bDateTime\('UTC'\)/.test(type)) return 'time';
  return /\bDate\b/.test(type) ? 'day' : undefined;
}

function nullableText({ type }: PublicColumn): boolean {
  return type.includes('Nullable(String)');
}

interface Question<Meaning> {
  readonly columns: readonly PublicColumn[];
  readonly named: NamedValues;
  readonly of: (column: PublicColumn) => Meaning | undefined;
  /** What a function makes of the meaning of its first argument. */
  readonly through: (call: TreeNode, meaning: Meaning) => Meaning | undefined;
}

function meaningOf<Meaning>(
  node: TreeNode,
  question: Question<Meaning>,
  steps = STEPS_MAX,
): Meaning | undefined {
  if (steps === 0) return undefined;
  if (node.kind === 'IDENTIFIER') return meaningOfName(node, question, steps);
  const [first] = node.kind === 'FUNCTION' ? listIn(node, 'ARGUMENTS') : [];
  if (first === undefined) return undefined;
  const meaning = meaningOf(first, question, steps - 1);
  return meaning === undefined ? undefined : question.through(node, meaning);
}

function meaningOfName<Meaning>(
  node: TreeNode,
  question: Question<Meaning>,
  steps: number,
): Meaning | undefined {
  const name = (attribute(node, 'identifier') ?? '').split('.').at(-1) ?? '';
  const values = question.named.get(name) ?? [];
  const meanings = [
    ...question.columns.filter((column) => column.name === name).map(question.of),
    ...values
      .filter((value) => value?.node !== node)
      .map((value) =>
        value === null || value.isElement ? undefined : meaningOf(value.node, question, steps - 1),
      ),
  ];
  const [one] = meanings;
  return meanings.every((meaning) => meaning === one) ? one : undefined;
}

function sameValue<Meaning>(call: TreeNode, meaning: Meaning): Meaning | undefined {
  return SAME_VALUE.test(attribute(call, 'function_name') ?? '') ? meaning : undefined;
}

function sameText<Meaning>(call: TreeNode, meaning: Meaning): Meaning | undefined {
  return AS_TEXT.test(attribute(call, 'function_name') ?? '') ? meaning : sameValue(call, meaning);
}

function timeThrough(call: TreeNode, kind: TimeKind): TimeKind | undefined {
  const name = attribute(call, 'function_name') ?? '';
  const [, second] = listIn(call, 'ARGUMENTS');
  if (second === undefined && MAKES_DAY.test(name)) return 'day';
  if (second === undefined && kind === 'time' && KEEPS_TIME.test(name)) return 'time';
  const isMoved = PLUS_INTERVAL.test(name) && INTERVAL.test(attribute(second ?? call, 'function_name') ?? '');
  return isMoved && kind === 'time' ? 'time' : sameValue(call, kind);
}
