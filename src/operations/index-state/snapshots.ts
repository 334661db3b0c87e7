import { createHash } from 'node:crypto';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { sql, texts, uint32 } from '../../../clickhouse/engine/sql.ts';
import { REVISIONS_KEPT_DAYS } from '../../../clickhouse/tables/history.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { EVIDENCE_LADDER } from '../../../core/domain/evidence.ts';
import { printSnapshot, type Snapshot, type SnapshotChain } from '../../../core/domain/snapshot.ts';
import { type Failure, fail } from '../../../core/errors.ts';
import { ask, cached } from '../ask.ts';
import { invalid } from '../params.ts';

/** The snapshot of today, and whether an older one can be answered (docs/snapshots.md). */
export interface Snapshots {
  /** At most three seconds old. Null where no chain has final blocks that are indexed, and on a cluster. */
  current(): Promise<Snapshot | null>;
  /**
   * The snapshot itself. Rejects with `snapshot_gone` where its rows are not what they were, and with `invalid_parameter` where the index
   * never was so, or where it holds nothing of `chain`.
   */
  answerable(snapshot: Snapshot, chain?: Chain): Promise<Snapshot>;
  /**
   * Rows of the index that the snapshot has not, of these chains, in words for `left_out`: chains that it holds nothing of, and the blocks of
   * a chain that lie beyond a gap or were imported without a record. Blocks that were indexed without a gap since are newer, and not told.
   */
  leftOut(snapshot: Snapshot, chains: readonly Chain[]): Promise<readonly string[]>;
}

const RESOURCE = 'chains';
const MAX_AGE_MS = 1_000;
/** An older snapshot is one too: answers may name it while a newer one is read. */
const STALE_MS = 2_000;
const MAX_SECONDS = 10;
/** Imports are rare, and to look at all of their rows takes a scan. */
const IMPORTED_MAX_AGE_MS = 60_000;
/** Far above the number of EVM chains a deployment can list. */
const CHAINS_MAX = 1_000;
const LADDER_CHARS = 8;
const PARAMETER = 'as_of';

/** Names the table from methods to tiers and probabilities: rows keep the method alone. */
const LADDER = createHash('sha256')
  .update(JSON.stringify(EVIDENCE_LADDER))
  .digest('hex')
  .slice(0, LADDER_CHARS);

/** What the index holds now. */
interface HeldState {
  /** Null: nothing final is indexed. */
  readonly snapshot: Snapshot | null;
  /** The oldest revision that can be answered. */
  readonly oldestRevision: number;
  /** Chains with recorded blocks below a gap. */
  readonly withGap: ReadonlySet<Chain>;
}

/** The rows of a chain that is read from no node. */
interface ImportedRows {
  readonly oldestBlock: number;
  readonly newestBlock: number;
}

export function createSnapshots(deps: {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly chains: readonly Chain[];
  /** On a cluster rows and their history are not read at one moment. */
  readonly isCluster?: boolean;
}): Snapshots {
  if (deps.isCluster === true) return NO_SNAPSHOTS;
  const load = () => readHeldState(deps.reader, deps.chains);
  const recent = cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, load });
  const named = cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, staleMs: STALE_MS, load });
  const imported = cached({
    clock: deps.clock,
    maxAgeMs: IMPORTED_MAX_AGE_MS,
    load: () => readImported(deps.reader, deps.chains),
  });
  return {
    current: async () => (await named()).snapshot,
    answerable: async (snapshot, chain) => {
      // Another process may know a newer state than the one remembered here.
      const refused = refusalOf(snapshot, await recent(), chain) && refusalOf(snapshot, await load(), chain);
      if (refused !== null) throw refused;
      return snapshot;
    },
    async leftOut(snapshot, chains) {
      const [{ withGap }, rows] = await Promise.all([recent(), imported()]);
      return chains.flatMap((chain) => {
        const held = snapshot.chains.find((one) => one.chain === chain);
        if (held === undefined) return [chain];
        const { oldestBlock, newestBlock } = rows.get(chain) ?? {
          oldestBlock: held.from,
          newestBlock: held.to,
        };
        return [
          ...(withGap.has(chain) || oldestBlock < held.from ? [`${chain} before block ${held.from}`] : []),
          ...(newestBlock > held.to ? [`${chain} after block ${held.to}`] : []),
        ];
      });
    },
  };
}

const NO_SNAPSHOTS: Snapshots = {
  current: () => Promise.resolve(null),
  leftOut: (_snapshot, chains) => Promise.resolve(chains),
  answerable: () =>
    Promise.reject(invalid(PARAMETER, 'This deployment is a cluster, which answers no snapshots yet.')),
};

async function readHeldState(reader: Reader, chains: readonly Chain[]): Promise<HeldState> {
  const [ranges, passes] = await Promise.all([readRanges(reader, chains), readPasses(reader)]);
  const { revision, oldestRevision } = passes;
  const versions = ranges.map(({ version }) => version).sort((a, b) => (a < b ? -1 : 1));
  const version = versions.at(-1) ?? 0n;
  const held = ranges.map(({ version: _, firstRecorded: _first, ...range }) => range);
  return {
    snapshot: held.length > 0 ? { revision, ladder: LADDER, version, chains: held } : null,
    oldestRevision,
    withGap: new Set(
      ranges.filter(({ firstRecorded, from }) => firstRecorded < from).map(({ chain }) => chain),
    ),
  };
}

interface FinalRange extends SnapshotChain {
  readonly version: bigint;
  /** The lowest block that any range has. */
  readonly firstRecorded: number;
}

