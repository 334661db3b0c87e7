import { setTimeout as sleep } from 'node:timers/promises';
import { type Sql, sql, text } from '../../clickhouse/engine/sql.ts';
import { deriveDue } from '../../ingest/agents/derive.ts';
import type { Due } from '../../ingest/agents/statements.ts';
import { countActivity } from '../../ingest/endpoints/activity.ts';
import { deriveList } from '../../ingest/endpoints/list.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { type BenchEngine, benchLog, numbersOf, rowOf, run } from '../lab/engine.ts';
import { askEach, type Figure, inTurn, judged, median, shown, timed } from '../lab/measure.ts';
import { processFigures, watchEventLoop } from '../lab/processes.ts';
import { askQuestion, type Question } from '../lab/questions.ts';
import { type BenchContext, type BenchPart, once, runBench } from '../lab/run.ts';
import { EFFORT, type IdentityLab, openLab, scanPeer } from './lab.ts';
import { agentRoutes, attestationRoutes, directoryRoutes } from './routes.ts';
import { BENCH_CHAINS, insertFeedback } from './synthetic.ts';

/** How old the changes of a look may be. The worker's 300 seconds would include the seed itself. */
const RECENT = { changedWithinSeconds: 5 };
const LOOKS = 5;
/** How the names of the statements begin. */
const AGENTS = 'agents-';
const DIRECTORY = 'endpoint-';

/** The cost of the passes of the identity worker, which leave the lab derived. */
async function measureDerivations(lab: IdentityLab, { quick, say }: BenchContext): Promise<Figure[]> {
  const { engine, size, feedback, noon } = lab;
  const { writer } = engine;
  const versions = createVersions(0n);
  const { signal } = new AbortController();
  const derive = (due?: Due) => deriveDue({ writer, versions, log: benchLog(), signal }, due);
  say('deriving every agent');
  const backlog = await usedBy(engine, AGENTS, async () => {
    while ((await derive()) > 0);
  });
  await sleep((RECENT.changedWithinSeconds + 1) * 1_000);
  /** A look of the worker after `before`, which has changed so many agents. */
  const look = (due: Due, changed: number, before: (round: number) => unknown) => async (round: number) => {
    await before(round);
    const used = await usedBy(engine, AGENTS, () => derive(due));
    if (used.result !== changed) throw new Error(`${used.result} agents derived, ${changed} changed`);
    return used;
  };
  const nothing = (): void => undefined;
  const rateBusiest = async (round: number): Promise<void> => {
    const later = { ...feedback, firstTime: noon - 60, seconds: 60, rows: 1e12 };
    const slice = { from: feedback.rows + round, count: 1, busiest: true, ver: versions.next() };
    for (const statement of insertFeedback(later, slice).slice(0, 1)) await run(engine, statement);
  };
  const recent = await inTurn({ nothing: look(RECENT, 0, nothing) }, { rounds: LOOKS });
  const full = await inTurn({ nothing: look('all', 0, nothing) }, { rounds: LOOKS });
  const busiest = await inTurn({ rated: look(RECENT, 1, rateBusiest) }, { rounds: LOOKS });
  say('counting what is paid, deriving the directory');
  const count = () =>
    countActivity(writer, { chains: BENCH_CHAINS, nowMs: noon * 1_000, ver: versions.next() });
  const list = () => deriveList(writer, () => versions.next());
  const ofDirectory = (work: () => Promise<unknown>) => () => usedBy(engine, DIRECTORY, work);
  const directory = await inTurn({ count: ofDirectory(count), list: ofDirectory(list) }, { rounds: 2 });
  const ratings = await requireDerived(lab);
  const judgedBelow = (rows: number) => (quick ? undefined : rows);
  return [
    shown('derive-backlog', (size.agents / backlog.ms) * 1_000, 'agents/s'),
    shown('derive-backlog-of-processor-time', (size.agents / backlog.cpuMs) * 1_000, 'agents/s'),
    shown('derive-backlog-rows-read-per-agent', backlog.rowsRead / size.agents, 'rows'),
    ...lookFigures('derive-nothing-recent', recent.nothing, judgedBelow(size.agents / 10)),
    ...lookFigures('derive-nothing-full', full.nothing, undefined),
    // Its ratings once, with what their granules and those of its events bring along.
    ...lookFigures('derive-busiest', busiest.rated, judgedBelow(ratings * 2)),
    shown('derive-busiest-ratings', ratings, 'rows'),
    ...passFigures('count-activity', directory.count),
    ...passFigures('derive-directory', directory.list),
  ];
}

