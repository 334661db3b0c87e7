import { PUBLIC_TABLES } from '../../../core/domain/public-tables.ts';
import { functionName, isNode, type Node, nodesOf, textOf, wordOf } from '../nodes.ts';
import { constantText, hashText } from './texts.ts';
import { dayConstant, intervalOfText, timeConstant } from './times.ts';

/**
 * Casts. They are written as functions, because `CAST(x AS String)` of ClickHouse fails on NULL. A cast that the dialects need and
 * ClickHouse does not, such as that of a sum to NUMERIC, is left out.
 */

interface CastType {
  readonly name: string;
  readonly scale: number | null;
}

const INTEGER =
  /^(small|big|medium|tiny)?int(eger|64|32|8|4|2)?$|^(un)?signed( integer)?$|^byteint$|^uint256$|^int256$/;
const FLOATING = /^(double( precision)?|float(4|8|32|64)?|real)$/;
const EXACT = /^(numeric|decimal|bignumeric|number|bigdecimal)$/;
const TEXT =
  /^(text|varchar|char|character|character varying|string|nvarchar|bpchar|varbinary|bytea|bytes|binary)$/;
const TIME = /^(timestamp|timestamptz|datetime)( with(out)? time zone)?$/;
const TRUTH = /^bool(ean)?$/;

export interface CastParts {
  readonly value: Node;
  readonly target: Node;
  /** Whether a value that does not fit becomes NULL. */
  readonly isTry: boolean;
  print(node: Node): string;
}

/** Null for a type that has no rule. */
export function castText({ value, target, isTry, print }: CastParts): string | null {
  const type = typeOf(target);
  const text = textOf(value);
  const constant = text === null ? null : constantOf(text, type.name);
  if (constant !== null) return constant;
  const printed = print(value);
  if (isTry) return castOrNull(type, printed);
  if (INTEGER.test(type.name)) return `toInt64(${isFractional(value) ? `round(${printed})` : printed})`;
  if (FLOATING.test(type.name)) return `toFloat64(${printed})`;
  if (EXACT.test(type.name)) {
    const number = isText(value) ? `toDecimal128(${printed}, ${EXACT_DIGITS})` : printed;
    return type.scale === null ? number : `round(${number}, ${type.scale})`;
  }
  if (TEXT.test(type.name)) return `toString(${printed})`;
  if (type.name === 'date') return `toDate(${printed})`;
  if (TIME.test(type.name)) return `toDateTime(${printed}, 'UTC')`;
  return TRUTH.test(type.name) ? `toBool(${printed})` : null;
}

function typeOf(target: Node): CastType {
  const words = [wordOf(target['dataType']), ...suffixOf(target['suffix'])].join(' ').toLowerCase().trim();
  const { scale, length } = target;
  // NUMERIC(18) has no digits after the point.
  const whole = typeof length === 'number' && EXACT.test(words) ? 0 : null;
  return { name: words, scale: typeof scale === 'number' ? scale : whole };
}

function suffixOf(suffix: unknown): string[] {
  return Array.isArray(suffix) ? suffix.map(wordOf).filter((word) => word !== '') : [];
}

function constantOf(text: string, type: string): string | null {
  if (type === 'date') return dayConstant(text);
  if (type === 'interval') return intervalOfText(text);
  if (TIME.test(type)) return timeConstant(text);
  if (TEXT.test(type)) return constantText(hashText(text) ?? text);
  return (EXACT.test(type) || FLOATING.test(type)) && /^-?\d+(\.\d+)?$/.test(text) ? text : null;
}

/** Of NUMERIC in BigQuery; PostgreSQL keeps any number of them. */
const EXACT_DIGITS = 9;

/** A value that does not fit becomes NULL. Null where the type has no such cast. */
function castOrNull(type: CastType, printed: string): string | null {
  if (INTEGER.test(type.name)) return `accurateCastOrNull(${printed}, 'Int64')`;
  if (FLOATING.test(type.name)) return `accurateCastOrNull(${printed}, 'Float64')`;
  if (!EXACT.test(type.name)) return null;
  const number = `accurateCastOrNull(${printed}, 'Decimal(38, ${EXACT_DIGITS})')`;
  return type.scale === null ? number : `round(${number}, ${type.scale})`;
}

const TEXT_CALL =
  /^(substring|substr|split_part|split|regexp_extract|regexp_substr|trim|lower|upper|replace|concat|left|right)$/i;

/** Whether a value is a text, and so a number only after a cast: a text constant, a text column, or a part of a text. */
function isText(value: Node): boolean {
  if (textOf(value) !== null) return true;
  if (value['type'] === 'column_ref') return TEXT_COLUMNS.has(wordOf(value['column']));
  return value['type'] === 'function' && TEXT_CALL.test(functionName(value));
}

/** Columns of the public tables that hold texts, by name. */
const TEXT_COLUMNS: ReadonlySet<string> = new Set(
  Object.values(PUBLIC_TABLES).flatMap(({ columns }) =>
    columns.filter(({ type }) => /\bString\b/.test(type)).map(({ name }) => name),
  ),
);

const FRACTIONAL_COLUMN = /^(amount_usd|usd_amount|price_usd|settled_usd|score|value|evidence_probability)$/;
const FRACTIONAL_CALL =
  /^(avg|median|percentile|quantile|stddev|sqrt|pow|si_percentile|si_approx_percentile)/i;

/** Whether a value may have a fraction, which the dialects round to an integer and ClickHouse cuts off. */
function isFractional(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isFractional);
  if (!isNode(value)) return false;
  if (value['type'] === 'binary_expr' && value['operator'] === '/') return true;
  if (value['type'] === 'column_ref') return FRACTIONAL_COLUMN.test(wordOf(value['column']));
  if (
    (value['type'] === 'function' || value['type'] === 'aggr_func') &&
    FRACTIONAL_CALL.test(wordOf(value['name']))
  )
    return true;
  return Object.values(value).some(isFractional);
}

export function castTarget(cast: Node): Node | null {
  const { target } = cast;
  return (isNode(target) ? target : nodesOf(target)[0]) ?? null;
}
