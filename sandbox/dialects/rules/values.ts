import { firstOf, type Rule, type Rules, renamedTo } from '../call.ts';
import { isNode } from '../nodes.ts';
import { MARKERS } from '../spelling.ts';

/** Conditions, NULLs and arithmetic. */

/** `DECODE(x, 1, 'a', 'b')`. */
const decode: Rule = ({ args, print }) => {
  const [value, ...pairs] = args.map(print);
  if (value === undefined || pairs.length < 2) return null;
  const branches: string[] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2)
    branches.push(`${value} = ${pairs[at] ?? ''}, ${pairs[at + 1] ?? ''}`);
  return `multiIf(${branches.join(', ')}, ${pairs.length % 2 === 1 ? (pairs.at(-1) ?? 'NULL') : 'NULL'})`;
};

/** Trino's `try`: a division by zero becomes NULL. */
const attempt: Rule = ({ args, print, operand }) => {
  const [value] = args;
  if (value === undefined) return null;
  const isDivision = value['type'] === 'binary_expr' && value['operator'] === '/';
  return isDivision && isNode(value['left']) && isNode(value['right'])
    ? `${operand(value['left'])} / nullIf(${print(value['right'])}, 0)`
    : print(value);
};

/** Two arguments, or the value alone. */
const truncate: Rule = firstOf('trunc($1, $2)', 'trunc($1)');

export const VALUES: Rules = {
  if: firstOf('if($1, $2, $3)', 'if($1, $2, NULL)'),
  iif: 'if($1, $2, $3)',
  nvl: 'ifNull($1, $2)',
  nvl2: 'if(isNotNull($1), $2, $3)',
  ifnull: 'ifNull($1, $2)',
  isnull: firstOf('isNull($1)', 'ifNull($1, $2)'),
  nullif: 'nullIf($1, $2)',
  coalesce: renamedTo('coalesce'),
  zeroifnull: 'ifNull($1, 0)',
  nullifzero: 'nullIf($1, 0)',
  decode,
  try: attempt,
  safe_divide: '$$1 / nullIf($2, 0)',
  div0: 'ifNull($$1 / nullIf($2, 0), 0)',
  ieee_divide: '$$1 / $2',
  div: 'intDiv($1, $2)',
  mod: 'modulo($1, $2)',
  pow: 'pow($1, $2)',
  power: 'pow($1, $2)',
  ln: 'log($1)',
  log: ({ args, dialect, print }) => {
    const [first, second] = args.map(print);
    if (first === undefined) return null;
    if (second !== undefined)
      return dialect === 'bigquery' ? `log(${first}) / log(${second})` : `log(${second}) / log(${first})`;
    return dialect === 'postgresql' ? `log10(${first})` : `log(${first})`;
  },
  width_bucket: 'widthBucket(toFloat64($1), $2, $3, $4)',
  ceil: 'ceil($1)',
  ceiling: 'ceil($1)',
  trunc: truncate,
  truncate,
  random: () => 'rand() / 4294967295',
  rand: () => 'rand() / 4294967295',
  [MARKERS.same]: 'isNotDistinctFrom($1, $2)',
  [MARKERS.power]: 'pow($1, $2)',
};
