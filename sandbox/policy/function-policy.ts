/**
 * The engine's functions that callers may not use, and why. `npm run gen -- functions` applies this to `system.functions` and writes
 * the pinned allow-list (functions.json); a function that a newer engine adds is refused until it is listed there. See
 * docs/design/sandbox.md; every group was tried against the engine as the guest user.
 */
export interface RefusedFunctions {
  readonly why: string;
  /** What to write instead. */
  readonly hint: string;
  /** Names, matched without regard to case; lower case here. */
  readonly names: readonly string[];
  /** Prefixes of names, lower case. */
  readonly prefixes?: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().toLowerCase().split(/\s+/);

export const REFUSED_FUNCTIONS: readonly RefusedFunctions[] = [
  {
    why: 'reads files of the host',
    hint: 'Query the public tables; GET /v0/sql/schema lists them.',
    names: ['file'],
  },
  {
    why: 'tells about the server, its settings or its users',
    hint: 'Leave it out: answers depend on the public tables only.',
    names: words(`
      getSetting getSettingOrDefault getServerSetting getMergeTreeSetting getServerPort tcpPort getMacro
      getClientHTTPHeader globalVariable hostName hostname fullHostName FQDN serverUUID displayName getOSKernelVersion
      filesystemAvailable filesystemCapacity filesystemUnreserved filesystemFree buildId version revision uptime
      showCertificate zookeeperSessionUptime hasThreadFuzzer serverTimeZone serverTimezone errorCodeToName
      getMaxTableNameLengthForDatabase shardNum shardCount connectionId connection_id chdb
      currentUser current_user session_user user authenticatedUser authUser currentRoles enabledRoles defaultRoles
      currentProfiles enabledProfiles defaultProfiles currentDatabase current_database database schema
      currentSchemas current_schemas queryID query_id currentQueryID current_query_id initialQueryID initial_query_id
      initialQueryStartTime initial_query_start_time transactionID transactionLatestSnapshot
      transactionOldestSnapshot
    `),
  },
  {
    why: 'reads tables or dictionaries by a name in a string',
    hint: 'Join the table instead.',
    names: words('joinGet joinGetOrNull hasColumnInTable'),
    prefixes: ['dictget', 'dicthas', 'dictisin', 'regionto', 'regionin', 'regionhierarchy'],
  },
  {
    why: 'waits, writes to the log or fails on purpose',
    hint: 'Leave it out; filter with WHERE or HAVING.',
    names: words('sleep sleepEachRow throwIf aggThrow logTrace tid'),
  },
  {
    why: 'looks into the process or the storage',
    hint: 'Leave it out: answers depend on the values in the tables only.',
    names: words(`
      addressToLine addressToLineWithInlines addressToSymbol demangle flameGraph estimateCompressionRatio
      dumpColumnStructure getTypeSerializationStreams blockNumber blockSize blockSerializedSize partitionId partitionID
      isMergeTreePartCoveredBy mergeTreePartInfo indexHint icebergBucket icebergTruncate lowCardinalityIndices
      lowCardinalityKeys toColumnTypeName
    `),
    prefixes: ['__'],
  },
  {
    why: 'works on the text of queries or generates schemas and test data',
    hint: 'Leave it out; numbers(n) and rand() make rows to try things with.',
    names: words(`
      formatQuery formatQueryOrNull formatQuerySingleLine formatQuerySingleLineOrNull fuzzQuery fuzzBits fuzzJSON
      obfuscateQuery obfuscateQueryWithSeed highlightQuery tokenizeQuery normalizeQuery normalizeQueryKeepNames
      normalizedQueryHash normalizedQueryHashKeepNames structureToProtobufSchema structureToCapnProtoSchema
      generateRandomStructure generateSerialID
    `),
  },
  {
    why: 'calls models or services outside',
    hint: 'Use simpleLinearRegression, corr or the quantile functions.',
    names: words(`
      catboostEvaluate evalMLMethod naiveBayesClassifier naiveBayesClassifierWithProb
      naiveBayesClassifierWithAllProbs stochasticLinearRegression stochasticLogisticRegression
    `),
    prefixes: ['aigenerate', 'aiclassify', 'aiextract', 'aitranslate', 'aiembed'],
  },
  {
    why: 'takes keys, which do not belong into the text of a query',
    hint: 'Use SHA256, sipHash64 or another hash without a key.',
    names: words('encrypt decrypt tryDecrypt HMAC'),
    prefixes: ['aes_'],
  },
  {
    why: 'reads bytes as values of another type',
    hint: 'Use the form for the type you need, such as reinterpretAsUInt256(bytes).',
    names: ['reinterpret'],
  },
  {
    why: 'builds states of aggregate functions from values',
    hint: 'Aggregate with the function itself, or with its -State and -Merge forms.',
    names: ['initializeaggregation'],
  },
  {
    why: 'reads parts of columns by a name in a text',
    hint: 'Write tupleElement(t, 1), length(xs), mapKeys(m) or json.path.',
    names: ['getsubcolumn'],
  },
  {
    why: 'writes rows in a format that is named in a text',
    hint: "Use concat, toJSONString or arrayStringConcat; the answer's own form comes with the request field `format`.",
    names: words('formatRow formatRowNoNewline groupFormat'),
  },
  {
    why: 'depends on how rows happen to be cut into blocks',
    hint: 'Use a window function, such as lagInFrame(x) OVER (ORDER BY …) or row_number() OVER (ORDER BY …).',
    names: words(`
      neighbor runningAccumulate runningDifference runningDifferenceStartingWithFirstValue runningConcurrency
      rowNumberInBlock rowNumberInAllBlocks
    `),
  },
  // Tried on 26.7.2.1: two texts of 60 kB take jaroSimilarity 2 s, and a block has 65,000 rows.
  {
    why: 'cannot be stopped once it compares long values',
    hint: 'Use ngramDistance(a, b) or stringJaccardIndex(a, b).',
    names: words(`
      editDistance editDistanceUTF8 levenshteinDistance levenshteinDistanceUTF8 damerauLevenshteinDistance
      jaroSimilarity jaroWinklerSimilarity
    `),
  },
  {
    why: 'cannot be stopped once it compares long arrays',
    hint: 'Use arrayJaccardIndex(a, b) or length(arrayIntersect(a, b)).',
    names: words('arrayLevenshteinDistance arrayLevenshteinDistanceWeighted arraySimilarity'),
  },
  // 10,000 ranges of 9,000 elements take 2.4 s without a check of the time limit.
  {
    why: 'cannot be stopped once it computes many ranges',
    hint: "Use arrayMap(i -> arrayReduce('sum', arraySlice(xs, i, n)), range(…)), or a window function.",
    names: ['arrayreduceinranges'],
  },
  // Its exact form is quadratic: 200,000 rows ran 23 s under a limit of 10.
  {
    why: 'cannot be stopped once it compares long samples',
    hint: 'Use mannWhitneyUTest, welchTTest or studentTTest.',
    names: ['kolmogorovsmirnovtest'],
  },
  {
    why: 'cannot be stopped once it computes one long value',
    hint: 'Use generateUUIDv4() or hex(rand64()).',
    names: words('randomString randomFixedString randomPrintableASCII randomStringUTF8'),
  },
  // printf('%1000000000d', 1) ran for 14 s after its KILL.
  {
    why: 'cannot be stopped once it fills a text to a large width',
    hint: "Use format('{} of {}', a, b), or leftPad(a, 10).",
    names: ['printf'],
  },
  {
    why: 'cannot be stopped once it computes one large shape',
    hint: 'Use pointInPolygon with few corners, or greatCircleDistance.',
    names: [],
    prefixes: ['polygon', 'geometryintersect'],
  },
  // h3kRing(…, 1900) and decomposing 3,000,000 values ran for 20 s and more after their KILL.
  {
    why: 'cannot be stopped once it computes one large ring or line',
    hint: 'Use h3ToParent(cell, resolution), or h3Distance(a, b) <= k.',
    names: words('h3kRing h3HexRing h3Line h3PolygonToCells h3PolygonToCellsWithContainment'),
  },
  {
    why: 'cannot be stopped once it decomposes a long series',
    hint: 'Use avg(x) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) for the trend, and subtract it from x for the rest.',
    names: ['seriesdecomposestl'],
  },
  {
    why: 'holds a number of the machine',
    hint: 'Use generateUUIDv7().',
    names: ['generatesnowflakeid'],
  },
  {
    why: 'is experimental in the engine and switched off',
    hint: 'Use windowFunnel, sequenceMatch or a window function, such as leadInFrame(x) OVER (ORDER BY …).',
    names: ['sequencenextnode'],
  },
  {
    why: 'is experimental in the engine and switched off',
    hint: 'Use a window function over toStartOfInterval(block_time, INTERVAL 1 HOUR).',
    names: words(`
      timeSeriesChangesToGrid timeSeriesDeltaToGrid timeSeriesDerivToGrid timeSeriesIncreaseToGrid
      timeSeriesInstantDeltaToGrid timeSeriesInstantRateToGrid timeSeriesLastToGrid timeSeriesLastTwoSamples
      timeSeriesPredictLinearToGrid timeSeriesRateToGrid timeSeriesResampleToGridWithStaleness
      timeSeriesResetsToGrid
    `),
  },
  {
    why: 'keeps labels in the server between queries',
    hint: 'Keep labels in a map or an array of the query itself.',
    names: [],
    prefixes: [
      'timeseriesstore',
      'timeseriesid',
      'timeseriestags',
      'timeseriesgroup',
      'timeseriescopy',
      'timeseriesjoin',
      'timeseriesremove',
      'timeseriesreplace',
      'timeseriesextract',
      'timeseriesthrow',
    ],
  },
  {
    why: 'is internal to the engine',
    hint: 'Leave it out.',
    names: words('nested validateNestedArraySizes'),
  },
];

export function refusalOf(name: string): RefusedFunctions | undefined {
  const lower = name.toLowerCase();
  return REFUSED_FUNCTIONS.find(
    ({ names, prefixes = [] }) =>
      names.includes(lower) || prefixes.some((prefix) => lower.startsWith(prefix)),
  );
}

/** Names that appear in the tree but not in `system.functions`: window functions and syntax. */
export const UNLISTED_FUNCTIONS: readonly { readonly name: string; readonly aggregate: boolean }[] = [
  'row_number',
  'rank',
  'dense_rank',
  'denseRank',
  'percent_rank',
  'percentRank',
  'cume_dist',
  'ntile',
  'nth_value',
  'lag',
  'lead',
  'lagInFrame',
  'leadInFrame',
  'nonNegativeDerivative',
  'exists',
  'untuple',
  'grouping',
  'lambda',
  '_CAST',
].map((name) => ({ name, aggregate: false }));
