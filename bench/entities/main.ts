import { dateTime, sql, uint64 } from '../../clickhouse/engine/sql.ts';
import { address } from '../../core/domain/account.ts';
import { isChain } from '../../core/domain/chains.ts';
import { mintCursor } from '../../core/domain/cursor.ts';
import { buildCatalogue } from '../../ingest/grading/catalogue.ts';
import { changeCatalogue, sweepPasses } from '../../ingest/grading/regrade/regrade.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import type { Cost } from '../lab/api.ts';
import { type BenchEngine, benchLog, numbersOf, rowOf, rowsOf } from '../lab/engine.ts';
import { closeOne, DAY_SECONDS, diskFigures } from '../lab/history.ts';
import { loadAgainstBare } from '../lab/load.ts';
import { askEach, attempt, type Figure, inTurn, judged, median, shown, timed } from '../lab/measure.ts';
import { askQuestion, costFigures, type Effort, listed, requireSame } from '../lab/questions.ts';
import { type BenchContext, runBench } from '../lab/run.ts';
import { syntheticAddress } from '../lab/synthetic-rows.ts';
import { type Lab, openLab, POSTGRES_ROWS_MAX } from './lab.ts';
import { questionsOf } from './market-question.ts';
import { copyRows, type PostgresCopy, postgresPeer, startPostgres } from './postgres.ts';
import { MARKET } from './questions.ts';

/** Where the feed is entered, and the page that must come back. */
interface DeepPlace {
  readonly cursor: string;
  readonly expected: readonly string[];
}

const LIMIT = 50;
/** Below what a process keeps in memory; the newest page is a question of its own. */
const NEAR = 20_000;
const FAR = 1_000_000;
/** Of the rows there are, where there are few. */
const DEEP_SHARE_MAX = 0.6;
const PLACES = 5;
/** Apart by more than a granule, so that the pages do not share what they read. */
const PLACES_APART = { full: 37_011, quick: 3_011 };
const PAGE_ROUNDS = { full: 100, quick: 20 };
const FAR_OVER_NEAR_GOAL = 2;
const ROWS_READ_GOAL = 50_000;

/** Pages of /flows some way down against pages far down, taken in turn, so that both see the same machine. */
async function measureFeedDepth({ quick, sized, say }: BenchContext, lab: Lab): Promise<Figure[]> {
  const depth = Math.min(FAR, Math.floor(lab.rows * DEEP_SHARE_MAX));
  say(`feed: pages from ${NEAR} and from ${depth} rows down`);
  const readPages = async (from: number) => {
    const places: DeepPlace[] = [];
    while (places.length < PLACES)
      places.push(await findPlace(lab, from + places.length * sized(PLACES_APART)));
    return async (round: number): Promise<Cost> => {
      const { cursor, expected } = places[round % PLACES] as DeepPlace; // there are PLACES
      const { body, cost } = await lab.api.get(`/v0/flows?limit=${LIMIT}&before=${cursor}`);
      requireSame('a deep page', listed('flows', 'chain', 'tx_hash', 'log_index')(body), expected);
      return cost;
    };
  };
  const sides = { near: await readPages(NEAR), deep: await readPages(depth) };
  // Warm-up: one look at each place.
  const { near, deep } = await inTurn(sides, { warmUp: PLACES, rounds: sized(PAGE_ROUNDS) });
  // The granules of a small index hold many seconds.
  const goals = { rowsReadBelow: quick ? undefined : ROWS_READ_GOAL };
  const medianMs = (costs: readonly Cost[]): number => median(costs.map(({ totalMs }) => totalMs));
  return [
    ...costFigures('flows-near-page', near, goals),
    ...costFigures('flows-deep-page', deep, goals),
    judged('flows-deep-over-near', medianMs(deep) / medianMs(near), 'x', '<=', FAR_OVER_NEAR_GOAL),
  ];
}

