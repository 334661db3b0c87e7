import type { Token } from './parser.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';
import { argumentNames } from './scope.ts';
import { createValueSizes, type ValueSizes } from './value-size.ts';

/**
 * The engine looks at its clock between blocks of rows and nowhere else, so that a function whose work grows with the product of
 * two sizes must not meet two large values (tried on 26.7.2.1, each ran on for more than 9 s after its second was over:
 * `position` of 500 kB in 1 MB, `extractAll` of 300 kB by `a*b|a`, `hasAny` of 300,000 numbers in as many others, `has` in a
 * constant of a million texts for each of 8,192 rows).
 */

/** Of a text that is looked for: so short a one is nowhere slow. */
const NEEDLE_BYTES_MAX = 16;
/** Of what is looked for by what it is looked for in. */
const SEARCH_MAX = 1_000_000;
/** Of a text that a pattern is matched with again and again. */
const MATCHED_BYTES_MAX = 512;
/** Of the smaller one of two arrays. */
const SMALLER_ARRAY_BYTES_MAX = 2_000;
/** Of a constant that every row is looked for in. */
const SCANNED_BYTES_MAX = 65_536;

const SEARCHES =
  /^(position|locate|instr|countsubstrings|replace(all|one)?$|multisearch|splitbystring|hastoken|like$|ilike$|notlike$|notilike$)/i;
const MATCHES =
  /^(extractall|extractgroups|replaceregexpall|regexp_replace|countmatches|splitbyregexp|regexpextract|regexp_extract|multimatch|multifuzzymatch|json_(value|query|exists)$)/i;
/** Begin anew at every sign that could open something, or be in another order: quadratic by themselves. */
const REREADS = /^(extracttextfromhtml|normalizeutf8\w*)$/i;
/** Paths that name many values at once are looked up from the beginning for each. */
const JSON_PATHS = /^json_/i;
const SINGLE_PATH = /^(?!.*([*,]| to |\.\.))/s;
/** The first argument is the point. */
const LOOKS_WITHIN = /^pointinpolygon$/i;
const COMPARES = /^(hasany|hasall|hassubstr)$/i;
const SCANS =
  /^(has|indexof|countequal|mapcontains.*|arrayelement|arrayelementornull|json.*|simplejson.*|visitparam.*|position.*|locate|countsubstrings.*|multisearch.*|extract.*|match|multimatch.*|countmatches.*|startswith.*|endswith.*)$/i;
/** Of an array, at once; of a map, by looking through it. */
const ELEMENT = /^arrayelement/i;
/** With the pattern first. */
const PATTERN_FIRST = /^splitby/i;
/** What is repeated without bounds stands last, and there is one way only: every try ends with what it has matched. */
const STEADY_PATTERN = /^[^*+{}|?]*[*+]?\)?$/;

/** Throws `Refused` (`too_complex`). `tokens` of the canonical text. */
export function checkSizes(root: TreeNode, tokens: readonly Token[]): void {
  const own = namesOf(root);
  const known: Known = {
    sizes: createValueSizes(root, renamesColumns(tokens)),
    own,
    hasMaps: [...walk(root)].some(makesMap),
  };
  for (const node of walk(root)) {
    if (node.kind === 'IDENTIFIER') checkName(node, own);
    if (node.kind === 'FUNCTION') checkCall(node, known);
  }
}

interface Known {
  readonly sizes: ValueSizes;
  readonly own: Names;
  readonly hasMaps: boolean;
}

function checkCall(node: TreeNode, { sizes, own, hasMaps }: Known): void {
  const name = attribute(node, 'function_name') ?? '';
  const args = listIn(node, 'ARGUMENTS');
  if (SEARCHES.test(name)) checkSearch(name, args, sizes);
  if (MATCHES.test(name)) checkMatch(name, args, sizes);
  if (LOOKS_WITHIN.test(name)) checkShape(name, args.slice(1), sizes);
  if (REREADS.test(name)) for (const text of args) checkMatched(name, text, sizes);
  if (COMPARES.test(name)) checkComparison(name, args, sizes);
  if (SCANS.test(name) && (hasMaps || !ELEMENT.test(name))) checkScan(name, args, sizes, own);
}

