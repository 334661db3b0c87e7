import type { Hash } from '../../../core/domain/account.ts';
import type { BlockBatch, RawLog } from '../../chain/block-source.ts';
import type { DecodeContext } from '../context.ts';
import { KIND, kindsOf } from '../log-kind.ts';
import { MARKER } from '../pair.ts';
import { legsOf } from './legs.ts';
import { type ChannelMove, type ChannelReading, type KnownTerms, NO_TERMS, readChannels } from './moves.ts';
import type { ChannelTerms } from './terms.ts';

export interface ChannelsInBatch {
  /** By the position of their log in the batch. */
  readonly moves: ReadonlyMap<number, ChannelMove>;
  readonly malformed: readonly RawLog[];
  readonly unknown: readonly RawLog[];
}

const NONE: ChannelsInBatch = { moves: new Map(), malformed: [], unknown: [] };

/**
 * Reads the channel events of a batch, and marks the transfers by which their tokens travelled: those are no payments of their own. Terms
 * that a transaction proves hold for the transactions after it.
 */
export function channelsOf(
  batch: BlockBatch,
  kinds: Uint8Array,
  markers: Uint8Array,
  context: Pick<DecodeContext, 'channels' | 'knownTerms'>,
): ChannelsInBatch {
  if (!kinds.includes(KIND.channel)) return NONE;
  const moves = new Map<number, ChannelMove>();
  const malformed: RawLog[] = [];
  const unknown: RawLog[] = [];
  for (const { first, logs, reading } of readTransactions(batch, kinds, context)) {
    malformed.push(...reading.malformed);
    unknown.push(...reading.unknown);
    for (const move of reading.moves) moves.set(first + move.at, move);
    const isTransfer = (at: number): boolean => kinds[first + at] === KIND.transfer;
    for (const at of legsOf(logs, isTransfer, reading.moves)) markers[first + at] = MARKER.leg;
  }
  return { moves, malformed, unknown };
}

/** The channels of which a batch has events and whose terms are not in it. */
export function unknownChannels(
  batch: BlockBatch,
  context: Pick<DecodeContext, 'tokens' | 'proxies' | 'registries' | 'channels'>,
): readonly Hash[] {
  const ids = new Set<Hash>();
  const kinds = kindsOf(batch.logs, context);
  for (const { reading } of readTransactions(batch, kinds, { ...context, knownTerms: NO_TERMS }))
    for (const { topics } of reading.unknown) if (topics[1] !== undefined) ids.add(topics[1]);
  return [...ids];
}

interface ChannelTransaction {
  /** Position of its first log in the batch. */
  readonly first: number;
  readonly logs: readonly RawLog[];
  readonly reading: ChannelReading;
}

function* readTransactions(
  batch: BlockBatch,
  kinds: Uint8Array,
  { channels, knownTerms }: Pick<DecodeContext, 'channels' | 'knownTerms'>,
): Generator<ChannelTransaction> {
  const proven = new Map<Hash, ChannelTerms>();
  const known: KnownTerms = (channel) => proven.get(channel) ?? knownTerms(channel);
  for (let at = kinds.indexOf(KIND.channel); at !== -1; ) {
    const { first, end } = transactionAround(batch.logs, at);
    const logs = batch.logs.slice(first, end);
    const input = batch.transactions.get(logs[0]?.transactionHash ?? '0x')?.input ?? '0x';
    const reading = readChannels(logs, input, channels, known);
    for (const [id, terms] of reading.terms) proven.set(id, terms);
    yield { first, logs, reading };
    at = kinds.indexOf(KIND.channel, end);
  }
}

/** Positions of the logs of the transaction to which the log at `at` belongs. */
function transactionAround(
  logs: readonly RawLog[],
  at: number,
): { readonly first: number; readonly end: number } {
  const hash = logs[at]?.transactionHash;
  let first = at;
  while (logs[first - 1]?.transactionHash === hash) first--;
  let end = at + 1;
  while (logs[end]?.transactionHash === hash) end++;
  return { first, end };
}
