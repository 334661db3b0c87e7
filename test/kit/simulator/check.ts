import { EngineError } from '../../../clickhouse/engine/engine.ts';
import type { RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import { Failure } from '../../../core/errors.ts';
import { readRelayerTotals } from '../../../src/operations/facilitators/read.ts';
import { readCoverage } from '../../../src/operations/index-state/rollups.ts';
import { readAnalystsView, readIndex, readMergedRelayers, readUnfoundTransactions } from '../index-totals.ts';
import { oracle } from '../oracle/oracle.ts';
import { differencesOf, type Lines, type Recount } from '../oracle/totals.ts';
import type { KillableEngine } from './engine.ts';
import { eventually } from './processes.ts';
import type { SimulatedWorld } from './world.ts';

/** Compares every read path with the recount; throws what differs. `mustBeClosed`: the rollup tables alone have to answer. */
type TruthCheck = (mustBeClosed: boolean) => Promise<void>;

export function createTruthCheck(world: SimulatedWorld, engine: KillableEngine): TruthCheck {
  const recount = oracle.totals.recounter();
  return async (mustBeClosed) => {
    const truth = await recount(world.chains, world.catalogue());
    const { coverage, index, analysts, merged, unfound } = await readOnce(engine);
    const open = JSON.stringify(coverage.open);
    if (mustBeClosed && coverage.open.length !== 1) throw new Error(`still open after a full pass: ${open}`);
    if (mustBeClosed && merged === null)
      throw new Error('the totals of relayers do not hold after a full pass');
    const wrong = [
      ...differencesOf(index, truth),
      ...differencesOf(
        { 'settlements of analysts': analysts },
        { 'settlements of analysts': truth.settlements },
      ),
      ...differencesOf({ 'transactions by hash': unfound }, { 'transactions by hash': new Map() }),
      ...(merged === null
        ? []
        : differencesOf({ 'merged relayers': merged }, { 'merged relayers': truth.relayers })),
    ];
    if (wrong.length > 0) throw new Error([`the index is wrong, open is ${open}`, ...wrong].join('\n'));
  };
}

interface Reading {
  readonly coverage: RollupCoverage;
  readonly index: Recount;
  readonly analysts: Lines;
  /** Rows that no hash of a transaction leads to. */
  readonly unfound: Lines;
  /** Relayers from their merged totals; null while these do not hold. */
  readonly merged: Lines | null;
}

/** All of it from one life of the engine: a kill that was aimed at a write can come late and hit the reading. */
async function readOnce(engine: KillableEngine): Promise<Reading> {
  const found: Reading[] = [];
  await eventually('the engine answers everything', async () => {
    const { reader } = engine;
    const coverage = await readCoverage(reader).catch(throwCause);
    const totals = await readRelayerTotals(reader, 'facilitators', coverage).catch(throwCause);
    const merged = totals === null ? null : await readMergedRelayers(reader, coverage, totals);
    const analysts = await readAnalystsView(reader);
    const unfound = await readUnfoundTransactions(reader);
    found.push({ coverage, index: await readIndex(reader, coverage), analysts, merged, unfound });
    return true;
  });
  const [reading] = found;
  if (reading === undefined) throw new Error('nothing was read');
  return reading;
}

/** The engine's failure, for which the reading is repeated, instead of what the API would answer. */
function throwCause(error: unknown): never {
  throw error instanceof Failure && error.cause instanceof EngineError ? error.cause : error;
}