/**
 * Of each chain the longest range of blocks without a gap that ends at the newest block that is final and indexed, for the contracts that
 * are read now. Ranges are recorded once their rows are acknowledged, under a version above the versions of the rows.
 */
async function readRanges(reader: Reader, chains: readonly Chain[]): Promise<FinalRange[]> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'snapshot-ranges',
    maxSeconds: MAX_SECONDS,
    maxRows: CHAINS_MAX,
    sql: sql`SELECT chain, any(named), maxIf(range_start, begins AND range_start <= final), any(final) AS end, toString(max(ver)), min(range_start)
      FROM (
        SELECT chain, named, range_start, range_end, ver, least(finalized_block, max(range_end) OVER (PARTITION BY chain)) AS final,
          row_number() OVER before = 1 OR range_start > max(range_end) OVER before + 1 AS begins
        FROM (SELECT chain, contracts AS named, range_start, range_end, ver, del FROM checkpoints FINAL
          WHERE (chain, contracts) IN (SELECT chain, argMax(contracts, ver) FROM checkpoints GROUP BY chain)) AS ranges
        INNER JOIN (SELECT chain, finalized_block FROM chain_status FINAL) AS status USING (chain)
        WHERE del = 0 AND range_end >= range_start AND chain IN ${texts(chains)}
        WINDOW before AS (PARTITION BY chain ORDER BY range_start, range_end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      )
      GROUP BY chain HAVING countIf(range_start <= final AND range_end >= final) > 0 ORDER BY chain`,
  });
  return rows.map((row) => ({
    chain: textField(row[0]) as Chain, // one of those that were asked for
    contracts: textField(row[1]),
    from: integerField(row[2]),
    to: integerField(row[3]),
    version: bigintField(row[4]),
    firstRecorded: integerField(row[5]),
  }));
}

/** Of chains that are read from no node, what their rows reach from and to: a record says only what files hold whole. */
async function readImported(
  reader: Reader,
  chains: readonly Chain[],
): Promise<ReadonlyMap<Chain, ImportedRows>> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'snapshot-imported',
    maxSeconds: MAX_SECONDS,
    maxRows: CHAINS_MAX,
    sql: sql`SELECT chain, min(block_number), max(block_number) FROM settlements
      WHERE del = 0 AND chain IN (SELECT chain FROM chain_status FINAL WHERE state = 'imported' AND chain IN ${texts(chains)}) GROUP BY chain`,
  });
  return new Map(
    rows.map(([chain, oldest, newest]) => [
      textField(chain) as Chain, // one of those that were asked for
      { oldestBlock: integerField(oldest), newestBlock: integerField(newest) },
    ]),
  );
}

/**
 * All rows follow the changes of the catalogues up to the first one that is not done. A revision can be answered while every later
 * change has kept what it changed, and keeps it.
 */
async function readPasses(reader: Reader) {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'snapshot-revision',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT if(countIf(NOT done) = 0, max(pass), minIf(pass, NOT done) - 1),
        maxIf(pass, (done AND pass NOT IN (SELECT pass FROM regrade_progress FINAL WHERE finished = 1 AND kept = 1))
          OR created_at < now() - toIntervalDay(${uint32(REVISIONS_KEPT_DAYS)}))
      FROM (SELECT pass, created_at, pass IN (SELECT pass FROM regrade_progress FINAL WHERE finished = 1) AS done FROM catalogue_passes)`,
  });
  const [revision, oldestRevision] = rows[0] ?? [];
  return { revision: integerField(revision), oldestRevision: integerField(oldestRevision) };
}

/** Null where the snapshot can be answered. */
function refusalOf(asked: Snapshot, held: HeldState, chain: Chain | undefined): Failure | Error | null {
  const { snapshot, oldestRevision } = held;
  if (snapshot === null) return invalid(PARAMETER, 'Nothing final is indexed here yet.');
  if (asked.ladder !== snapshot.ladder)
    return gone('it is of a release that graded by another evidence ladder.', snapshot);
  if (asked.revision > snapshot.revision || asked.version > snapshot.version)
    return invalid(PARAMETER, `${PARAMETER} is of a state that this index has not reached.`);
  if (asked.revision < oldestRevision)
    return gone(
      `what the catalogues said under revision ${asked.revision} is kept no more: revisions are answered for ${REVISIONS_KEPT_DAYS} days.`,
      { ...asked, revision: oldestRevision },
    );
  if (chain !== undefined && !asked.chains.some((one) => one.chain === chain))
    return invalid('chain', `The snapshot holds no blocks of ${chain}.`);
  return asked.chains.map((one) => refusalOfChain(one, snapshot)).find((refusal) => refusal !== null) ?? null;
}

function refusalOfChain(asked: SnapshotChain, snapshot: Snapshot): Failure | Error | null {
  const held = snapshot.chains.find(({ chain }) => chain === asked.chain);
  if (held === undefined) return gone(`${asked.chain} is not indexed here any more.`, snapshot);
  if (held.contracts !== asked.contracts)
    return gone(`other contracts are read on ${asked.chain} since, so its blocks hold other rows.`, snapshot);
  if (asked.to > held.to || asked.from < held.from)
    return invalid(
      PARAMETER,
      `Of ${asked.chain}, blocks ${held.from} to ${held.to} are final and indexed, not all of ${asked.from} to ${asked.to}.`,
    );
  return null;
}

function gone(why: string, oldest: Snapshot): Failure {
  return fail('snapshot_gone', {
    detail: `The snapshot cannot be answered: ${why} The oldest one that can: ${printSnapshot(oldest)}`,
  });
}
