/**
 * Which of the engine's functions are not for callers, and why. `npm run gen:functions` lays this over `system.functions` and
 * writes the pinned allow-list (functions.json); a function that a newer engine adds is refused until it is listed there.
 * Source: sandbox.md B.5, B.6; every group was tried against the engine as the guest user.
 */
export interface RefusedFunctions {
  readonly why: string;
  /** What to write instead, when there is something. */
  readonly hint?: string;
  /** Names in any spelling; lower case here. */
  readonly names: readonly string[];
  /** Beginnings of names, lower case. */
  readonly prefixes?: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().toLowerCase().split(/\s+/);

export const REFUSED_FUNCTIONS: readonly RefusedFunctions[] = [
  {
    why: 'reads files of the host',
    names: ['file'],
  },
  {
    why: 'tells about the server, its settings or its users',
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
    names: words('joinGet joinGetOrNull hasColumnInTable'),
    prefixes: ['dictget', 'dicthas', 'dictisin', 'regionto', 'regionin', 'regionhierarchy'],
  },
  {
    why: 'waits, writes to the log or fails on purpose',
    names: words('sleep sleepEachRow throwIf aggThrow logTrace tid'),
  },
  {
    why: 'looks into the process or the storage',
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
    names: words(`
      formatQuery formatQueryOrNull formatQuerySingleLine formatQuerySingleLineOrNull fuzzQuery fuzzBits fuzzJSON
      obfuscateQuery obfuscateQueryWithSeed highlightQuery tokenizeQuery normalizeQuery normalizeQueryKeepNames
      normalizedQueryHash normalizedQueryHashKeepNames structureToProtobufSchema structureToCapnProtoSchema
      generateRandomStructure generateSerialID
    `),
  },
  {
    why: 'calls models or services outside',
    names: words(`
      catboostEvaluate evalMLMethod naiveBayesClassifier naiveBayesClassifierWithProb
      naiveBayesClassifierWithAllProbs stochasticLinearRegression stochasticLogisticRegression
    `),
    prefixes: ['aigenerate', 'aiclassify', 'aiextract', 'aitranslate', 'aiembed'],
  },
  {
    why: 'takes keys, which do not belong into the text of a query',
    names: words('encrypt decrypt tryDecrypt HMAC'),
    prefixes: ['aes_'],
  },
  {
    why: 'reads bytes as internal states',
    hint: 'Aggregate with the function itself, or with its -State and -Merge forms.',
    names: words(
      'initializeAggregation getSubcolumn reinterpret arrayReduceInRanges finalizeAggregation formatRow formatRowNoNewline',
    ),
  },
  {
    why: 'depends on how rows happen to be cut into blocks',
    hint: 'Use a window function, such as lagInFrame(x) OVER (ORDER BY …).',
    names: words(`
      neighbor runningAccumulate runningDifference runningDifferenceStartingWithFirstValue runningConcurrency
      rowNumberInBlock rowNumberInAllBlocks
    `),
  },
  {
    why: 'cannot be stopped once it computes one long value',
    names: words(`
      editDistance editDistanceUTF8 levenshteinDistance levenshteinDistanceUTF8 damerauLevenshteinDistance
      arrayLevenshteinDistance arrayLevenshteinDistanceWeighted arraySimilarity
      randomString randomFixedString randomPrintableASCII randomStringUTF8
    `),
    prefixes: ['polygon'],
  },
  {
    why: 'keeps labels in the server between queries',
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

/** Names that the tree shows and `system.functions` does not list: window functions and syntax. */
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
