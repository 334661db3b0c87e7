import { Type } from '@sinclair/typebox';
import { accountText, addressBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader, Statement } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import {
  allOf,
  commaList,
  dateTime,
  type Sql,
  sql,
  text,
  trustedText,
  uint32,
} from '../../../clickhouse/engine/sql.ts';
import { walletRows } from '../../../clickhouse/tables/history.ts';
import {
  decodePosition,
  decodeSettlement,
  LISTED_NAMES,
  type ListedSettlement,
  listedColumn,
} from '../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import { finalityIn, finalOf, NO_NAMES, preflightAsOf, stateFor, tooLargeFor } from '../as-of.ts';
import { ask } from '../ask.ts';
import {
  afterParam,
  asOfParam,
  beforeParam,
  chainParam,
  finalityParam,
  limitParam,
  walletParam,
} from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { type FinalBlock, finalOnly, onChain, onlyFinal } from '../index-state/finality.ts';
import { META_EXAMPLE, SettlementMetaShape } from '../meta.ts';
import { PRICES } from '../prices.ts';
import { cutPage, isBelow } from '../settlements/feed.ts';
import {
  eventFilters,
  type FeedFilters,
  mergedFilters,
  WALLET_FILTERS,
  withinTimes,
} from '../settlements/filters.ts';
import { FORWARD_FIELDS, type ForwardSource } from '../settlements/forward.ts';
import { readCursors, readPage, type SettlementDeps } from '../settlements/list.ts';
import {
  NAMED_SETTLEMENT_EXAMPLE,
  NAMES_LEFT_OUT,
  NamedSettlementShape,
  namedSettlementAnswer,
  partiesOf,
} from '../settlements/shape.ts';
import type { SettlementPage } from '../settlements/slice-walk.ts';
import { AddressShape, NextBeforeShape } from '../shapes.ts';
import { mergeSlice, type WalletRole, type WalletVersion } from './slice.ts';

/**
 * One page of a wallet's settlements, newest first, from the table ordered by wallet. FINAL would merge the whole log of a
 * hot wallet (89 ms); instead a slice of versions is read in key order, about three for each row wanted, and merged here
 * (14 ms). The trap is the cut: see `mergeSlice`.
 */

interface WalletQuery extends FeedFilters {
  readonly wallet: Address;
  /** Rows wanted, 1 to 100. */
  readonly limit: number;
  readonly before: Position | undefined;
  readonly role: WalletRole | 'any';
  readonly counterparty: Address | undefined;
  readonly chain: Chain | undefined;
  /** Only rows at or below these blocks; undefined: all. */
  readonly final: readonly FinalBlock[] | undefined;
  /** Rows as a snapshot has them; `final` is then that of the snapshot. */
  readonly asOf?: Snapshot | undefined;
}

const RESOURCE = 'settlements';
const MAX_SECONDS = 10;
const VERSIONS_PER_ROW = 3;
/** A slice that held one key only (a row rewritten that often) is read again, larger, up to this. */
const SLICE_ROWS_MAX = 10_000;
/** Runs of tombstones longer than this end the page early, with a cursor to go on from. */
const SLICES_MAX = 12;

export async function readWalletPage(
  deps: { readonly reader: Reader },
  query: WalletQuery,
): Promise<SettlementPage> {
  return query.asOf === undefined && valueFilters(query).length === 0
    ? readEveryRow(deps.reader, query)
    : readMatchingRows(deps.reader, query);
}

async function readEveryRow(reader: Reader, query: WalletQuery): Promise<SettlementPage> {
  const rows: ListedSettlement[] = [];
  let below = query.before;
  let sliceRows = (query.limit + 1) * VERSIONS_PER_ROW;
  for (let slices = 0; slices < SLICES_MAX; slices++) {
    const versions = await readSlice(reader, query, { below, limit: sliceRows });
    const slice = mergeSlice(versions, { wasFull: versions.length >= sliceRows });
    rows.push(...slice.live);
    if (rows.length > query.limit) return cutPage(rows, query.limit);
    if (slice.resumeBelow === 'end') return { rows, nextBefore: undefined };
    if (slice.resumeBelow === 'larger') sliceRows = growSlice(sliceRows);
    else below = slice.resumeBelow;
  }
  return { rows, nextBefore: below };
}

function growSlice(sliceRows: number): number {
  if (sliceRows >= SLICE_ROWS_MAX) {
    throw new Error(`one settlement has more than ${SLICE_ROWS_MAX} unmerged versions in wallet_rows`);
  }
  return Math.min(sliceRows * 4, SLICE_ROWS_MAX);
}

interface RowSlice {
  readonly below: Position | undefined;
  readonly limit: number;
}

async function readSlice(reader: Reader, query: WalletQuery, slice: RowSlice): Promise<WalletVersion[]> {
  const { rows } = await ask(reader, RESOURCE, sliceStatement(query, slice));
  return rows.map(decodeVersion);
}