/** By counting, the slow way: the row `depth` rows below the top, and the page after it. */
async function findPlace({ engine, api }: Lab, depth: number): Promise<DeepPlace> {
  const [anchor, ...page] = await rowsOf(
    engine,
    sql`SELECT toUnixTimestamp(block_time), chain, block_number, log_index, concat('0x', lower(hex(tx_hash)))
      FROM (SELECT * FROM settlements FINAL) WHERE del = 0
      ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC
      LIMIT ${uint64(LIMIT + 1)} OFFSET ${uint64(depth - 1)}`,
  );
  if (anchor === undefined || page.length !== LIMIT)
    throw new Error(`there are not ${depth} rows to go down`);
  const [blockTime = 0, blockNumber = 0, logIndex = 0] = [0, 2, 3].map((column) => Number(anchor[column]));
  const chain = String(anchor[1]);
  if (!isChain(chain)) throw new Error(`not a chain: ${chain}`);
  const position = { blockTime, chain, blockNumber, logIndex };
  return {
    cursor: mintCursor(api.cursorKeys, 'listFlows', position),
    expected: page.map(([, ofChain, , log, hash]) => `${ofChain} ${hash} ${log}`),
  };
}

const DAY_ROUNDS = 5;
/** One percent of all settlements, on the busiest chain. */
const RELAYER_RANK = sql`'20'`;
const RELAYER_CHAIN = 'eip155:8453';

/**
 * The cost of the workers: closing the history, recomputing one day, and naming one relayer. The last one leaves days dirty, so
 * this runs after every question.
 */
async function measureUpkeep(
  { engine, closing, todayStart }: Lab,
  { say }: Pick<BenchContext, 'say'>,
): Promise<Figure[]> {
  const dayStart = todayStart - DAY_SECONDS;
  const [rowsOfDay = 0] = await numbersOf(
    engine,
    sql`SELECT count() FROM settlements
      WHERE block_time >= ${dateTime(dayStart)} AND block_time < ${dateTime(todayStart)}`,
  );
  say(`computing a day of ${rowsOfDay} rows anew`);
  const recompute = () => timed(() => closeOne(engine.writer, { dayStart, hour: null }));
  const { ours } = await inTurn({ ours: recompute }, { rounds: DAY_ROUNDS });
  const dayMs = median(ours.map(({ ms }) => ms));
  say('naming one relayer');
  const [relayer] = await rowOf(
    engine,
    sql`SELECT concat('0x', lower(hex(${syntheticAddress('relayer', RELAYER_RANK)})))`,
  );
  const { ms, rows } = await regradeRelayer(engine, String(relayer));
  return [
    shown('close-all-days', closing.ms / 1_000, 's'),
    shown('close-slice', closing.ms / closing.slices, 'ms'),
    shown('recompute-day', dayMs, 'ms'),
    shown('recompute-day-rows', (rowsOfDay / dayMs) * 1_000, 'rows/s'),
    shown('regrade-relayer', ms, 'ms'),
    shown('regrade-relayer-changed', rows, 'rows'),
    shown('regrade-relayer-rows', (rows / ms) * 1_000, 'rows/s'),
  ];
}

/** Assigns the relayer to a facilitator from the first day on, as an edit of the catalogue does, and regrades all of its rows. */
async function regradeRelayer({ writer }: BenchEngine, relayer: string) {
  const { signal } = new AbortController();
  const deps = { writer, versions: createVersions(0n), log: benchLog(), signal };
  const relayers = [{ chain: RELAYER_CHAIN, address: address(relayer), firstSeen: '2020-01-01' }] as const;
  const facilitators = [{ id: 'bench', name: 'bench', builderCodes: [], relayers }];
  const catalogue = buildCatalogue({ facilitators, payees: [] }, { builtIn: [] });
  const { ms, result } = await timed(async () => {
    const { pass } = await changeCatalogue(deps, catalogue);
    return sweepPasses(deps, pass === null ? [] : [pass]);
  });
  return { ms, rows: result.rowsChanged };
}

