/**
 * Every metric of the program, declared once: the exporter, the table of docs/observe.md and the tests of dashboard and alerts read
 * it. Labels take few values, known in advance: operation ids, codes, names of statements and chains, hosts of RPC providers. Never
 * a path, an address, a key or anything else that callers choose.
 */

export type MetricKind = 'counter' | 'gauge' | 'histogram';

export interface Family {
  readonly kind: MetricKind;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[];
}

/** From a point read in memory to the longest run of a request (25 s). */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From a point read to a statement of the rollups, and to the dearest tier of SQL (300 s). */
const ENGINE_SECONDS = [0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 300];

/** Prefix of our metrics. Runtime metrics (`process_…`, `nodejs_…`) keep the names that dashboards expect. */
export const METRIC_PREFIX = 'settlement_index_';

const TRAFFIC = {
  http_requests_total: counter('Answers of the public listener, 499 for callers who left before one.', [
    'operation',
    'status',
  ]),
  http_request_seconds: histogram(
    'Time until an answer was ready to leave; reading a long one is not in it.',
    ['operation'],
    REQUEST_SECONDS,
  ),
  calls_total: counter('Calls through the gate, HTTP and MCP alike, by outcome: `ok` or an error code.', [
    'operation',
    'surface',
    'lane',
    'outcome',
  ]),
  requests_shed_total: counter(
    'Requests refused before they were read, by what was full: `connections`, `requests`, `places` at the engine, or the event `loop`.',
    ['reason'],
  ),
  reads_running: gauge('Reads that have a place at the engine now.', []),
  reads_waiting: gauge('Reads that wait for one.', []),
  reads_places: gauge('Places there are.', []),
  feed_pages_total: counter(
    'Pages of newest settlements without filters, by where they were read: `memory` or `engine`.',
    ['source'],
  ),
  feed_checks_total: counter(
    'Comparisons of the newest settlements in memory with the engine: `equal`, or `different`, after which they are read again.',
    ['outcome'],
  ),
  units_charged_total: counter('Query Units captured, or covered by a payment.', ['operation', 'lane']),
} as const satisfies Record<string, Family>;

const MONEY = {
  payments_total: counter(
    'Requests to the facilitator by stage (`verify`, `settle`, `announced`) and result.',
    ['stage', 'outcome'],
  ),
  payment_seconds: histogram('How long the facilitator took.', ['stage'], REQUEST_SECONDS),
  payments_served_usd_total: counter('Dollars of payments whose answers left.', []),
  control_store_up: gauge('1 while the control store answers.', []),
  control_store_errors_total: counter('Calls of the control store that failed.', ['call']),
} as const satisfies Record<string, Family>;

const SQL = {
  sql_queries_total: counter('Callers’ queries that ran, by outcome: `ok`, or why they failed.', [
    'tier',
    'outcome',
  ]),
  sql_engine_seconds: histogram('Engine time of a query, by which it is charged.', ['tier'], ENGINE_SECONDS),
  sql_wait_seconds: histogram('How long a query waited for its turn.', ['tier'], REQUEST_SECONDS),
  sql_running: gauge('Queries of callers that have a place now.', []),
  sql_waiting: gauge('Queries of callers that wait for one.', []),
  sql_places: gauge('Places there are.', []),
  sql_unstoppable: gauge('Queries that ignored a KILL and still run after giving up their place.', []),
  sql_open_to: gauge(
    'Whose SQL still runs after queries that could not be stopped: 2 everyone, 1 organizations only, 0 no caller until the service restarts.',
    [],
  ),
} as const satisfies Record<string, Family>;

const ENGINE = {
  engine_up: gauge('1 while the engine answers this process.', []),
  engine_uptime_seconds: gauge('How long the engine has been up.', []),
  engine_wall: gauge(
    '1 if a wall around the embedded engine is in place, else 0: `landlock`, `own_user`, `sockets`, `clean_environment`. Absent with an engine of your own.',
    ['wall'],
  ),
  engine_landlock_abi: gauge('Version of Landlock that confines the embedded engine; 0 where none does.', []),
  engine_statements_total: counter(
    'Statements by name and engine user: `ok`, or the kind of failure. `too_many_rows` of `profile-whole-wallet` is none: the wallet is then read from the rollups.',
    ['statement', 'user', 'outcome'],
  ),
  engine_statement_seconds: histogram(
    'How long a statement took, including the round trip to the engine.',
    ['statement', 'user'],
    ENGINE_SECONDS,
  ),
} as const satisfies Record<string, Family>;

