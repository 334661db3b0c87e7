import type { RawLog } from '../chain/block-source.ts';
import { isUptoProxy } from '../grading/built-in.ts';
import { isMove } from './channels/moves.ts';
import type { DecodeContext } from './context.ts';
import { KIND, kindsOf } from './log-kind.ts';

/**
 * Finds which transfers were x402 payments. Proved on Circle's bytecode; see docs/design/evidence.md.
 *
 * Per transaction and token, for each AuthorizationUsed at index k: the Transfer with the smallest index above k, sent by
 * the authorizer, before the token's next AuthorizationUsed; else the Transfer at k−1 with the same sender (some issuers
 * emit the other way round). A transfer is taken once.
 *
 * One refinement: if that leaves an authorization unpaired, but pairing every authorization of this transaction and token in reverse
 * order pairs them all, the reverse pairing is used. Without it, one of two payments of one payer in a reverse-order token would be
 * lost: the first authorization would take the second payment's transfer.
 */

/**
 * How a transfer is marked. For an authorization, `none` means that it is unpaired. A leg carried tokens of a channel or of an escrowed
 * payment (channels/legs.ts) and is no payment of its own.
 */
export const MARKER = { none: 0, authorization: 1, permit2: 2, upto: 3, leg: 4 } as const;

/** The marker of every log, by position. `kinds` come from `kindsOf(logs)`; logs ascend by (block, index). */
export function pairLogs(logs: readonly RawLog[], kinds: Uint8Array): Uint8Array {
  const markers = new Uint8Array(logs.length);
  const alone: number[] = [];
  let proxies = 0;
  for (let at = 0; at < kinds.length; at++) {
    if (kinds[at] === KIND.authorization) {
      const transfer = transferOf(at, logs, kinds, markers);
      if (transfer < 0) alone.push(at);
      else markers[transfer] = markers[at] = MARKER.authorization;
    } else if (kinds[at] === KIND.proxySettled) proxies++;
  }
  readGroupsInReverse(alone, logs, kinds, markers);
  // After all authorizations of the transaction: a proxy may only claim transfers that no authorization explains.
  if (proxies > 0) pairProxies(logs, kinds, markers);
  return markers;
}

/** The authorizations and proxy events without a transfer of their own. */
export function unpairedLogs(logs: readonly RawLog[], context: DecodeContext): RawLog[] {
  const kinds = kindsOf(logs, context);
  if (!kinds.includes(KIND.authorization) && !kinds.includes(KIND.proxySettled)) return [];
  const markers = pairLogs(logs, kinds);
  return logs.filter((_, at) => isUnpaired(kinds[at], markers[at]));
}

export function isUnpaired(kind: number | undefined, marker: number | undefined): boolean {
  return (kind === KIND.authorization || kind === KIND.proxySettled) && marker === MARKER.none;
}

/**
 * The logs that must have a row. In a transaction with events of a channel contract these are its events alone: which of the marked
 * transfers carried tokens of a channel cannot be told without the calldata.
 */
export function logsWithRows(logs: readonly RawLog[], context: DecodeContext): RawLog[] {
  const kinds = kindsOf(logs, context);
  const markers = pairLogs(logs, kinds);
  const ofChannels = new Set(
    logs.filter((_, at) => kinds[at] === KIND.channel).map(({ transactionHash }) => transactionHash),
  );
  return logs.filter((log, at) => {
    if (kinds[at] === KIND.channel) return isMove(log, context.channels);
    const isPaid = kinds[at] === KIND.transfer && markers[at] !== MARKER.none;
    return isPaid && !ofChannels.has(log.transactionHash);
  });
}

