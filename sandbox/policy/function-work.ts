/**
 * How the time of each reviewed function grows with its values. `npm run gen -- functions` applies this to `system.functions` and
 * writes it to functions.json, with the arguments that the engine's catalogue documents as patterns or needles. A function that is
 * not here, such as one that a newer engine adds, counts as `unknown`: as if it compared all its bytes with all its bytes. The weights
 * were measured on 26.7.2.1, on one core.
 */

export const WORKS = [
  'flat',
  'linear',
  'heavy',
  'element',
  'compares',
  'reduces',
  'folds',
  'prime',
  'unknown',
] as const;
/**
 * - `flat`: a step per row, regardless of the size of its values;
 * - `linear`: each byte once; `heavy`: each byte once, but with a hash, a parser or a sort comparison;
 * - `element`: direct access in an array, a scan in a map;
 * - `compares`: each value of one array with each of the other;
 * - `reduces`: each value through an aggregate function that is named in a string;
 * - `folds`: one evaluation by the engine per element;
 * - `prime`: rounds of a primality test on large numbers;
 * - `unknown`: all bytes with all bytes.
 */
export type Work = (typeof WORKS)[number];

interface Reviewed {
  readonly work: Work;
  /** Categories of `system.functions`. */
  readonly categories?: readonly string[];
  readonly names?: readonly string[];
  /** Prefixes of names. */
  readonly prefixes?: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The first group that lists a function applies. */
const REVIEWED: readonly Reviewed[] = [
  // Their cost fits no other group: each was tried with long values and stays `unknown`.
  {
    work: 'unknown',
    names: words(`
      isPrime kostikConsistentHash convertCharset conv base58Encode base58Decode tryBase58Decode
      normalizeUTF8NFC normalizeUTF8NFD normalizeUTF8NFKC normalizeUTF8NFKCCasefold normalizeUTF8NFKD removeDiacriticsUTF8
      extractTextFromHTML stringJaccardIndex stringJaccardIndexUTF8 naturalSortKey substringIndex substringIndexUTF8
      arrayAutocorrelation arrayShingles arrayExcept randNegativeBinomial randBinomial
      financialInternalRateOfReturn financialInternalRateOfReturnExtended timeSlots
    `),
    prefixes: ['sparseGrams', 'JSON_', 'geohashesInBox', 'h3ToChildren', 'h3Polygon'],
  },
  { work: 'prime', names: ['isProbablePrime'] },
  { work: 'folds', names: ['arrayFold'] },
  { work: 'reduces', names: ['arrayReduce'] },
  { work: 'compares', names: words('hasAny hasAll hasSubstr') },
  { work: 'element', names: words('arrayElement arrayElementOrNull') },
  {
    work: 'flat',
    categories: words(
      'Comparison Logical Conditional Null Arithmetic Rounding UUID Internal Bit Tuple Mathematical',
    ).concat('IP Address', 'Dates and Times', 'Time Window', 'Random Number'),
    names: words(`
      length empty notEmpty array tuple map arrayJoin materialize identity ignore toTypeName isConstant transform
      byteSize ascii lambda untuple exists grouping toNullable
      finalizeAggregation
    `),
    prefixes: ['emptyArray', 'toInterval', 'fromUnixTimestamp64', 'toUnixTimestamp64', 'dynamic', 'variant'],
  },
  {
    work: 'heavy',
    categories: ['JSON', 'Hash', 'Map', 'Bitmap', 'NumericIndexedVector', 'String Splitting', 'Time Series'],
    names: words(`
      arraySort arrayReverseSort arrayPartialSort arrayPartialReverseSort arrayTopK arrayBottomK arrayDistinct arrayUniq
      arrayEnumerateDense arrayEnumerateDenseRanked arrayEnumerateUniq arrayEnumerateUniqRanked arrayIntersect arrayUnion
      arraySymmetricDifference arrayJaccardIndex arrayROCAUC arrayAUCPR arrayNormalizedGini arrayShuffle
      arrayPartialShuffle arrayRandomSample arrayFlatten randomHadamardTransform
      toString toJSONString format formatDateTime upperUTF8 lowerUTF8 caseFoldUTF8 initcapUTF8
      decodeHTMLComponent decodeXMLComponent encodeXMLComponent
    `),
    prefixes: ['ngram', 'wordShingle'],
  },
  {
    work: 'linear',
    categories: [
      'Type Conversion',
      'String',
      'Arrays',
      'URL',
      'Distance',
      'Encoding',
      'String Replacement',
      'QBit',
      'Other',
    ],
    prefixes: [
      'h3',
      'geo',
      'greatCircle',
      'readWKT',
      'readWKB',
      'wkt',
      'wkb',
      'svg',
      'area',
      'perimeter',
      'finalizeAggregation',
    ],
  },
];

/** For an alias, looks up the function that it refers to. */
export function reviewedWork({
  name,
  categories,
}: {
  readonly name: string;
  readonly categories: string;
}): Work {
  const found = REVIEWED.find(
    (one) =>
      one.names?.includes(name) === true ||
      one.prefixes?.some((prefix) => name.startsWith(prefix)) === true ||
      one.categories?.includes(categories) === true,
  );
  return found?.work ?? 'unknown';
}

/** What the catalogue's syntax says about an argument, by its name. */
export interface LookedFor {
  /** Index of the argument. */
  readonly at: number;
  /** Whether it is a regular expression. */
  readonly regexp: boolean;
}

const PATTERN = /^(pattern\w*|regexp?)$/i;
const NEEDLE = /^(needles?\d*|patterns?\w*|phrase|separator|token|substring)$/i;
const TEXT_CATEGORIES = /^String|^Map$/;
/** Functions that insert their patterns or separators instead of searching for them. */
const BUILDERS = /^(format|arrayStringConcat|reverseBySeparator)\(/;

/** The argument that is searched for in the others, from the names in `syntax` and their descriptions. */
export function lookedForIn(of: {
  readonly syntax: string;
  readonly arguments: string;
  readonly categories: string;
}): LookedFor | null {
  if (!TEXT_CATEGORIES.test(of.categories) || BUILDERS.test(of.syntax)) return null;
  const names = argumentsOf(of.syntax);
  const speaksOfRegexps = /regular expression|regexp|\bregex|multiFuzzyMatch/i.test(
    `${of.syntax} ${of.arguments}`,
  );
  const pattern = names.findIndex((name) => PATTERN.test(name));
  if (pattern >= 0 && speaksOfRegexps) return { at: pattern, regexp: true };
  const needle = names.findIndex((name) => NEEDLE.test(name));
  return needle < 0 ? null : { at: needle, regexp: false };
}

/** `f(haystack, [pattern1, …][, start])` has two arguments and an optional one. */
function argumentsOf(syntax: string): string[] {
  const inside = /\(([^\n]*)\)?/.exec(syntax)?.[1] ?? '';
  return inside
    .replace(/\)\s*$/, '')
    .split(',')
    .map((part) => part.replace(/[[\]\s().]/g, ''));
}