/** A wrong score or listing would measure something else. Answers the ratings of the busiest agent. */
async function requireDerived({ engine, size }: IdentityLab): Promise<number> {
  // Every rating that stands counts for its agent once.
  const [agents, counted, busiest = 0, standing, resources, paid] = await numbersOf(
    engine,
    sql`SELECT count(), sum(feedback_count), max(feedback_count),
      (SELECT countIf(kind = 'feedback') FROM (SELECT kind, feedback_index FROM attestations FINAL WHERE del = 0)
        WHERE feedback_index NOT IN (SELECT feedback_index FROM attestations FINAL WHERE del = 0 AND kind = 'revocation')),
      (SELECT count() FROM endpoint_list FINAL WHERE del = 0),
      (SELECT countIf(settlement_count > 0) FROM endpoint_list FINAL WHERE del = 0) FROM agents FINAL WHERE del = 0`,
  );
  if (agents !== size.agents || counted !== standing || resources !== size.resources || paid === 0)
    throw new Error(
      `${agents} agents derived, ${counted} of ${standing} ratings counted, ${resources} resources, ${paid} of them paid`,
    );
  return busiest;
}

type Used = Omit<Awaited<ReturnType<typeof usedBy>>, 'result'>;

function lookFigures(name: string, looks: readonly Used[], readBelow: number | undefined): Figure[] {
  const read = Math.max(...looks.map(({ rowsRead }) => rowsRead));
  return [
    shown(`${name}-p50`, median(looks.map(({ ms }) => ms)), 'ms'),
    shown(`${name}-processor-p50`, median(looks.map(({ cpuMs }) => cpuMs)), 'ms'),
    judged(`${name}-rows-read-max`, read, 'rows', '<', readBelow),
  ];
}

/** From nothing, and when nothing has changed. */
function passFigures(name: string, passes: readonly Used[]): Figure[] {
  return passes.flatMap(({ ms, cpuMs, rowsRead }, pass) => {
    const named = pass === 0 ? name : `${name}-unchanged`;
    return [
      shown(named, ms, 'ms'),
      shown(`${named}-processor`, cpuMs, 'ms'),
      shown(`${named}-rows-read`, rowsRead, 'rows'),
    ];
  });
}

/** What the statements of `work` used, by the engine's own log: processor time is not stretched by a busy machine. */
async function usedBy<T>(engine: BenchEngine, prefix: string, work: () => Promise<T>) {
  const [from] = await rowOf(engine, sql`SELECT toString(now64(6))`);
  const { ms, result } = await timed(work);
  await run(engine, sql`SYSTEM FLUSH LOGS query_log`);
  const [rowsRead = 0, micros = 0] = await numbersOf(
    engine,
    sql`SELECT sum(read_rows), sum(ProfileEvents['OSCPUVirtualTimeMicroseconds']) FROM system.query_log
      WHERE type = 'QueryFinish' AND startsWith(log_comment, ${text(prefix)}) AND query_start_time_microseconds >= toDateTime64(${text(String(from))}, 6)`,
  );
  return { ms, result, rowsRead, cpuMs: micros / 1_000 };
}

/** Every part reads a lab that is derived. */
const derived = once(async (context) => {
  const lab = await openLab(context);
  return { lab, figures: await measureDerivations(lab, context) };
});

/** Asks questions of one kind in turn, and measures the process that answers them. */
function routes(
  name: string,
  summary: string,
  routesOf: (lab: IdentityLab, context: BenchContext) => Promise<readonly Question<Sql>[]>,
): BenchPart {
  return {
    name,
    summary,
    async run(context) {
      const { lab } = await derived(context);
      const effort = context.sized(EFFORT);
      const deps = { ...lab, peer: scanPeer(lab), effort };
      const loop = watchEventLoop();
      const figures = await askEach(await routesOf(lab, context), context.say, (question) => {
        context.say(question.name);
        // Few rows fit into a few granules: a small index is not judged.
        return askQuestion({ ...question, goals: context.quick ? {} : question.goals }, deps);
      });
      const delay = loop.stop();
      return [
        ...figures,
        shown(`${name}-event-loop-p99`, delay.p99Ms, 'ms'),
        shown(`${name}-event-loop-max`, delay.maxMs, 'ms'),
        shown(`${name}-api-rss-max`, delay.rssMaxMib, 'MiB'),
        shown(`${name}-engine-rss`, processFigures(lab.engine.pid()).residentMib, 'MiB'),
      ];
    },
  };
}

await runBench({
  name: 'identities',
  description: 'Derivations and routes over synthetic ERC-8004 agents, their ratings and priced resources.',
  parts: [
    {
      name: 'derive',
      summary: 'from events, cards, ratings and offers to what is listed',
      run: async (context) => (await derived(context)).figures,
    },
    routes('directory', '/endpoints, /capabilities and the names on /flows', directoryRoutes),
    routes('agents', '/agents, /agents/{wallet} and /leaderboard', agentRoutes),
    routes('attestations', '/attestations', attestationRoutes),
  ],
});
