/**
 * How the time of a function grows with its values, for the functions that were reviewed. `npm run gen -- functions` lays this
 * over `system.functions` and writes it to functions.json, with the arguments that the catalogue itself says are patterns or texts to
 * look for. A function that is not here, such as one that a newer engine adds, counts as `unknown`: as if it compared all its bytes
 * with all its bytes. The weights were measured on 26.7.2.1, on one core.
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
 * - `flat`: a step for a row, however long its values are;
 * - `linear`: each byte once; `heavy`: each byte once, with a hash, a parser or a comparison of a sort for it;
 * - `element`: of an array at once, of a map by looking through it;
 * - `compares`: each value of one array with each of the other;
 * - `reduces`: each value through an aggregate function that is named in a text;
 * - `folds`: a step of the whole engine for each element;
 * - `prime`: rounds of a test of large numbers;
 * - `unknown`: all bytes with all bytes.
 */
export type Work = (typeof WORKS)[number];

interface Reviewed {
  readonly work: Work;
  /** Of `system.functions`. */
  readonly categories?: readonly string[];
  readonly names?: readonly string[];
  /** Beginnings of names. */
  readonly prefixes?: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The first that names a function counts. */
const REVIEWED: readonly Reviewed[] = [
  // Their cost is in none of the other groups: each was tried with long values and is left with the careful ones.
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

/** Of a function that is an alias: by the names of the one it stands for. */
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

/** What the catalogue says of an argument by its name in the function's syntax. */
export interface LookedFor {
  /** Its place among the arguments. */
  readonly at: number;
  /** Whether it is a regular expression. */
  readonly regexp: boolean;
}

const PATTERN = /^(pattern\w*|regexp?)$/i;
const NEEDLE = /^(needles?\d*|patterns?\w*|phrase|separator|token|substring)$/i;
const TEXT_CATEGORIES = /^String|^Map$/;
/** Their patterns and separators are put in, not looked for. */
const BUILDERS = /^(format|arrayStringConcat|reverseBySeparator)\(/;

/** Which argument is looked for in the others, by the names in `syntax` and the words about them. */
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

/** `f(haystack, [pattern1, …][, start])` has two, and one that may be left out. */
function argumentsOf(syntax: string): string[] {
  const inside = /\(([^\n]*)\)?/.exec(syntax)?.[1] ?? '';
  return inside
    .replace(/\)\s*$/, '')
    .split(',')
    .map((part) => part.replace(/[[\]\s().]/g, ''));
}
