import { EVIDENCE_LADDER, EVIDENCE_METHODS, type EvidenceMethod } from '../../core/domain/evidence.ts';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES, type PublicTableName } from '../../core/domain/public-tables.ts';
import { countedText } from '../engine/counted-rows.ts';
import { IS_CLOSED_TEXT, IS_OPEN_TEXT, SLICE_SECONDS_TEXT, SLICE_START_TEXT } from '../tables/rollups.ts';
import { localDatabaseOf, publicDatabaseOf } from './public-database.ts';

/**
 * The public tables as views in a database of their own. The guest may read only these; they run with their definer's rights
 * (docs/design/storage.md, docs/design/sandbox.md). Every start creates them again from the one declaration, so they are not
 * migrations; the indexes that they rely on are.
 *
 * A hex column must have exactly the expression of its skip index: only then does `payer = '0x…'` prune. Columns of the table have
 * the prefix `t`, because inside a SELECT an alias hides the column of the same name.
 */

/** The body of a view: an expression over `t` for each column, then FROM and everything after it. */
interface ViewBody<Name extends PublicTableName> {
  readonly columns: Readonly<Record<ColumnOf<Name>, string>>;
  readonly from: string;
}
type ColumnOf<Name extends PublicTableName> = (typeof PUBLIC_TABLES)[Name]['columns'][number]['name'];

/** The stored table whose rows match a public table one to one, or nearly; null if there is none. */
export const PUBLIC_TABLE_STORES: Readonly<Record<PublicTableName, string | null>> = {
  settlements: 'settlements',
  wallet_settlements: 'wallet_log',
  agents: 'agents',
  attestations: 'agent_attestations',
  endpoints: 'endpoint_offers',
  facilitators: 'facilitator_relayers',
  merchant_days: 'payee_day',
  payer_days: 'payer_day',
};

/** The databases of the views and their tables. */
export interface PublicViewNames {
  /** The database of the views. */
  readonly into: string;
  /** The database of the tables that they show; on a cluster node the local one. */
  readonly rows: string;
  /** The database for look-ups in other tables; on a cluster that of the tables over all nodes. */
  readonly beside: string;
}

/** The statements that make every view, to be run by the writer. */
export function publicViewStatements(
  database: string,
  { into, rows, beside }: PublicViewNames = {
    into: publicDatabaseOf(database),
    rows: database,
    beside: database,
  },
): string[] {
  const bodies = viewBodies(rows, beside);
  return PUBLIC_TABLE_NAMES.map((name) => {
    const { columns, from } = bodies[name] as { columns: Readonly<Record<string, string>>; from: string }; // each name has the columns of its own table, by ViewBodies
    const listed = PUBLIC_TABLES[name].columns.map((column) => `${columns[column.name]} AS ${column.name}`);
    return `CREATE OR REPLACE VIEW ${into}.${name} DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT ${listed.join(', ')} FROM ${from}`;
  });
}

type ViewBodies = { readonly [Name in PublicTableName]: ViewBody<Name> };

function viewBodies(database: string, beside: string): ViewBodies {
  return {
    settlements: settlementsBody(database, beside),
    wallet_settlements: walletSettlementsBody(database),
    agents: agentsBody(database),
    attestations: attestationsBody(database),
    endpoints: endpointsBody(database),
    facilitators: {
      columns: {
        chain: 't.chain',
        address: hex('address'),
        facilitator: 't.facilitator',
        first_seen: 't.first_seen',
      },
      from: `${database}.facilitator_relayers AS t FINAL WHERE t.del = 0`,
    },
    merchant_days: {
      columns: { ...dayColumns, payee: 't.wallet', unique_payers: OTHERS },
      from: daysFrom(database, { wallet: 'payee', other: 'payer' }),
    },
    payer_days: {
      columns: { ...dayColumns, payer: 't.wallet', unique_payees: OTHERS },
      from: daysFrom(database, { wallet: 'payer', other: 'payee' }),
    },
  };
}

