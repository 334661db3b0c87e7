import { type ColumnType, columnType, plainName } from './column-type.ts';

/**
 * Numbers that the engine writes as texts, because a double cannot hold all of their type, as JSON numbers where a double holds this
 * one. Works on the engine's text and by the type of the column: nothing else of a value is changed, and no text is taken for a number.
 */

/** The rewriter of a column's values, as their exact JSON texts; null for a type without such numbers. */
export function nativeNumbers(printedType: string): ((text: string) => string) | null {
  const type = columnType(printedType);
  if (!holdsNumbers(type)) return null;
  return (text) => rewritten({ tokens: text.match(TOKENS) ?? [], at: 0 }, type);
}

/** A JSON text that is read token by token. */
interface Cursor {
  readonly tokens: readonly string[];
  at: number;
}

/** The value at the cursor, which moves behind it. Without a type it is copied. */
function rewritten(cursor: Cursor, type: ColumnType | undefined): string {
  const token = taken(cursor);
  if (token === '[') return token + members(cursor, (nth) => rewritten(cursor, elementType(type, nth)));
  if (token === '{')
    return (
      token +
      members(cursor, () => {
        const key = taken(cursor);
        return key + taken(cursor) + rewritten(cursor, memberType(type, key));
      })
    );
  return type !== undefined && isNumber(type) ? exact(token) : token;
}

function taken(cursor: Cursor): string {
  const token = cursor.tokens[cursor.at];
  if (token === undefined) throw new Error('the engine ended a value in the middle');
  cursor.at += 1;
  return token;
}

/** Everything up to the closing bracket, and the bracket. */
function members(cursor: Cursor, one: (nth: number) => string): string {
  const end = cursor.tokens[cursor.at];
  if (end === ']' || end === '}') return taken(cursor);
  let text = '';
  for (let nth = 0; ; nth++) {
    text += one(nth);
    const sign = taken(cursor);
    text += sign;
    if (sign !== ',') return text;
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;
/** Printed as texts: see EXACT_OUTPUT in clickhouse/engine/output.ts. */
const NUMBER = /^(U?Int(64|128|256)$|Decimal\()/;

function holdsNumbers(type: ColumnType): boolean {
  switch (type.kind) {
    case 'leaf':
      return NUMBER.test(type.text);
    case 'map':
      return holdsNumbers(type.value);
    case 'tuple':
      return type.elements.some((element) => holdsNumbers(element.type));
    default:
      return holdsNumbers(type.of);
  }
}

function bare(type: ColumnType): ColumnType {
  return type.kind === 'nullable' || type.kind === 'low_cardinality' ? bare(type.of) : type;
}

function isNumber(type: ColumnType): boolean {
  const { kind, text } = bare(type);
  return kind === 'leaf' && NUMBER.test(text);
}

function elementType(type: ColumnType | undefined, nth: number): ColumnType | undefined {
  const its = type === undefined ? undefined : bare(type);
  if (its?.kind === 'array') return its.of;
  return its?.kind === 'tuple' ? its.elements[nth]?.type : undefined;
}

function memberType(type: ColumnType | undefined, key: string): ColumnType | undefined {
  const its = type === undefined ? undefined : bare(type);
  if (its?.kind === 'map') return its.value;
  if (its?.kind !== 'tuple') return undefined;
  const name: unknown = JSON.parse(key);
  return its.elements.find((element) => element.name !== null && plainName(element.name) === name)?.type;
}

/** Every decimal of so many digits comes back from a double (DBL_DIG of the C standard). */
const DOUBLE_DIGITS = 15;
const SAFE_MAX = 2n ** 53n;

/** `"12.5"` without its quotes, if a double holds it; everything else as it is. */
function exact(token: string): string {
  const [, text = '', whole = '', fraction] = /^"(-?(\d+)(?:\.(\d+))?)"$/.exec(token) ?? [];
  if (text === '') return token;
  if (fraction === undefined) return BigInt(whole) <= SAFE_MAX ? text : token;
  return `${whole}${fraction}`.replace(/^0+/, '').length <= DOUBLE_DIGITS ? text : token;
}
