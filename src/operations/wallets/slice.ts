import { accountBytes } from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import { allOf, type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import { closedSlices, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import type { ListedSettlement } from '../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Position } from '../../../core/domain/settlement.ts';

export type WalletRole = 'payer' | 'payee';

/** One version of one party's row, as the engine stores it before merging. */
export interface WalletVersion {
  readonly settlement: ListedSettlement;
  readonly role: WalletRole;
  /** Rises with every write; the newest version of a key decides. */
  readonly ver: bigint;
  readonly del: boolean;
}

interface MergedSlice {
  /** One row for each event that lives, in the order read. */
  readonly live: readonly ListedSettlement[];
  /** `end`: the log is over. `larger`: nothing is certain yet, read the same place with a larger slice. */
  readonly resumeBelow: Position | 'end' | 'larger';
}

/**
 * Merges versions that came in key order (newest event first, versions of one key in any order): the highest `ver` of a key
 * decides, and a tombstone removes it. When the read was full, versions of the last event may lie beyond the cut, a
 * tombstone among them, so that event is left for the next slice. A payment to oneself has two keys (one per role) and is
 * one row.
 */
export function mergeSlice(
  versions: readonly WalletVersion[],
  read: { readonly wasFull: boolean },
): MergedSlice {
  const events = groupByPosition(versions);
  if (read.wasFull) events.pop();
  const live = events.flatMap((group) => newestLive(group));
  if (!read.wasFull) return { live, resumeBelow: 'end' };
  const last = events.at(-1)?.[0];
  return { live, resumeBelow: last === undefined ? 'larger' : last.settlement };
}

function groupByPosition(versions: readonly WalletVersion[]): WalletVersion[][] {
  const groups: WalletVersion[][] = [];
  for (const version of versions) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (group && first && samePosition(first.settlement, version.settlement)) group.push(version);
    else groups.push([version]);
  }
  return groups;
}

function samePosition(a: Position, b: Position): boolean {
  return (
    a.blockTime === b.blockTime &&
    a.chain === b.chain &&
    a.blockNumber === b.blockNumber &&
    a.logIndex === b.logIndex
  );
}

/** The event's row if a role of it lives; the two roles of a self-payment hold the same settlement. */
function newestLive(group: readonly WalletVersion[]): ListedSettlement[] {
  const alive = (['payer', 'payee'] as const)
    .map((role) => newestVersion(group.filter((version) => version.role === role)))
    .filter((version) => version !== undefined)
    .filter((version) => !version.del);
  const row = newestVersion(alive);
  return row === undefined ? [] : [row.settlement];
}

function newestVersion(versions: readonly WalletVersion[]): WalletVersion | undefined {
  return versions.reduce<WalletVersion | undefined>(
    (newest, version) => (newest === undefined || version.ver > newest.ver ? version : newest),
    undefined,
  );
}

/** A wallet with what it did, among the settlements that the list was asked for. Times are Unix seconds. */
export interface ListedWallet {
  readonly wallet: Address;
  readonly isPayer: boolean;
  readonly isPayee: boolean;
  readonly settlementCount: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** Addresses from `from`, included, to `below`, excluded; undefined: no bound. */
export interface WalletRange {
  readonly from: Address | undefined;
  readonly below: Address | undefined;
}

interface WalletFiguresQuery {
  readonly role: WalletRole | 'any';
  readonly range: WalletRange;
  readonly coverage: RollupCoverage;
  /** On the key columns of the rollup tables. */
  readonly closedConditions: readonly Sql[];
  /** On the key columns of `wallet_rows`; includes that only open rows are read. */
  readonly openConditions: readonly Sql[];
}

/**
 * The parts whose sum is a wallet: columns wallet, paid, received, settlements, first_time, last_time. Closed slices come from
 * the rollups, open ones from the log. A payment to oneself stands in both roles and is one settlement, so with both roles
 * asked for it counts where it was paid.
 */
export function walletFigures(query: WalletFiguresQuery): Sql {
  const { role } = query;
  const parts = [
    ...(role === 'payee' ? [] : [closedPart(query, 'payer')]),
    ...(role === 'payer' ? [] : [closedPart(query, 'payee')]),
    openPart(query),
  ];
  return parts.reduce((all, next) => sql`${all} UNION ALL ${next}`);
}

/** A key whose settlements all vanished stays in a rollup with a count of zero. */
function closedPart({ role, range, coverage, closedConditions }: WalletFiguresQuery, as: WalletRole): Sql {
  const isPayer = as === 'payer';
  const wallet = isPayer ? sql`payer` : sql`payee`;
  const conditions = [...inRange(wallet, range), ...closedConditions, closedSlices(coverage)];
  return sql`SELECT ${wallet} AS wallet, ${isPayer ? sql`1 AS paid, 0 AS received` : sql`0 AS paid, 1 AS received`},
      toInt64(settlement_count)${!isPayer && role === 'any' ? sql` - toInt64(self_count)` : sql``} AS settlements, first_time, last_time
    FROM (SELECT * FROM ${isPayer ? sql`payer_day` : sql`payee_day`} FINAL WHERE ${allOf(conditions)})
    WHERE settlement_count > 0`;
}

function openPart({ role, range, openConditions }: WalletFiguresQuery): Sql {
  const conditions = [...inRange(sql`wallet`, range), ...openConditions];
  const counted =
    role === 'any'
      ? sql`toInt64(role = 'payer' OR counterparty != ${accountBytes(sql`wallet`)})`
      : sql`toInt64(1)`;
  return sql`SELECT wallet, role = 'payer' AS paid, role = 'payee' AS received, ${counted} AS settlements,
      block_time AS first_time, block_time AS last_time
    FROM (SELECT wallet, role, block_time, counterparty, method, kind, del FROM wallet_rows FINAL WHERE ${allOf(conditions)})
    WHERE ${IS_COUNTED}`;
}

function inRange(wallet: Sql, { from, below }: WalletRange): Sql[] {
  return [
    ...(from === undefined ? [] : [sql`${wallet} >= ${text(from)}`]),
    ...(below === undefined ? [] : [sql`${wallet} < ${text(below)}`]),
  ];
}