/** Rows of the wallet's log that the page can come from. */
function inLog(
  { wallet, since, until }: Pick<WalletQuery, 'wallet' | 'since' | 'until'>,
  below: Position | undefined,
): Sql[] {
  return [
    sql`wallet = ${text(wallet)}`,
    ...(below === undefined ? [] : [isBelow(below)]),
    ...withinTimes({ since, until }),
  ];
}

/** Filters on the sort key: they may be applied before versions are merged. */
function keyFilters({ chain, final, role }: Pick<WalletQuery, 'chain' | 'final' | 'role'>): Sql[] {
  return [...onChain(chain), ...onlyFinal(final), ...(role === 'any' ? [] : [sql`role = ${text(role)}`])];
}

/** Filters on other columns. */
function valueFilters(query: WalletQuery): Sql[] {
  return [...partyFilter(query), ...mergedFilters(query)];
}

function partyFilter({ counterparty }: Pick<WalletQuery, 'counterparty'>): Sql[] {
  return counterparty === undefined ? [] : [sql`counterparty = ${addressBytes(counterparty)}`];
}

/**
 * `ver` stays out of the order: with it the engine sorts instead of reading in order (25 ms against 11). Without lazy materialization,
 * which reads each granule twice: once for the columns of the order, and again for the columns of the rows that it keeps.
 */
function sliceStatement(query: WalletQuery, { below, limit }: RowSlice): Statement {
  const conditions = [...inLog(query, below), ...keyFilters(query)];
  return {
    name: 'wallet-slice',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    settings: { read_in_order_use_virtual_row: 1, query_plan_optimize_lazy_materialization: 0 },
    sql: sql`SELECT ${WALLET_COLUMNS} FROM wallet_rows WHERE ${allOf(conditions)}
      ORDER BY ${WALLET_ORDER}
      LIMIT ${uint32(limit)}`,
  };
}

const WALLET_ORDER = sql`wallet DESC, block_time DESC, chain DESC, block_number DESC, log_index DESC, role DESC`;

const COUNTERPARTY = accountText('counterparty');

/** The order of `LISTED_COLUMNS`, with payer and payee put together from the wallet and its counterparty. */
const PARTIES: Readonly<Record<string, Sql>> = {
  payer: sql`if(role = 'payer', wallet, ${COUNTERPARTY})`,
  payee: sql`if(role = 'payer', ${COUNTERPARTY}, wallet)`,
};
const LISTED = commaList(LISTED_NAMES.map((name) => PARTIES[name] ?? trustedText(listedColumn(name))));
const WALLET_COLUMNS: Sql = sql`${LISTED}, toString(role), toString(ver), del`;

function decodeVersion(row: readonly unknown[]): WalletVersion {
  const [role, ver, del] = row.slice(LISTED_NAMES.length);
  return {
    settlement: decodeSettlement(row),
    role: textField(role) === 'payer' ? 'payer' : 'payee',
    ver: bigintField(ver),
    del: integerField(del) !== 0,
  };
}

/** Versions in the first range of a filtered page; each further one is four times as long. */
const RANGE_ROWS_FIRST = 4_096;
const RANGE_ROWS_MAX = 65_536;
/** Bounds what one page looks at to 280,000 versions: a rare match then ends the page early, with a cursor to go on from. */
const RANGES_MAX = 6;

/**
 * A page with filters outside the sort key. A match may be as far down as the log is long, so ranges of a known number of
 * versions are merged whole, each from a key to a key, and the matches of each are taken.
 */
async function readMatchingRows(reader: Reader, query: WalletQuery): Promise<SettlementPage> {
  const rows: ListedSettlement[] = [];
  let below = query.before;
  let rangeRows = RANGE_ROWS_FIRST;
  for (let ranges = 0; ranges < RANGES_MAX; ranges++) {
    const floor = await keyBelow(reader, query, { below, limit: rangeRows });
    const found = await ask(reader, RESOURCE, rangeStatement(query, { below, floor }, rows.length));
    rows.push(...found.rows.map(decodeSettlement));
    if (rows.length > query.limit) return cutPage(rows, query.limit);
    if (floor === undefined) return { rows, nextBefore: undefined };
    below = floor;
    rangeRows = Math.min(rangeRows * 4, RANGE_ROWS_MAX);
  }
  // How many versions are not merged yet is chance, and an answer of a snapshot must not depend on that.
  if (query.asOf !== undefined) throw tooLargeFor(RANGE_ROWS_MAX * RANGES_MAX);
  return { rows, nextBefore: below };
}