const hex = (column: string): string => `concat('0x', lower(hex(t.${column})))`;
/** The tables store an unknown text as empty; the views show NULL. An index on the bare column does not serve this expression. */
const known = (column: string): string => `nullIf(t.${column}, '')`;
/** Grades by the code of their method, as arrays that the engine indexes: a fifth of the time of comparing names. */
const codes = Array.from({ length: Math.max(...EVIDENCE_METHODS.map(codeOf)) + 1 }, (_, code) => code);
const CODE = 'toUInt8(t.method) + 1';

function codeOf(method: EvidenceMethod): number {
  return EVIDENCE_LADDER[method].code;
}

function listed(textOf: (method: EvidenceMethod) => string): string {
  return codes
    .map((code) => textOf(EVIDENCE_METHODS.find((method) => codeOf(method) === code) ?? 'not_examined'))
    .join(', ');
}

/** A word from a short list, stored once per block (LowCardinality). */
const word = (list: string, at: string): string => `CAST([${list}][${at}], 'LowCardinality(String)')`;

const METHOD = word(
  listed((method) => `'${method}'`),
  CODE,
);
const TIER = word(
  listed((method) => `'${EVIDENCE_LADDER[method].tier}'`),
  CODE,
);
const PROBABILITY = `[${listed((method) => EVIDENCE_LADDER[method].probability?.toFixed(2) ?? 'NULL')}][${CODE}]`;
const USD = "CAST(t.amount_usd, 'Decimal(38, 6)')";

function settlementsBody(database: string, beside: string): ViewBody<'settlements'> {
  const reported = (values: string): string => `(SELECT ${values} FROM ${beside}.chain_status FINAL)`;
  // Looked up once per chain, not once per row. The array must not be empty, so '' is added, which is no chain.
  const finalBlock = `transform(t.chain, ${reported("arrayPushBack(groupArray(toString(chain)), '')")}, ${reported('arrayPushBack(groupArray(finalized_block), 0)')}, 0)`;
  return {
    columns: {
      chain: 't.chain',
      block_number: 't.block_number',
      block_time: 't.block_time',
      tx_hash: hex('tx_hash'),
      log_index: 't.log_index',
      payer: 't.payer',
      payee: 't.payee',
      asset: 't.asset',
      asset_symbol: 't.asset_symbol',
      amount: 't.amount',
      amount_usd: USD,
      relayer: 't.relayer',
      facilitator: known('facilitator'),
      is_self_payment: 't.is_self_payment',
      // Without a reported final block the value is 0, and blocks begin above it.
      finality: word("'head', 'finalized'", `1 + (t.block_number <= ${finalBlock})`),
      evidence_tier: 't.evidence_tier',
      evidence_probability: PROBABILITY,
      evidence_method: METHOD,
    },
    from: settlementsFrom(database),
  };
}

/**
 * The months that are current as a copy, and the rows of all other hours. `has` over the result of a subquery is a constant when the
 * query is planned, so the engine leaves out whole parts; the engine computes a subquery that is written twice once.
 */
function settlementsFrom(database: string): string {
  const asItIs = `chain, block_number, block_time, tx_hash, log_index, asset_symbol, amount, amount_usd, facilitator,
    evidence_tier, is_self_payment`;
  const coverage = `(SELECT (groupArrayIf(gen, is_plain), groupArrayArray(open_hours)) FROM ${database}.plain_coverage)`;
  const text = (column: string): string => `concat('0x', lower(hex(${column})))`;
  return `(
  SELECT ${asItIs}, payer, payee, asset, relayer, method_code AS method
  FROM ${database}.plain_settlements WHERE has(${coverage}.1, gen)
  UNION ALL
  SELECT ${asItIs}, ${text('payer')}, ${text('payee')}, CAST(${text('asset')}, 'LowCardinality(String)'),
    CAST(${text('relayer')}, 'LowCardinality(String)'), toUInt8(method)
  FROM ${database}.settlements FINAL
  WHERE del = 0 AND toStartOfHour(block_time) IN (SELECT arrayJoin(${coverage}.2))
) AS t`;
}