const NEWEST_RATE_GOAL = 5_000;
const RATE_MS = { full: 5_000, quick: 1_000 };
const FULL: Effort = { rounds: 60, peerRounds: 60, asksMax: 100, msMax: 6_000, keptWarmUp: 300 };
const EFFORT = { full: FULL, quick: { ...FULL, rounds: 8, asksMax: 4, msMax: 800 } };

async function market(context: BenchContext): Promise<Figure[]> {
  const { workspace, say } = context;
  const lab = await openLab(context);
  const isCompared = lab.rows <= POSTGRES_ROWS_MAX;
  if (!isCompared) say(`PostgreSQL is left out above ${POSTGRES_ROWS_MAX / 1e6} million rows`);
  const figures: Figure[] = [];
  // Where it cannot be measured, the others still are.
  const peer = await attempt('postgres-measured', { figures, say }, async () => {
    if (!isCompared) return undefined;
    const postgres = await startPostgres(workspace);
    return { postgres, copy: await copyRows(lab.engine.access, postgres, say) };
  });
  if (peer !== undefined) figures.push(judged('postgres-measured', 1, 'runs', '>=', 1));
  const deps = { ...lab, peer: peer && postgresPeer(peer.postgres), effort: context.sized(EFFORT) };
  const asked = await askEach(await questionsOf(lab, MARKET), say, (question) => {
    say(`question: ${question.name}`);
    return askQuestion(question, deps);
  });
  await peer?.postgres.remove();
  const others = [
    { name: 'flows-deep', measure: () => measureFeedDepth(context, lab) },
    { name: 'newest-flows-rate', measure: () => rateOf(lab, context) },
    { name: 'disk', measure: () => storedFigures(lab, peer?.copy) },
    { name: 'upkeep', measure: () => measureUpkeep(lab, context) },
  ];
  figures.push(...asked, ...(await askEach(others, say, ({ measure }) => measure())));
  return figures;
}

/** Newest pages a second of the one process that also measures, over 64 connections of another one. */
async function rateOf({ api, clock }: Lab, { sized, workspace }: BenchContext): Promise<Figure[]> {
  clock.move();
  const target = { url: `${api.url}/v0/flows?limit=50`, key: api.key };
  const { ours, bare } = await loadAgainstBare(workspace, target, { roundMs: sized(RATE_MS), rounds: 1 });
  const [rate = Number.NaN, bareRate = Number.NaN] = [...ours, ...bare].map((speed) => speed.rate);
  return [
    judged('newest-flows-rate', rate, 'requests/s', '>=', NEWEST_RATE_GOAL),
    shown('newest-flows-bare-rate', bareRate, 'requests/s'),
    shown('newest-flows-against-bare', rate / bareRate, 'x'),
  ];
}

/** What the rows cost on disk and in time, and what PostgreSQL's copy of them does. */
async function storedFigures(lab: Lab, copy: PostgresCopy | undefined): Promise<Figure[]> {
  const { engine, rows, seedMs, closing } = lab;
  const disk = await diskFigures(engine, rows, '');
  const all = disk.find(({ name }) => name === 'disk-all')?.value ?? Number.NaN;
  const writeSeconds = (seedMs + closing.ms) / 1_000;
  const ours = [...disk, shown('write-seed-and-days', writeSeconds, 's')];
  if (copy === undefined) return ours;
  return [
    ...ours,
    shown('postgres-disk-all', copy.bytes / rows, 'B/settlement'),
    shown('postgres-disk-over-ours', copy.bytes / rows / all, 'x'),
    shown('postgres-write', copy.ms / 1_000, 's'),
    shown('postgres-write-over-ours', copy.ms / 1_000 / writeSeconds, 'x'),
  ];
}

await runBench({
  name: 'entities',
  description:
    'What a market asks, over 10 million settlements (--rows 50M for more), and the same of PostgreSQL 15.',
  parts: [{ name: 'market', summary: 'every question to us and to PostgreSQL, in turn', run: market }],
});