/** The key of the last of so many versions, undefined when the log has fewer. Reads the columns of the key alone. */
async function keyBelow(reader: Reader, query: WalletQuery, slice: RowSlice): Promise<Position | undefined> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'wallet-range',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT toUnixTimestamp(block_time), chain, block_number, log_index FROM wallet_rows
      WHERE ${allOf(inLog(query, slice.below))} ORDER BY ${WALLET_ORDER} LIMIT 1 OFFSET ${uint32(slice.limit - 1)}`,
  });
  const [row] = rows;
  return row === undefined ? undefined : decodePosition(row);
}

/** A payment to oneself has two keys (one per role) and is one row. */
function rangeStatement(
  query: WalletQuery,
  { below, floor }: { readonly below: Position | undefined; readonly floor: Position | undefined },
  found: number,
): Statement {
  const range = [
    ...inLog(query, below),
    ...(floor === undefined
      ? []
      : [sql`block_time >= ${dateTime(floor.blockTime)} AND NOT (${isBelow(floor)})`]),
    ...keyFilters(query),
  ];
  const limit = query.limit + 1 - found;
  return {
    name: 'wallet-matches',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    sql: sql`SELECT ${WALLET_COLUMNS} FROM ${walletRows(query.asOf, range)}
      WHERE ${allOf([sql`del = 0`, ...valueFilters(query)])}
      ORDER BY ${WALLET_ORDER} LIMIT 1 BY block_time, chain, block_number, log_index LIMIT ${uint32(limit)}`,
  };
}

/** The rows of one wallet are few among those that were written: a window is days of writing, a statement weeks of its log. */
const FORWARD_ENTRIES = 100_000;
const FORWARD_SPAN_SECONDS = 30 * 86_400;
const FORWARD_HOURS_MAX = 64;

/** A wallet's log for reading forward. */
function walletSource(query: Omit<WalletQuery, 'before' | 'final'>): ForwardSource {
  return {
    of: query,
    entries: FORWARD_ENTRIES,
    spanSeconds: FORWARD_SPAN_SECONDS,
    hours: FORWARD_HOURS_MAX,
    statement: ({ range, conditions, fields, limit }) => ({
      name: 'wallet-changes',
      maxSeconds: MAX_SECONDS,
      maxRows: limit,
      sql: sql`SELECT ${WALLET_COLUMNS}, ${fields} FROM (SELECT *, amount FROM wallet_rows FINAL
          WHERE ${allOf([...inLog(query, undefined), ...range, ...keyFilters({ ...query, final: undefined })])})
        WHERE ${allOf([sql`del = 0`, ...conditions, ...partyFilter(query), ...eventFilters(query)])}
        ORDER BY block_time, chain, block_number, log_index LIMIT 1 BY block_time, chain, block_number, log_index LIMIT ${uint32(limit)}`,
    }),
  };
}

const ID = 'listEntitySettlements';
const LEFT_OUT = NAMES_LEFT_OUT.map((field) => `settlements.${field}`);

export const listEntitySettlements = defineOperation({
  id: ID,
  wire: {
    path: '/entities/{wallet}/settlements',
    params: {
      wallet: walletParam,
      limit: limitParam,
      before: beforeParam,
      after: afterParam,
      chain: chainParam,
      finality: finalityParam,
      as_of: asOfParam,
      ...WALLET_FILTERS,
    },
    output: Type.Object({
      wallet: AddressShape,
      settlements: Type.Array(NamedSettlementShape),
      next_before: NextBeforeShape,
      ...FORWARD_FIELDS,
      meta: SettlementMetaShape,
    }),
    fails: ['invalid_parameter', 'cursor_expired', 'snapshot_gone', 'upstream_unavailable'],
    paging: 'before',
  },
  words: {
    summary: 'Settlements where a wallet is a party, newest first',
    description:
      'Settlements in which the wallet paid or was paid. A payment of the wallet to itself appears once. A wallet unknown to the index has an empty list: it never paid or was paid, is not indexed yet, or is on a chain that is not covered.',
    tool: 'Settlements that one wallet paid or received, newest first. For its totals use get_merchant or get_agent.',
    example: {
      wallet: NAMED_SETTLEMENT_EXAMPLE.payer,
      settlements: [NAMED_SETTLEMENT_EXAMPLE],
      next_before: null,
      prev_after: null,
      meta: META_EXAMPLE,
    },
  },
  money: { price: PRICES.keyed },
  check: (input, facts) => readCursors(scopeOf(input.wallet), input, facts),
  preflight: (input, deps) => preflightAsOf(input, deps),
  read: async (input, deps: SettlementDeps) => {
    const { wallet, chain, finality, as_of: asked } = input;
    const {
      reader,
      clock,
      deployment,
      index: { names, freshness },
    } = deps;
    const nowMs = clock.nowMs();
    const statuses = await freshness.statuses();
    const { asOf, meta } = await stateFor(deps, asked, { chain, leftOut: LEFT_OUT });
    const final = asOf === undefined ? finalOnly(finality, statuses) : finalOf(asOf);
    const finalityOf = finalityIn(asOf, statuses);
    const page = await readPage(deps, scopeOf(wallet), input, {
      forward: walletSource(input),
      back: () => readWalletPage({ reader }, { ...input, final, asOf }),
    });
    const directory = asOf === undefined ? await names.of(partiesOf(page.rows)) : NO_NAMES;
    return {
      wallet,
      settlements: page.rows.map((row) => namedSettlementAnswer(row, finalityOf(row), deployment, directory)),
      ...page.cursors,
      meta: await page.meta(
        { chain, chains: deployment.chains, statuses, nowMs, finality, ...meta },
        page.rows,
      ),
    };
  },
});

/** A cursor is valid for its own wallet only. */
function scopeOf(wallet: Address): string {
  return `${ID} ${wallet}`;
}