function makesMap(node: TreeNode): boolean {
  if (node.kind === 'CONSTANT') return /Map\(|Map_/.test(node.rest);
  const name = attribute(node, 'function_name') ?? '';
  return /map/i.test(name) && !/^arraymap$/i.test(name);
}

/** `WITH t (a, b) AS (…)` and `(…) AS t(a, b)`, which no view of the tree shows. */
function renamesColumns(tokens: readonly Token[]): boolean {
  return tokens.some((token, at) => {
    if (token.text !== 'AS' || tokens[at - 1]?.kind !== 'ClosingRoundBracket') return false;
    return [tokens[at + 1], tokens[at + 2]].some((next) => next?.kind === 'OpeningRoundBracket');
  });
}

type Names = ReadonlyMap<string, readonly TreeNode[]>;

/** Aliases and what they stand for; arguments of lambdas stand for nothing. */
function namesOf(root: TreeNode): Names {
  const names = new Map<string, TreeNode[]>();
  for (const node of walk(root)) {
    const alias = attribute(node, 'alias');
    if (alias !== undefined) names.set(alias, [...(names.get(alias) ?? []), node]);
    if (node.kind !== 'LAMBDA') continue;
    for (const name of argumentNames(node)) names.set(name, names.get(name) ?? []);
  }
  return names;
}

/** `arrayMap(hasAny, xs, ys)`: a function that is named as a value has no arguments to look at. */
function checkName(node: TreeNode, own: Names): void {
  const name = attribute(node, 'identifier') ?? '';
  const isArgument = node.parent?.kind === 'LIST' && node.parent.section === 'ARGUMENTS';
  if (!isArgument || own.has(name)) return;
  if (![SEARCHES, MATCHES, REREADS, COMPARES, SCANS].some((functions) => functions.test(name))) return;
  refuse('too_complex', {
    near: name,
    detail: `${name} is not available as the name of a function in an argument.`,
    hint: `Write it as a lambda: (x, y) -> ${name}(x, y).`,
  });
}

function checkSearch(name: string, args: readonly TreeNode[], { bytesOf }: ValueSizes): void {
  const [first, second] = args.map(bytesOf);
  if (first === undefined || second === undefined) return;
  // Which is which depends on the function; a separator of splitByString comes first.
  const needle = PATTERN_FIRST.test(name) ? first : Math.min(second, needleOfLocate(name, first, second));
  if (needle <= NEEDLE_BYTES_MAX || first * second <= SEARCH_MAX) return;
  refuse('too_complex', {
    near: name,
    detail: `${name} cannot be stopped once it looks for a long text in a long one.`,
    hint: `Look for at most ${NEEDLE_BYTES_MAX - 2} characters, or in columns and short texts.`,
  });
}

/** The order of locate is that of MySQL. */
function needleOfLocate(name: string, first: number, second: number): number {
  return /^locate$/i.test(name) ? Math.min(first, second) : second;
}

function checkMatch(name: string, args: readonly TreeNode[], sizes: ValueSizes): void {
  const [text, pattern] = PATTERN_FIRST.test(name) ? [args[1], args[0]] : args;
  if (text === undefined || pattern === undefined) return;
  const written = /^constant_value: \\?'(.*?)\\?', constant_value_type: String$/s.exec(pattern.rest)?.[1];
  const steady = JSON_PATHS.test(name) ? SINGLE_PATH : STEADY_PATTERN;
  const isSteady = pattern.kind === 'CONSTANT' && written !== undefined && steady.test(written);
  if (isSteady) return;
  checkMatched(name, text, sizes);
}

function checkMatched(name: string, text: TreeNode, { bytesOf }: ValueSizes): void {
  if (bytesOf(text) <= MATCHED_BYTES_MAX) return;
  refuse('too_complex', {
    near: name,
    detail: `${name} cannot be stopped once it reads a long text again and again.`,
    hint: `Give it columns and texts of at most ${MATCHED_BYTES_MAX} bytes, or a pattern that ends with its only * or + and has no |.`,
  });
}

/** Building what a shape is searched with takes one step, however many corners it has. */
function checkShape(name: string, shapes: readonly TreeNode[], { bytesOf }: ValueSizes): void {
  if (Math.max(...shapes.map(bytesOf)) <= SCANNED_BYTES_MAX) return;
  refuse('too_complex', {
    near: name,
    detail: `${name} cannot be stopped once it takes in a shape of many corners.`,
    hint: 'Write the corners out, or make them of fewer values.',
  });
}

function checkComparison(name: string, args: readonly TreeNode[], { bytesOf }: ValueSizes): void {
  if (Math.min(...args.map(bytesOf)) <= SMALLER_ARRAY_BYTES_MAX) return;
  refuse('too_complex', {
    near: name,
    detail: `${name} cannot be stopped once it compares two long arrays.`,
    hint: 'Use arrayIntersect(xs, ys): notEmpty(…) for any of them, length(…) = length(arrayDistinct(ys)) for all.',
  });
}

function checkScan(name: string, args: readonly TreeNode[], { bytesOf }: ValueSizes, own: Names): void {
  const [scanned, ...others] = args;
  if (scanned === undefined || others.every(({ kind }) => kind === 'CONSTANT')) return;
  if (bytesOf(scanned) <= SCANNED_BYTES_MAX || !isSameForAllRows(scanned, own, new Set())) return;
  refuse('too_complex', {
    near: name,
    detail: `${name} cannot be stopped once it looks through one long value for each row.`,
    hint: 'Use x IN (SELECT …), or join the values as a table.',
  });
}

/** Made of constants and of subqueries that give one value. */
function isSameForAllRows(node: TreeNode, own: Names, seen: Set<TreeNode>): boolean {
  if (node.kind === 'CONSTANT' || node.kind === 'QUERY' || node.kind === 'UNION') return true;
  if (seen.has(node)) return true;
  seen.add(node);
  if (node.kind === 'LAMBDA') return true;
  if (node.kind !== 'IDENTIFIER')
    return listIn(node, 'ARGUMENTS').every((arg) => isSameForAllRows(arg, own, seen));
  const meant = own.get(attribute(node, 'identifier') ?? '') ?? [];
  return meant.length > 0 && meant.some((one) => isSameForAllRows(one, own, seen));
}
