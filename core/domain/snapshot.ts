import { type Chain, chainOfReference, referenceOf } from './chains.ts';
import { versionTimeMs } from './settlement.ts';

/**
 * A state of the index that can be asked again: of each chain the blocks that are final and indexed without a gap, and the revision of
 * the catalogues that their settlements are graded by. Its text can be read by people and is not signed: a caller who changes a number asks for
 * another state, which is answered or refused like any other (docs/snapshots.md).
 */
export interface Snapshot {
  /** Number of the newest change of the catalogues that all rows follow; 0 before the first. */
  readonly revision: number;
  /** Names the table from methods to tiers and probabilities: a release that changes it answers older snapshots differently. */
  readonly ladder: string;
  /** No row of it was written under a newer version (ingest/write/versions.ts). It also says when the snapshot was. */
  readonly version: bigint;
  /** In order of their names; at least one. */
  readonly chains: readonly SnapshotChain[];
}

export interface SnapshotChain {
  readonly chain: Chain;
  /** Blocks, both included. */
  readonly from: number;
  readonly to: number;
  /** Names the set of contracts whose logs were read (ingest/write/checkpoints.ts). */
  readonly contracts: string;
}

/** Some thirty chains. Longer ones would not fit into a URL with other parameters. */
export const SNAPSHOT_MAX_CHARS = 2_000;
const TEXT = /^s1_r\d{1,9}_[0-9a-f]{8}_\d{1,20}(_[0-9A-Za-z]{1,32}-\d{1,15}-\d{1,15}-[0-9a-f]{16})+$/;
const FORM = 's1';
/** The engine's 64 bits. */
const VERSION_MAX = 2n ** 64n - 1n;

export function printSnapshot({ revision, ladder, version, chains }: Snapshot): string {
  const ranges = chains.map(({ chain, from, to, contracts }) =>
    [referenceOf(chain), from, to, contracts].join('-'),
  );
  return [FORM, `r${revision}`, ladder, version, ...ranges].join('_');
}

/** Null for a text that is no snapshot. */
export function parseSnapshot(text: string): Snapshot | null {
  if (text.length > SNAPSHOT_MAX_CHARS || !TEXT.test(text)) return null;
  const [, revision = '', ladder = '', version = '', ...ranges] = text.split('_');
  const chains = ranges.map(parseRange);
  const read = chains.filter((one) => one !== null);
  const inOrder = read.every((one, at) => at === 0 || (read[at - 1]?.chain ?? '') < one.chain);
  if (read.length < chains.length || !inOrder || BigInt(version) > VERSION_MAX) return null;
  return { revision: Number(revision.slice(1)), ladder, version: BigInt(version), chains: read };
}

function parseRange(text: string): SnapshotChain | null {
  const [reference = '', from, to, contracts = ''] = text.split('-');
  const chain = chainOfReference(reference);
  const range = { from: Number(from), to: Number(to) };
  return chain !== null && range.from <= range.to ? { chain, ...range, contracts } : null;
}

/** When it was, Unix seconds: windows of figures end there. */
export function snapshotTime({ version }: Pick<Snapshot, 'version'>): number {
  return Math.floor(versionTimeMs(version) / 1_000);
}