function walletSettlementsBody(database: string): ViewBody<'wallet_settlements'> {
  return {
    columns: {
      wallet: 't.wallet',
      role: "CAST(t.role, 'LowCardinality(String)')",
      counterparty: hex('counterparty'),
      chain: 't.chain',
      block_number: 't.block_number',
      block_time: 't.block_time',
      tx_hash: hex('tx_hash'),
      log_index: 't.log_index',
      asset: hex('asset'),
      amount: 't.amount',
      amount_usd: USD,
      facilitator: known('facilitator'),
      evidence_tier: TIER,
      evidence_probability: PROBABILITY,
    },
    from: `${database}.wallet_log AS t FINAL WHERE t.del = 0`,
  };
}

const ZERO_ADDRESS = "toFixedString(unhex(repeat('00', 20)), 20)";

function agentsBody(database: string): ViewBody<'agents'> {
  return {
    columns: {
      chain: 't.chain',
      agent_id: 't.agent_id',
      owner: hex('owner'),
      wallet: `if(t.wallet = ${ZERO_ADDRESS}, NULL, ${hex('wallet')})`,
      agent_uri: known('agent_uri'),
      name: known('name'),
      description: known('description'),
      x402_support: "CAST(t.x402_support, 'Bool')",
      active: "if(t.card_at = toDateTime(0, 'UTC'), NULL, CAST(t.active, 'Bool'))",
      // Built from its digits: a cast divides two doubles, and its last digit may differ from the API's.
      score: 'toFloat64OrNull(toString(t.score))',
      feedback_count: 't.feedback_count',
      registered_at: 't.registered_at',
      updated_at: 't.updated_at',
    },
    from: `${database}.agents AS t FINAL WHERE t.del = 0`,
  };
}

/** Ordered by agent, the key that analysts filter by; the table ordered by time serves the API's feed. */
function attestationsBody(database: string): ViewBody<'attestations'> {
  const revoked = `(t.chain, t.agent_id, t.client, t.feedback_index) IN (
  SELECT chain, agent_id, client, feedback_index FROM ${database}.feedback_revocations FINAL WHERE del = 0)`;
  const given = 'toFloat64(t.value) / exp10(t.value_decimals)';
  return {
    columns: {
      chain: 't.chain',
      agent_id: 't.agent_id',
      kind: "CAST(t.kind, 'LowCardinality(String)')",
      author: hex('author'),
      value: `if(t.kind IN ('feedback', 'validation_response'), ${given}, NULL)`,
      tag1: known('tag1'),
      tag2: known('tag2'),
      endpoint: known('endpoint'),
      uri: known('uri'),
      revoked: `CAST(t.kind = 'feedback' AND ${revoked}, 'Bool')`,
      block_time: 't.block_time',
      tx_hash: hex('tx_hash'),
      log_index: 't.log_index',
    },
    from: `${database}.agent_attestations AS t FINAL WHERE t.del = 0`,
  };
}

/** One row for each payment option and source that lists it. */
function endpointsBody(database: string): ViewBody<'endpoints'> {
  return {
    columns: {
      resource: 't.resource',
      method: 't.method',
      service_name: known('service_name'),
      pay_to: 't.pay_to',
      chain: known('chain'),
      asset: 't.asset',
      price_usd: 't.price_usd',
      tags: "CAST(t.tags, 'Array(String)')",
      last_updated: "nullIf(t.last_updated, toDateTime(0, 'UTC'))",
    },
    from: `${database}.endpoint_offers AS t FINAL WHERE t.del = 0`,
  };
}

const dayColumns = {
  chain: 't.chain',
  day: 't.day',
  settlement_count: 't.slice_count',
  settled_usd: 't.slice_usd',
} as const;
const OTHERS = 't.others';

