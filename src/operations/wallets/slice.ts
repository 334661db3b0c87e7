import type { Position } from '../../../core/domain/settlement.ts';
import type { ListedSettlement } from '../settlements/row.ts';

export type WalletRole = 'payer' | 'payee';

/** One version of one party's row, as the engine stores it before merging. */
export interface WalletVersion {
  readonly settlement: ListedSettlement;
  readonly role: WalletRole;
  /** Rises with every write; the newest version of a key decides. */
  readonly ver: bigint;
  readonly del: boolean;
}

export interface MergedSlice {
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
