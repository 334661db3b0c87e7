import { nearest } from '../../../core/command-text.ts';
import { hexDigitsOf, hexMeant, isBase58InOneCase, isBase58Of } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { KNOWN_CHAINS } from '../../../core/domain/known-chains.ts';
import type { ColumnDomain } from '../../../core/domain/public-tables.ts';
import type { TextEdit } from '../../../core/text-edits.ts';
import { type CallerText, replacement } from '../caller-text.ts';
import type { ColumnMeanings } from '../columns.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { literalsIn, type Position } from '../refusal.ts';
import { functionName } from '../scope.ts';

/** A warning: a part of an accepted text that probably does not do what its author meant. */
export interface QueryWarning {
  readonly code:
    | 'format_ignored'
    | 'settings_left_out'
    | 'prewhere_as_where'
    | 'totals_left_out'
    | 'constant_matches_nothing'
    | 'empty_is_not_null'
    | 'alias_hides_column'
    | 'cast_cuts_digits';
  /** Details for this query; absent if the code says everything. */
  readonly message?: string;
  /** The part of the text that it is about. */
  readonly near?: string;
  /** Its position in the caller's text; absent for a parameter's value. */
  readonly position?: Position;
  /** What to write instead; a literal with its quotes. */
  readonly replacement?: string;
  /** The whole text with another meaning, where a word is not enough. */
  readonly suggested_sql?: string;
  /** What to change in the caller's text, so that the warning is gone; absent where the caller has to decide. */
  readonly edits?: TextEdit[];
  /** Places of columns, from 0: an answer without a zero in any of them does not differ and carries no warning. Not shown to callers. */
  readonly zeroColumns?: readonly number[];
}

/** A well-formed constant; whether it occurs depends on the indexed data. */
export interface NamedConstant extends LiteralPlaces {
  readonly of: 'chain' | 'facilitator';
  readonly text: string;
}

/** Where a constant stands in the caller's text. */
export interface LiteralPlaces {
  readonly position?: Position;
  /** All places of it, replaced by nothing; absent where some of them are compared with nothing. */
  readonly places?: TextEdit[];
}

/** The places of a constant that is compared so many times. A text that also stands elsewhere may mean something else there. */
export function placesIn(
  caller: CallerText,
  positionAt: (offset: number) => Position,
): (text: string, times: number) => LiteralPlaces {
  const tokensOf = literalsIn(caller.tokens);
  return (text, times) => {
    const tokens = tokensOf(text);
    const [first] = tokens;
    if (first === undefined) return {};
    const { edits } =
      tokens.length === times ? caller.edits(tokens.map((token) => replacement(token, ''))) : {};
    return { position: positionAt(first.at), ...(edits === undefined ? {} : { places: edits }) };
  };
}

/** The text constants of a query, and what it compares them with. */

/** A text, a list or tuple of values, or null for any other type. */
type ConstantValue = string | null | readonly ConstantValue[];

/** A constant as the printed tree has it: `'it\'s'`, `Array_['a', 'b']`, `Tuple_('a', UInt64_1)`. */
function valueIn(node: TreeNode): ConstantValue {
  const printed = /^constant_value: (.*)$/s.exec(node.rest)?.[1];
  return printed === undefined ? null : readValue(printed, 0).value;
}

