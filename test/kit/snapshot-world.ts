import type { Reader, Writer } from '../../clickhouse/engine/engine.ts';
import type { Catalogue } from '../../ingest/grading/catalogue.ts';
import type { UngradedSettlement } from '../../ingest/grading/grade.ts';
import { sweepPasses } from '../../ingest/grading/regrade/regrade.ts';
import { contractsName, createCheckpoints, type HeadRange } from '../../ingest/write/checkpoints.ts';
import { catalogueWith, found, type RegradeWorld, regradeWorld } from './regrade-world.ts';
import { BASE, hash, NOON, reportChain, wallet } from './rows.ts';

/** A chain whose blocks are written, recorded, made final, undone and graded anew, as ingest does it. */
export interface SnapshotWorld {
  readonly world: RegradeWorld;
  /** Writes blocks at the tip, one for each row, and records them. */
  grow(rows: readonly Partial<UngradedSettlement>[]): Promise<void>;
  /** All but so many of the newest blocks are final from now on. */
  finalize(unfinal: number): Promise<void>;
  /** Takes back all blocks that are not final. */
  reorg(): Promise<void>;
  /** Older blocks than any before. */
  backfill(rows: readonly Partial<UngradedSettlement>[]): Promise<void>;
  /** Publishes the catalogue; rows follow it with `sweep`. */
  publish(wanted: Catalogue): Promise<void>;
  sweep(): Promise<void>;
  /** Writes a block again that is final. */
  rewrite(block: number): Promise<void>;
  /** Reads other contracts from now on. */
  readOtherContracts(): Promise<void>;
  /** Hashes of the transactions of final blocks. */
  finalHashes(): readonly string[];
}

const FIRST_BLOCK = 1_000;
const SECONDS_A_BLOCK = 2;

export async function snapshotWorld(engine: {
  readonly reader: Reader;
  readonly writer: Writer;
}): Promise<SnapshotWorld> {
  const world = regradeWorld(engine);
  const { versions } = world.deps;
  const checkpointsFor = (contracts: string) =>
    createCheckpoints({ chain: BASE, contracts }, engine.writer, versions);
  const contracts = contractsName([wallet(0xc3)]);
  const checkpoints = checkpointsFor(contracts);
  let catalogue = catalogueWith();
  let rows: UngradedSettlement[] = [];
  let [start, end, final, forks] = [FIRST_BLOCK, FIRST_BLOCK - 1, FIRST_BLOCK - 1, 0];
  const head = (): HeadRange => ({ start: FIRST_BLOCK, end, hash: hash(end) });
  const at = (block: number, fields: Partial<UngradedSettlement>): UngradedSettlement =>
    found({
      ...fields,
      chain: BASE,
      blockNumber: block,
      blockTime: NOON + (block - FIRST_BLOCK) * SECONDS_A_BLOCK,
      txHash: hash(block * 100 + forks),
    });
  const write = async (written: readonly UngradedSettlement[]): Promise<void> => {
    await world.ingest(written, catalogue);
    rows = [...rows, ...written];
  };
  const report = () => reportChain(engine.writer, BASE, { finalized_block: String(final) });
  await checkpoints.saveHead(head());
  return {
    world,
    async grow(fields) {
      const from = end + 1;
      await write(fields.map((one, index) => at(from + index, one)));
      end += fields.length;
      await checkpoints.saveHead(head());
    },
    async finalize(unfinal) {
      final = Math.max(final, end - unfinal);
      await report();
    },
    async reorg() {
      const gone = rows.filter(({ blockNumber }) => blockNumber > final);
      rows = rows.filter(({ blockNumber }) => blockNumber <= final);
      end = Math.min(end, Math.max(final, FIRST_BLOCK - 1));
      forks += 1;
      await checkpoints.saveHead(head());
      await world.retract(gone, catalogue);
    },
    async backfill(fields) {
      const from = start - fields.length;
      await write(fields.map((one, index) => at(from + index, one)));
      await checkpoints.saveBackfill([{ from, to: start - 1, endHash: hash(start - 1) }]);
      start = from;
    },
    async publish(wanted) {
      await world.change(wanted);
      catalogue = wanted;
    },
    async sweep() {
      await sweepPasses(world.deps);
    },
    rewrite: async (block) => {
      await world.ingest(
        rows.filter(({ blockNumber }) => blockNumber === block),
        catalogue,
      );
    },
    readOtherContracts: () => checkpointsFor(contractsName([wallet(0xc4)])).saveHead(head()),
    finalHashes: () =>
      rows.filter(({ blockNumber }) => blockNumber <= final).map(({ txHash }) => String(txHash)),
  };
}
