import { EngineError } from '../../../clickhouse/engine/engine.ts';
import type { RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import { systemClock } from '../../../core/clock.ts';
import { Failure } from '../../../core/errors.ts';
import { readRelayerTotals } from '../../../src/operations/facilitators/read.ts';
import { readCoverage } from '../../../src/operations/index-state/rollups.ts';
import { readFeed } from '../../../src/operations/settlements/feed.ts';
import { EVERY_SETTLEMENT } from '../../../src/operations/settlements/filters.ts';
import type { SettlementPage } from '../../../src/operations/settlements/slice-walk.ts';
import { createTails, TAIL_TIMES } from '../../../src/operations/settlements/tail.ts';
import { testLog } from '../engine.ts';
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
  const newest = createNewestPages(world, engine);
  return async (mustBeClosed) => {
    const truth = await recount(world.chains, world.catalogue());
    const { coverage, index, analysts, merged, unfound, pages } = await readOnce(engine, newest);
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
      ...differencesOf(
        { 'newest pages in memory': pages.memory },
        { 'newest pages in memory': pages.engine },
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
  /** The newest pages as memory and as the engine give them. */
  readonly pages: { readonly memory: Lines; readonly engine: Lines };
  /** Relayers from their merged totals; null while these do not hold. */
  readonly merged: Lines | null;
}

/** All of it from one life of the engine: a kill that was aimed at a write can come late and hit the reading. */
async function readOnce(engine: KillableEngine, newest: NewestPages): Promise<Reading> {
  const found: Reading[] = [];
  await eventually('the engine answers everything', async () => {
    const { reader } = engine;
    const coverage = await readCoverage(reader).catch(throwCause);
    const totals = await readRelayerTotals(reader, 'facilitators', coverage).catch(throwCause);
    const merged = totals === null ? null : await readMergedRelayers(reader, coverage, totals);
    const analysts = await readAnalystsView(reader);
    const unfound = await readUnfoundTransactions(reader);
    const pages = await newest().catch(throwCause);
    found.push({ coverage, index: await readIndex(reader, coverage), analysts, merged, unfound, pages });
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

type NewestPages = () => Promise<Reading['pages']>;

/** Above every time of the simulated chains: the walk goes down from there. */
const LATEST = 2 ** 32 - 1;
const PAGE_ROWS = 100;

/** The same memory for the whole simulation: it lives through every kill. */
function createNewestPages({ chains }: SimulatedWorld, { reader }: KillableEngine): NewestPages {
  const deps = { reader, clock: systemClock, newestTime: () => Promise.resolve(LATEST) };
  const times = { ...TAIL_TIMES, refreshAfterMs: 0, maxAgeMs: 0 };
  const tails = createTails({ ...deps, times, log: testLog, meter: null });
  return async () => {
    const [memory, engine] = [new Map<string, string>(), new Map<string, string>()];
    for (const chain of [undefined, ...chains.map((one) => one.chain)]) {
      const query = { chain, limit: PAGE_ROWS, before: undefined };
      const held = await tails.page({ ...query, finality: 'any' }, new Map());
      const read = await readFeed(deps, { ...EVERY_SETTLEMENT, ...query, final: undefined });
      memory.set(chain ?? 'all', textOf(held));
      engine.set(chain ?? 'all', textOf(read));
    }
    return { memory, engine };
  };
}

/** Every field of every row; memory always reaches that far. */
function textOf(page: SettlementPage | undefined): string {
  return (page?.rows ?? []).map((row) => Object.values(row).join(' ')).join('\n');
}