/**
 * Reads the rollup for closed, clean slices and the rows themselves for all others: exact regardless of the rollup worker's progress.
 * A day that was closed as a whole already has one row per wallet and chain, so it is not grouped again: over years that is nearly
 * every day, and a hash table of all wallets and days would exceed the guest's memory. No day is in both halves.
 */
function daysFrom(
  database: string,
  { wallet, other }: { readonly wallet: 'payee' | 'payer'; readonly other: 'payee' | 'payer' },
): string {
  const slices = `FROM ${database}.rollup_slices WHERE`;
  // If no day is closed by hours the set is empty, and the second read of the rollup reads nothing.
  const closed = (hours: string): string =>
    `settlement_count > 0 AND (day, hour) IN (SELECT day, hour ${slices} ${IS_CLOSED_TEXT} AND ${hours})`;
  const open = `(SELECT groupArray((${SLICE_START_TEXT}, ${SLICE_SECONDS_TEXT})) ${slices} ${IS_OPEN_TEXT})`;
  const isOpen = `arrayExists(slice -> s.block_time >= slice.1 AND s.block_time < slice.1 + slice.2, ${open})`;
  // The array selects the rows, but only the set of days uses the index.
  const inOpenDay = `toDate(s.block_time) IN (SELECT day ${slices} ${IS_OPEN_TEXT})`;
  const owner = `concat('0x', lower(hex(s.${wallet})))`;
  return `(
  SELECT chain, day, ${wallet} AS wallet, settlement_count AS slice_count, settled_usd AS slice_usd, finalizeAggregation(${other}s) AS others
  FROM ${database}.${wallet}_day FINAL
  WHERE ${closed('hour = -1')}
  UNION ALL
  SELECT chain, day, wallet, sum(slice_count), sum(slice_usd), uniqCombined64Merge(12)(slice_others)
  FROM
  (
    SELECT chain, day, ${wallet} AS wallet, settlement_count AS slice_count, settled_usd AS slice_usd, ${other}s AS slice_others
    FROM ${database}.${wallet}_day FINAL
    WHERE ${closed('hour >= 0')}
    UNION ALL
    SELECT s.chain, toDate(s.block_time) AS day, ${owner} AS wallet, count(), sum(CAST(s.amount_usd, 'Decimal(38, 6)')),
      uniqCombined64State(12)(s.${other})
    FROM ${database}.settlements AS s FINAL WHERE ${countedText('s.')} AND ${inOpenDay} AND ${isOpen}
    GROUP BY s.chain, day, wallet
  )
  GROUP BY chain, day, wallet
) AS t`;
}

/**
 * An engine's running statements and stored parts, as views in our database: the same query covers a single engine or all nodes of a
 * cluster (cluster/ddl.ts). The querying user needs read rights on the underlying tables.
 */
export const NODE_VIEWS = {
  /** Running statements, with the column names of `system.processes`. Sub-queries from other nodes are listed under our database: only our statements cause them. */
  statements: 'engine_statements',
  /** Stored parts, by the name of the table that queries read. */
  parts: 'engine_parts',
} as const;

/** The statements that create these views in `into`, for the tables of `database`. */
export function nodeViewStatements(database: string, into: string = database): string[] {
  const view = (name: string, select: string): string =>
    `CREATE OR REPLACE VIEW ${into}.${name} SQL SECURITY INVOKER AS ${select}`;
  return [
    view(
      NODE_VIEWS.statements,
      `SELECT query_id, query_kind, user, map('log_comment', Settings['log_comment']) AS Settings,
  if(is_initial_query, current_database, '${database}') AS current_database FROM system.processes`,
    ),
    view(
      NODE_VIEWS.parts,
      `SELECT if(database = '${localDatabaseOf(database)}', '${database}', database) AS database, table, active, rows
FROM system.parts`,
    ),
  ];
}