interface Read {
  readonly value: ConstantValue;
  readonly end: number;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' };
const TEXT = /'((?:[^'\\]|\\.)*)'/sy;
const OPENING = /(?:Array|Tuple|Map)_[[(]/y;
const SEPARATOR = /,\s*/y;
const OTHER = /[^,()[\]]*/y;

function readValue(printed: string, at: number): Read {
  const text = matchAt(TEXT, printed, at);
  if (text !== null)
    return {
      value: (text[1] ?? '').replace(/\\(.)/gs, (_, letter: string) => ESCAPED[letter] ?? letter),
      end: at + text[0].length,
    };
  const opening = matchAt(OPENING, printed, at);
  if (opening === null) return { value: null, end: at + (matchAt(OTHER, printed, at)?.[0].length ?? 0) };
  const values: ConstantValue[] = [];
  let end = at + opening[0].length;
  while (end < printed.length && !/[\])]/.test(printed[end] ?? '')) {
    const read = readValue(printed, end);
    values.push(read.value);
    const next = read.end + (matchAt(SEPARATOR, printed, read.end)?.[0].length ?? 0);
    if (next === end) return { value: values, end };
    end = next;
  }
  return { value: values, end: end + 1 };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function textsIn(value: ConstantValue): string[] {
  if (value === null) return [];
  return typeof value === 'string' ? [value] : value.flatMap(textsIn);
}

/** Every text in the tree's constants, repeated as often as it occurs. */
export function constantTexts(root: TreeNode): string[] {
  return [...walk(root)].flatMap((node) => (node.kind === 'CONSTANT' ? textsIn(valueIn(node)) : []));
}

export interface Comparison {
  readonly expression: TreeNode;
  /** The values that it is compared with. */
  readonly texts: readonly string[];
}

const EITHER_SIDE =
  /^(equals|notequals|less|greater|lessorequals|greaterorequals|isdistinctfrom|isnotdistinctfrom|nullif)$/i;
const IN = /^(global)?(not)?(null)?in(ignoreset)?$/i;
/** Functions whose first argument holds the values to search. */
const ARRAY_FIRST = /^(has|indexof|countequal)$/i;
const TRANSFORM = /^transform$/i;
const CASE = /^casewithexpression$/i;

/** The comparisons of a query with constant texts. */
export function comparisons(root: TreeNode): Comparison[] {
  return [...walk(root)].flatMap((node) => (node.kind === 'FUNCTION' ? comparisonsOf(node) : []));
}

function comparisonsOf(node: TreeNode): Comparison[] {
  const name = functionName(node);
  const [first, second, ...others] = listIn(node, 'ARGUMENTS');
  if (first === undefined || second === undefined) return [];
  if (EITHER_SIDE.test(name)) return [...compared(first, second, false), ...compared(second, first, false)];
  if (IN.test(name)) return compared(first, second, true);
  if (ARRAY_FIRST.test(name)) return compared(second, first, true);
  if (TRANSFORM.test(name)) return compared(first, second, true);
  if (!CASE.test(name)) return [];
  // CASE x WHEN a THEN b … ELSE c: every second argument is a value, except the last argument.
  const rest = [second, ...others];
  const values = rest.filter((_, at) => at % 2 === 0 && at < rest.length - 1);
  return values.flatMap((value) => compared(first, value, false));
}

/** `isSet`: the other side is a list of values to compare with. */
function compared(expression: TreeNode, other: TreeNode, isSet: boolean): Comparison[] {
  if (isConstant(expression)) return [];
  const value = constantOf(other);
  if (value === undefined) return [];
  return pairs(expression, isSet && Array.isArray(value) ? membersOf(expression, value) : [value]);
}

/** If the left side of `IN (a, b)` is a tuple, the right side is one tuple, not a list. */
function membersOf(expression: TreeNode, values: readonly ConstantValue[]): readonly ConstantValue[] {
  const isTuple = attribute(expression, 'function_name') === 'tuple';
  return isTuple && !values.some((value) => Array.isArray(value)) ? [values] : values;
}

function pairs(expression: TreeNode, values: readonly ConstantValue[]): Comparison[] {
  if (attribute(expression, 'function_name') !== 'tuple') {
    const texts = values.filter((value) => typeof value === 'string');
    return texts.length === 0 ? [] : [{ expression, texts }];
  }
  return listIn(expression, 'ARGUMENTS').flatMap((part, at) =>
    pairs(
      part,
      values.flatMap((value) => (Array.isArray(value) ? [value[at] ?? null] : [])),
    ),
  );
}

function isConstant(node: TreeNode): boolean {
  return constantOf(node) !== undefined;
}

/** Also handles a parameter, which is a cast constant, a list that contains constants, and a constant in another case. */
function constantOf(node: TreeNode): ConstantValue | undefined {
  if (node.kind === 'CONSTANT') return valueIn(node);
  const name = functionName(node);
  const args = listIn(node, 'ARGUMENTS');
  if (name === '_CAST' && args[0]?.kind === 'CONSTANT') return valueIn(args[0]);
  if (name === 'lower' || name === 'upper') {
    const value = args[0] === undefined ? undefined : constantOf(args[0]);
    if (typeof value !== 'string') return undefined;
    return name === 'lower' ? value.toLowerCase() : value.toUpperCase();
  }
  if (!/^(array|tuple)$/.test(name)) return undefined;
  const values = args.map((one) => constantOf(one));
  return values.every((value) => value === undefined) ? undefined : values.map((value) => value ?? null);
}

/**
 * Constants that no row can equal: `payer = '0xAb…'`, `chain = 'base'`, a tier that does not exist. The query runs and its answer
 * looks valid, so a warning says what to write.
 */
export interface ConstantFacts {
  readonly warnings: readonly QueryWarning[];
  readonly named: readonly NamedConstant[];
}

/** Warnings with a position, of one answer: they are a header too, and headers are short. Others are counted. */
export const PLACED_WARNINGS_MAX = 10;
const NEAR_MAX_CHARS = 80;

/** The first of those with a position, all without, and how many were left out: `more` already were. */
export function firstWarnings(warnings: readonly QueryWarning[], more = 0): QueryWarning[] {
  const placed = warnings.filter(({ position }) => position !== undefined);
  const leftOut = new Set(placed.slice(PLACED_WARNINGS_MAX));
  const count = leftOut.size + more;
  const shown = warnings.filter((warning) => !leftOut.has(warning));
  const code = (placed.at(-1) ?? warnings.at(-1))?.code;
  return count === 0 || code === undefined
    ? shown
    : [...shown, { code, message: `${count} more like these.` }];
}

export function checkConstants(
  root: TreeNode,
  meanings: ColumnMeanings,
  placesOf: (text: string, times: number) => LiteralPlaces,
): ConstantFacts {
  const troubles = new Map<string, Trouble & { readonly times: number }>();
  const names = new Map<string, { readonly of: NamedConstant['of']; readonly text: string; times: number }>();
  for (const { expression, texts } of comparisons(root)) {
    const domain = meanings.domainOf(expression);
    const mayBeNull = meanings.mayBeNull(expression);
    for (const text of texts) {
      const trouble = troubleWith(text, domain, mayBeNull);
      if (trouble !== undefined) {
        const known = troubles.get(text);
        // Compared with columns of two kinds, it would have to become two texts.
        const isOther = known !== undefined && known.meant !== trouble.meant;
        troubles.set(text, { ...(known ?? trouble), times: isOther ? Number.NaN : (known?.times ?? 0) + 1 });
      } else if (domain === 'chain' || domain === 'facilitator') {
        const key = `${domain} ${text}`;
        names.set(key, { of: domain, text, times: (names.get(key)?.times ?? 0) + 1 });
      }
    }
  }
  const all = [...troubles];
  const warnings = all
    .slice(0, PLACED_WARNINGS_MAX)
    .map(([text, { times, ...trouble }]) => warningOf(text, trouble, placesOf(text, times)));
  const named = [...names.values()]
    .slice(0, PLACED_WARNINGS_MAX)
    .map(({ of, text, times }) => ({ of, text, ...placesOf(text, times) }));
  return { warnings: firstWarnings(warnings, all.length - warnings.length), named };
}

export interface Trouble {
  readonly message: string;
  /** Without quotes. */
  readonly meant?: string | undefined;
}

export function warningOf(text: string, { message, meant }: Trouble, at: LiteralPlaces): QueryWarning {
  const { position, places } = at;
  const literal = `'${meant}'`;
  return {
    code: 'constant_matches_nothing',
    message,
    near: text.slice(0, NEAR_MAX_CHARS),
    ...(position === undefined ? {} : { position }),
    ...(meant === undefined ? {} : { replacement: literal }),
    ...(meant === undefined || places === undefined
      ? {}
      : { edits: places.map((place) => ({ ...place, text: literal })) }),
  };
}

/** Undefined if a row may have the text. */
function troubleWith(
  text: string,
  domain: ColumnDomain | undefined,
  isNullable: boolean,
): Trouble | undefined {
  if (text === '' && isNullable)
    return { message: 'An unknown value is NULL, not an empty text: write IS NULL.' };
  if (domain === undefined || domain === 'facilitator') return undefined;
  if (domain === 'address') return accountTrouble(text, 'address', 'Addresses');
  if (domain === 'tx_hash') return accountTrouble(text, 'transaction', 'Transactions');
  return domain === 'chain' ? chainTrouble(text) : listTrouble(text, domain);
}

function accountTrouble(text: string, kind: 'address' | 'transaction', what: string): Trouble | undefined {
  const own = text.trim();
  const meant = hexMeant(own, kind) ?? (isBase58Of(own, kind) ? own : undefined);
  if (isBase58InOneCase(own, kind) && (meant === undefined || meant === own))
    return {
      message: `${what} of Solana are base58, where the case counts: this text has letters of one case.`,
    };
  if (meant === text) return undefined;
  return {
    message: `${what} are texts here: lower-case hex, 0x and ${hexDigitsOf(kind)} digits, or base58 as Solana writes it.`,
    meant,
  };
}

const CHAIN = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
const EVM_CHAIN = /^eip155:(\d+)$/i;

function chainTrouble(text: string): Trouble | undefined {
  const number = EVM_CHAIN.exec(text)?.[1];
  if (number !== undefined ? text === chainOf(BigInt(number)) : isOtherChain(text)) return undefined;
  const id = number ?? (/^\d+$/.test(text) ? text : undefined);
  const meant = id === undefined ? chainNamed(text) : chainOf(BigInt(id));
  return {
    message: 'Chains are called by their CAIP-2 names here, such as eip155:8453 for Base.',
    meant,
  };
}

function isOtherChain(text: string): boolean {
  return CHAIN.test(text) && !/^eip155:/i.test(text);
}

const CHAINS_BY_NAME: ReadonlyMap<string, string> = new Map(
  KNOWN_CHAINS.flatMap(({ chain, slug, name }) => [
    [slug, chain],
    [name.toLowerCase(), chain],
  ]),
);

function chainNamed(text: string): string | undefined {
  const wanted = text.trim().toLowerCase();
  return CHAINS_BY_NAME.get(wanted) ?? CHAINS_BY_NAME.get(nearest(wanted, [...CHAINS_BY_NAME.keys()]) ?? '');
}

function listTrouble(text: string, values: readonly string[]): Trouble | undefined {
  if (values.includes(text)) return undefined;
  const spelled = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return {
    message: `No row has this value: the values are ${values.join(', ')}.`,
    meant: values.find((value) => value === spelled) ?? nearest(spelled, values),
  };
}

/** Warnings about well-formed constants, from the indexed chains and the known facilitators. */
export function warningsOfNamed(
  named: readonly NamedConstant[],
  known: { readonly chains: readonly string[]; readonly facilitators: readonly string[] },
): QueryWarning[] {
  return named.flatMap(({ of, text, ...position }) => {
    const names = of === 'chain' ? known.chains : known.facilitators;
    if (names.includes(text) || names.length === 0) return [];
    const message =
      of === 'chain'
        ? `This chain is not indexed here: the chains are ${names.join(', ')}.`
        : 'No facilitator has this id: the table facilitators lists them.';
    const meant = of === 'chain' ? undefined : facilitatorMeant(text, names);
    return [warningOf(text, { message, meant }, position)];
  });
}

function facilitatorMeant(text: string, ids: readonly string[]): string | undefined {
  const spelled = text.trim().toLowerCase();
  return ids.find((id) => id.toLowerCase() === spelled) ?? nearest(spelled, ids);
}