/** The figures of `/v0/telemetry`, read by the same statements. From processes that serve the API. */
const INDEX = {
  chain_state: gauge('1 for the state that ingest reports of a chain, 0 for the others.', ['chain', 'state']),
  chain_head_block: gauge('The newest block that the node has reported.', ['chain']),
  chain_indexed_block: gauge('The newest block that is in the index.', ['chain']),
  chain_finalized_block: gauge('The newest indexed block that can no longer be undone.', ['chain']),
  chain_lag_seconds: gauge('How far the index is behind the present.', ['chain']),
  chain_reported_timestamp_seconds: gauge('When ingest last reported.', ['chain']),
  chain_rows_written_total: counter('Rows written.', ['chain']),
  chain_rows_per_second: gauge('Rows a second, moving average.', ['chain']),
  chain_blocks_per_second: gauge('Blocks a second, moving average.', ['chain']),
  chain_reorgs_total: counter('Reorgs that were followed.', ['chain']),
  chain_deepest_reorg_blocks: gauge('The deepest of them.', ['chain']),
  chain_retries_total: counter('Requests to nodes that were retried.', ['chain']),
  chain_contradictions_total: counter('Answers of nodes that contradicted themselves or the chain.', [
    'chain',
  ]),
  chain_dead_letters_total: counter('Logs that could not become a row.', ['chain']),
  chain_backfill_left_blocks: gauge('Blocks that the backfill still has to read.', ['chain']),
  chain_backfill_eta_seconds: gauge('How long that takes at the present rate; absent while there is none.', [
    'chain',
  ]),
  chain_fee_hours_open: gauge(
    'Hours that may have transactions whose gas and fee are not read yet; the present hour always is one. Absent where no receipts are read.',
    ['chain'],
  ),
  chain_fee_oldest_open_timestamp_seconds: gauge('The oldest of these hours.', ['chain']),
  rollup_open_slices: gauge('Slices of time that are read from their rows; the present day always is.', []),
  rollup_oldest_open_timestamp_seconds: gauge('Where the oldest of them begins.', []),
  rollup_last_closed_timestamp_seconds: gauge('When a slice was last computed.', []),
  identities_due: gauge('Work that waits: `agents` to derive, `cards` and `feedback_files` to fetch.', [
    'chain',
    'what',
  ]),
} as const satisfies Record<string, Family>;

/** From processes that ingest chains and compute rollups. */
const WORK = {
  rpc_calls_total: counter('Calls sent to a node, by the host of its URL.', ['chain', 'provider']),
  rpc_seconds: histogram(
    'How long an exchange with a node took, a batch counted once.',
    ['chain', 'provider'],
    REQUEST_SECONDS,
  ),
  rpc_failures_total: counter('Calls that failed or contradicted, by kind.', ['chain', 'provider', 'kind']),
  ingest_windows_total: counter('Windows of blocks that were read.', ['chain', 'outcome']),
  documents_total: counter('Fetches of third-party files, by outcome.', ['outcome']),
  rollup_slices_closed_total: counter('Slices of time that this process computed.', []),
  passes_total: counter(
    'Passes over the whole index (`rings`, `verdicts`, `ranking-30d` …) by outcome: `done`, `current` where nothing was written since the last one, `waiting` where its input is not there yet, or `failed`, after which the tables of the last one stay.',
    ['pass', 'outcome'],
  ),
  pass_last_seconds: gauge('How long the last pass took that was not idle.', ['pass']),
  pass_succeeded_timestamp_seconds: gauge(
    'When a pass last ended well: its tables are at most a pass behind since. Absent before the first.',
    ['pass'],
  ),
} as const satisfies Record<string, Family>;

const SELF = {
  build_info: gauge('Always 1; the labels say what runs here.', ['version', 'role']),
  scrape_failures_total: counter(
    'Groups of figures that could not be read for a scrape and are missing from it.',
    ['group'],
  ),
  loop_stops_total: counter(
    'Processes over this data directory that were ended because their event loop stood still, counted across starts.',
    [],
  ),
} as const satisfies Record<string, Family>;

/** In the order of the documentation. */
export const FAMILY_GROUPS = {
  traffic: TRAFFIC,
  money: MONEY,
  sql: SQL,
  engine: ENGINE,
  index: INDEX,
  work: WORK,
  process: SELF,
} as const;

export const FAMILIES = {
  ...TRAFFIC,
  ...MONEY,
  ...SQL,
  ...ENGINE,
  ...INDEX,
  ...WORK,
  ...SELF,
} as const;

function counter<const L extends readonly string[]>(help: string, labels: L) {
  return { kind: 'counter', help, labels } as const;
}

function gauge<const L extends readonly string[]>(help: string, labels: L) {
  return { kind: 'gauge', help, labels } as const;
}

function histogram<const L extends readonly string[]>(help: string, labels: L, buckets: readonly number[]) {
  return { kind: 'histogram', help, labels, buckets } as const;
}
