import type { Chain } from '../../core/domain/chains.ts';
import { type Snapshot, snapshotTime } from '../../core/domain/snapshot.ts';
import type { OperationDeps } from './deps.ts';
import type { ChainStatus } from './index-state/chain-status.ts';
import type { FinalBlock } from './index-state/finality.ts';
import { finalityOf } from './index-state/freshness.ts';
import type { Directory } from './names.ts';
import { invalid } from './params.ts';

/** What operations over settlements do with `as_of`. */

/** The source of an answer: the index as it is, or a snapshot of it. */
interface State {
  readonly asOf: Snapshot | undefined;
  /** For `metaAnswer`. */
  readonly meta: { readonly snapshot: Snapshot | null; readonly leftOut?: readonly string[] };
  /** The end of windows of time, and the age of things. */
  readonly nowMs: number;
}

/** Throws where the index cannot answer the snapshot. `leftOut`: fields of the answer that a snapshot does not hold. */
export async function stateFor(
  {
    index,
    clock,
    deployment,
  }: {
    readonly index: Pick<OperationDeps['index'], 'snapshots'>;
    readonly clock: OperationDeps['clock'];
    readonly deployment: Pick<OperationDeps['deployment'], 'chains'>;
  },
  asked: Snapshot | undefined,
  { chain, leftOut }: { readonly chain: Chain | undefined; readonly leftOut: readonly string[] },
): Promise<State> {
  if (asked === undefined)
    return { asOf: undefined, meta: { snapshot: await index.snapshots.current() }, nowMs: clock.nowMs() };
  const asOf = await index.snapshots.answerable(asked, chain);
  const rowsLeftOut = await index.snapshots.leftOut(asOf, chain === undefined ? deployment.chains : [chain]);
  return {
    asOf,
    meta: { snapshot: asOf, leftOut: [...rowsLeftOut, ...leftOut] },
    nowMs: snapshotTime(asOf) * 1_000,
  };
}

/** The newest block of each chain that a snapshot holds. */
export function finalOf({ chains }: Snapshot): FinalBlock[] {
  return chains.map(({ chain, to }) => ({ chain, block: to }));
}

/** Everything in a snapshot is final. */
export function finalityIn(
  asOf: Snapshot | undefined,
  statuses: ReadonlyMap<Chain, ChainStatus>,
): (row: { readonly chain: Chain; readonly blockNumber: number }) => ReturnType<typeof finalityOf> {
  if (asOf !== undefined) return () => 'finalized';
  return ({ chain, blockNumber }) => finalityOf(blockNumber, statuses.get(chain));
}

/** Names are claims of today: a snapshot has none. */
export const NO_NAMES: Directory = {
  facilitatorName: () => null,
  facilitatorIds: () => [],
  walletName: () => null,
  imitatedFacilitator: () => null,
};

/** Before a payment is claimed: whether the engine answers, and whether it can answer this. */
export async function preflightAsOf(
  { as_of: asOf, chain }: { readonly as_of: Snapshot | undefined; readonly chain: Chain | undefined },
  { index }: Pick<OperationDeps, 'index'>,
): Promise<void> {
  if (asOf === undefined) await index.ready();
  else await index.snapshots.answerable(asOf, chain);
}

/** A snapshot is read from rows, never from sums that follow the index. */
export function tooLargeFor(rowsMax: number): Error {
  return invalid(
    'as_of',
    `The wallet takes more than ${rowsMax.toLocaleString('en')} rows to read, too many for a snapshot. Ask with SQL, or without as_of.`,
  );
}