/** The position of the transfer that belongs to the authorization at `at`, or −1. */
function transferOf(at: number, logs: readonly RawLog[], kinds: Uint8Array, markers: Uint8Array): number {
  const used = logs[at];
  if (used === undefined) return -1;
  for (let next = at + 1; next < logs.length; next++) {
    const log = logs[next];
    if (log === undefined || log.transactionHash !== used.transactionHash) break;
    if (log.address !== used.address) continue;
    if (kinds[next] === KIND.authorization) break;
    if (isFree(next, kinds, markers) && log.topics[1] === used.topics[1]) return next;
  }
  return isBefore(at, logs, kinds) && isFree(at - 1, kinds, markers) ? at - 1 : -1;
}

function isFree(at: number, kinds: Uint8Array, markers: Uint8Array): boolean {
  return kinds[at] === KIND.transfer && markers[at] === MARKER.none;
}

/** A proxy also settles tokens that are not listed. */
function isFreeForProxy(at: number, kinds: Uint8Array, markers: Uint8Array): boolean {
  return isFree(at, kinds, markers) || (kinds[at] === KIND.unlistedTransfer && markers[at] === MARKER.none);
}

/** Whether the authorizer's transfer of the same token stands directly before the authorization at `at`. */
function isBefore(at: number, logs: readonly RawLog[], kinds: Uint8Array): boolean {
  const used = logs[at];
  const before = logs[at - 1];
  return (
    used !== undefined &&
    before !== undefined &&
    kinds[at - 1] === KIND.transfer &&
    before.logIndex === used.logIndex - 1 &&
    before.transactionHash === used.transactionHash &&
    before.address === used.address &&
    before.topics[1] === used.topics[1]
  );
}

/** Tries each (transaction, token) with an unpaired authorization once: thousands in one transaction must not take quadratic time. */
function readGroupsInReverse(
  alone: readonly number[],
  logs: readonly RawLog[],
  kinds: Uint8Array,
  markers: Uint8Array,
): void {
  const tried = new Set<string>();
  for (const at of alone) {
    const group = `${logs[at]?.transactionHash}${logs[at]?.address}`;
    if (!tried.has(group)) readInReverse(at, logs, kinds, markers);
    tried.add(group);
  }
}

/** Reads all logs of one token in one transaction as a token that emits Transfer first, if that explains every authorization. */
function readInReverse(at: number, logs: readonly RawLog[], kinds: Uint8Array, markers: Uint8Array): void {
  const group = groupAround(at, logs);
  const used = group.filter((position) => kinds[position] === KIND.authorization);
  if (!used.every((position) => isBefore(position, logs, kinds))) return;
  for (const position of group) markers[position] = MARKER.none;
  for (const position of used) markers[position] = markers[position - 1] = MARKER.authorization;
}

/** Positions of the logs with the same transaction and emitter. */
function groupAround(at: number, logs: readonly RawLog[]): number[] {
  const tx = logs[at]?.transactionHash;
  const token = logs[at]?.address;
  let from = at;
  while (from > 0 && logs[from - 1]?.transactionHash === tx) from--;
  const group: number[] = [];
  for (let next = from; logs[next]?.transactionHash === tx && next < logs.length; next++)
    if (logs[next]?.address === token) group.push(next);
  return group;
}

/**
 * A Permit2 proxy emits `Settled` after the transfer: its payment is the nearest unpaired transfer before it and after the
 * previous proxy event of the transaction. None means a token that is not listed, whose transfer only the receipt shows.
 */
function pairProxies(logs: readonly RawLog[], kinds: Uint8Array, markers: Uint8Array): void {
  for (let at = 0; at < kinds.length; at++) {
    if (kinds[at] !== KIND.proxySettled) continue;
    const proxy = logs[at];
    const tx = proxy?.transactionHash;
    for (let before = at - 1; before >= 0; before--) {
      if (kinds[before] === KIND.proxySettled || logs[before]?.transactionHash !== tx) break;
      if (!isFreeForProxy(before, kinds, markers)) continue;
      const marker = proxy !== undefined && isUptoProxy(proxy.address) ? MARKER.upto : MARKER.permit2;
      markers[before] = markers[at] = marker;
      break;
    }
  }
}
