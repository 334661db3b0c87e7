import { hexMeant } from '../../../core/domain/account.ts';
import { type Call, firstOf, type Rule, type Rules, renamedTo } from '../call.ts';
import { type Node, numberOf, textOf } from '../nodes.ts';

/** Functions of texts, addresses, URLs and arrays. */

export function constantText(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** An address or a hash as our columns hold it: lower case with `0x`. Null for any other text. */
export function hashText(value: string): string | null {
  const hex = value.replace(/^\\x/i, '0x');
  return hexMeant(hex, 'address') ?? hexMeant(hex, 'transaction') ?? null;
}

/** A text constant that is an address; other texts are left to the next rule. */
const addressOf: Rule = ({ args }) => {
  const hash = args[0] === undefined ? null : hashText(textOf(args[0]) ?? '');
  return hash === null ? null : constantText(hash);
};

const withoutPrefix = 'substring($1, 3)';

const pattern = (node: Node, print: (node: Node) => string, flags = ''): string => {
  const value = textOf(node);
  return value === null ? print(node) : constantText(`${flags}${value}`);
};

const matches: Rule = ({ args, dialect, print }) => {
  const [value, expression] = args;
  if (value === undefined || expression === undefined || args.length > 2) return null;
  return `match(${print(value)}, ${pattern(expression, print, dialect === 'mysql' ? '(?i)' : '')})`;
};

const replaceAllOf: Rule = ({ args, dialect, print }) => {
  const [value, expression, by, flags] = args;
  if (value === undefined || expression === undefined) return null;
  const all = dialect !== 'postgresql' || (flags !== undefined && textOf(flags)?.includes('g') === true);
  const replacement = by === undefined ? "''" : pattern(by, print);
  return `replaceRegexp${all ? 'All' : 'One'}(${print(value)}, ${print(expression)}, ${replacement})`;
};

/** `split_part(x, '/', 2)`, whose parts count from 1. */
const splitPart = 'splitByString($2, $1)[$3]';

/** One part of a split text; the separator is a comma where none is given. */
const split: Rule = ({ args, print }) => {
  const [value, separator] = args;
  if (value === undefined) return null;
  return `splitByString(${separator === undefined ? "','" : print(separator)}, ${print(value)})`;
};

/** `SUBSTRING_INDEX(x, '/', 2)`; ClickHouse's own takes separators of one character only. */
const substringIndex: Rule = ({ args, print }) => {
  const [value, separator, count] = args;
  if (value === undefined || separator === undefined || count === undefined) return null;
  const between = textOf(separator);
  if (between === null || between.length === 1) return `substringIndex(${args.map(print).join(', ')})`;
  const parts = `splitByString(${print(separator)}, ${print(value)})`;
  const number = print(count);
  if (number === '1' || number === '-1') return `${parts}[${number}]`;
  const slice = number.startsWith('-')
    ? `arraySlice(${parts}, ${number})`
    : `arraySlice(${parts}, 1, ${number})`;
  return `arrayStringConcat(${slice}, ${print(separator)})`;
};

/** The dialects pad numbers as well. */
function padded(name: string): Rule {
  return ({ args, print }) => {
    const [value, ...others] = args.map(print);
    return value === undefined ? null : `${name}(${[`toString(${value})`, ...others].join(', ')})`;
  };
}

const joinArray: Rule = ({ args, print }) => {
  const [array, separator] = args;
  return array === undefined
    ? null
    : `arrayStringConcat(${print(array)}, ${separator === undefined ? "','" : print(separator)})`;
};

/** `substring(x FROM 'pattern')` of PostgreSQL. */
function substringOfPattern({ args, print }: Call): string | null {
  const [value, pattern] = args;
  if (value === undefined || pattern === undefined || args.length !== 2 || textOf(pattern) === null)
    return null;
  return `extract(${print(value)}, ${print(pattern)})`;
}

export const TEXTS: Rules = {
  strpos: 'position($1, $2)',
  instr: 'position($1, $2)',
  charindex: 'position($2, $1)',
  locate: 'position($2, $1)',
  substr: renamedTo('substring'),
  substring: firstOf(substringOfPattern, renamedTo('substring')),
  mid: renamedTo('substring'),
  split_part: splitPart,
  split: split,
  string_to_array: split,
  substring_index: substringIndex,
  char_length: 'lengthUTF8($1)',
  character_length: 'lengthUTF8($1)',
  octet_length: 'length($1)',
  byte_length: 'length($1)',
  ucase: 'upper($1)',
  lcase: 'lower($1)',
  lpad: padded('leftPad'),
  rpad: padded('rightPad'),
  btrim: 'trimBoth($1)',
  ltrim: 'trimLeft($1)',
  rtrim: 'trimRight($1)',
  trim: 'trimBoth($1)',
  replace: 'replaceAll($1, $2, $3)',
  starts_with: 'startsWith($1, $2)',
  ends_with: 'endsWith($1, $2)',
  contains_substr: 'positionCaseInsensitive($1, $2) > 0',
  contains: firstOf('has($1, $2)'),
  regexp_like: matches,
  regexp_contains: matches,
  regexp_matches: matches,
  regexp_extract: firstOf('regexpExtract($1, $2, $3)', 'extract($1, $2)'),
  regexp_substr: 'regexpExtract($1, $2, 0)',
  regexp_replace: replaceAllOf,
  to_hex: withoutPrefix,
  hex: withoutPrefix,
  encode: ({ args, print }) => (args[0] === undefined ? null : `substring(${print(args[0])}, 3)`),
  from_hex: firstOf(addressOf, "concat('0x', lower($1))"),
  unhex: firstOf(addressOf, "concat('0x', lower($1))"),
  decode: addressOf,
  lower: firstOf(addressOf, 'lower($1)'),
  'net.host': 'domain($1)',
  'net.reg_domain': 'cutToFirstSignificantSubdomain($1)',
  url_extract_host: 'domain($1)',
  url_extract_path: 'path($1)',
  url_extract_protocol: 'protocol($1)',
  url_extract_parameter: 'extractURLParameter($1, $2)',
  concat_ws: ({ args, print }) => {
    const [separator, ...values] = args.map(print);
    return separator === undefined ? null : `arrayStringConcat([${values.join(', ')}], ${separator})`;
  },
  cardinality: 'length($1)',
  array_length: firstOf('length($1)', ({ args, print }) =>
    args.length === 2 && args[0] !== undefined ? `length(${print(args[0])})` : null,
  ),
  array_distinct: 'arrayDistinct($1)',
  array_sort: 'arraySort($1)',
  array_join: joinArray,
  array_to_string: joinArray,
  array_max: 'arrayMax($1)',
  array_min: 'arrayMin($1)',
  array_contains: 'has($1, $2)',
  array_position: 'indexOf($1, $2)',
  array_reverse: 'arrayReverse($1)',
  array_concat: renamedTo('arrayConcat'),
  array_cat: renamedTo('arrayConcat'),
  bytearray_substring: ({ args, print }) => {
    const [value, from, count] = args;
    const [start, length] = [from, count].map((node) => (node === undefined ? null : numberOf(node)));
    // Two digits a byte, after the prefix.
    return value === undefined || typeof start !== 'number' || typeof length !== 'number'
      ? null
      : `concat('0x', substring(${print(value)}, ${1 + start * 2}, ${length * 2}))`;
  },
  elt: ({ args, print }) => {
    const [place, ...values] = args.map(print);
    return place === undefined ? null : `[${values.join(', ')}][${place}]`;
  },
  field: ({ args, print }) => {
    const [value, ...values] = args.map(print);
    return value === undefined ? null : `indexOf([${values.join(', ')}], ${value})`;
  },
  element_at: '$$1[$2]',
  unnest: 'arrayJoin($1)',
};
