import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../clickhouse/engine/sql.ts';
import { deriveDue } from '../../ingest/agents/derive.ts';
import type { Due } from '../../ingest/agents/statements.ts';
import { countActivity } from '../../ingest/endpoints/activity.ts';
import { deriveList } from '../../ingest/endpoints/list.ts';
import { benchLog } from '../support/bench-engine.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type IdentityLab, oneRow, type Used, usedBy } from './lab.ts';
import { BENCH_CHAINS } from './synthetic-agents.ts';
import { insertFeedback } from './synthetic-feedback.ts';

/** The cost of the identity worker, measured on the lab, which is derived afterwards. */

/** How old the changes of a pass may be. The worker's 300 seconds would include the seed itself. */
const RECENT_SECONDS = 5;
const LOOKS = 5;
const REPORT_EVERY_MS = 10_000;
type Context = Pick<BenchContext, 'quick' | 'say'>;
/** How the names of the statements begin. */
const DERIVE = 'agents-';
const DIRECTORY = 'endpoint-';

export async function measureDerivations(lab: IdentityLab, context: Context): Promise<Figure[]> {
  return [
    ...(await measureBacklog(lab, context)),
    ...(await measureLooks(lab, context)),
    ...(await measureDirectory(lab, context)),
  ];
}

/** Every agent is due. */
async function measureBacklog(lab: IdentityLab, context: Context): Promise<Figure[]> {
  let reported = performance.now();
  const { ms, cpuMs, rowsRead, result } = await usedBy(lab, DERIVE, async () => {
    let derived = 0;
    for (let some = await derive(lab); some > 0; some = await derive(lab)) {
      derived += some;
      if (performance.now() - reported < REPORT_EVERY_MS) continue;
      reported = performance.now();
      context.say(`${derived} of ${lab.size.agents} agents derived`);
    }
    return derived;
  });
  context.say(`${result} agents derived in ${(ms / 1_000).toFixed(1)} s`);
  await requireScores(lab, result);
  return [
    shown('derive-backlog', (result / ms) * 1_000, 'agents/s'),
    shown('derive-backlog-of-processor-time', (result / cpuMs) * 1_000, 'agents/s'),
    shown('derive-backlog-rows-read-per-agent', rowsRead / result, 'rows'),
  ];
}

/** A fast wrong score is no result: every rating that stands counts for its agent once. */
async function requireScores(lab: IdentityLab, derived: number): Promise<void> {
  const [agents, feedback] = await oneRow(
    lab,
    sql`SELECT count(), sum(feedback_count) FROM agents FINAL WHERE del = 0`,
  );
  const [standing] = await oneRow(
    lab,
    sql`SELECT countIf(kind = 'feedback') FROM (SELECT kind, feedback_index FROM attestations FINAL WHERE del = 0)
    WHERE feedback_index NOT IN (SELECT feedback_index FROM attestations FINAL WHERE del = 0 AND kind = 'revocation')`,
  );
  if (Number(agents) !== derived || derived !== lab.size.agents || Number(feedback) !== Number(standing))
    throw new Error(
      `${derived} of ${lab.size.agents} agents derived, ${feedback} ratings counted where ${standing} stand`,
    );
}

/** The looks of a worker that has caught up, and one more rating of the busiest agent. */
async function measureLooks(lab: IdentityLab, context: Context): Promise<Figure[]> {
  await sleep((RECENT_SECONDS + 1) * 1_000);
  const recent = { changedWithinSeconds: RECENT_SECONDS };
  const nothing = async (): Promise<void> => {};
  const idle = await look(lab, recent, 0, nothing);
  const full = await look(lab, 'all', 0, nothing);
  const busiest = await ratingsOfBusiest(lab);
  context.say(`the busiest agent has ${busiest} ratings`);
  const rated = await look(lab, recent, 1, (round) => rateBusiest(lab, round));
  // Its ratings once, with what their granules and those of its events bring along.
  const readBelow = busiest * 2;
  return [
    ...lookFigures('derive-nothing-recent', idle, context.quick ? undefined : lab.size.agents / 10),
    ...lookFigures('derive-nothing-full', full, undefined),
    ...lookFigures('derive-busiest', rated, context.quick ? undefined : readBelow),
    shown('derive-busiest-ratings', busiest, 'rows'),
  ];
}

function lookFigures(name: string, looks: readonly Look[], readBelow: number | undefined): Figure[] {
  const rowsRead = Math.max(...looks.map((one) => one.rowsRead));
  const read = shown(`${name}-rows-read-max`, rowsRead, 'rows');
  return [
    shown(`${name}-p50`, median(looks.map(({ ms }) => ms)), 'ms'),
    shown(`${name}-processor-p50`, median(looks.map(({ cpuMs }) => cpuMs)), 'ms'),
    readBelow === undefined ? read : { ...read, goal: `<${readBelow}`, ok: rowsRead < readBelow },
  ];
}

type Look = Used & { readonly ms: number };

/** Looks after `before` has changed something, each of which must derive `expected` agents. */
async function look(
  lab: IdentityLab,
  due: Due,
  expected: number,
  before: (round: number) => Promise<void>,
): Promise<Look[]> {
  const looks = [];
  for (let round = 0; round < LOOKS; round++) {
    await before(round);
    const used = await usedBy(lab, DERIVE, () => derive(lab, due));
    if (used.result !== expected)
      throw new Error(`${used.result} agents were derived where ${expected} changed`);
    looks.push(used);
  }
  return looks;
}

async function ratingsOfBusiest(lab: IdentityLab): Promise<number> {
  const [ratings] = await oneRow(lab, sql`SELECT max(feedback_count) FROM agents FINAL WHERE del = 0`);
  return Number(ratings);
}

/** One rating more, of the agent that the seed rates most. */
async function rateBusiest({ engine, feedback, versions, noon }: IdentityLab, round: number): Promise<void> {
  const [statement] = insertFeedback(
    { ...feedback, busiestOnly: true, firstTime: noon - 60, seconds: 60, rows: 1e12 },
    { from: feedback.rows + round, count: 1, ver: versions.next() },
  );
  if (statement !== undefined)
    await engine.writer.run({ name: 'bench-rate', sql: statement, maxSeconds: 60 });
}

/** The endpoint catalogue's own passes: from nothing, and when nothing has changed. */
async function measureDirectory(lab: IdentityLab, context: Context): Promise<Figure[]> {
  const { engine, versions, noon } = lab;
  const count = () =>
    countActivity(engine.writer, { chains: BENCH_CHAINS, nowMs: noon * 1_000, ver: versions.next() });
  const list = () => deriveList(engine.writer, () => versions.next());
  const used = (work: () => Promise<unknown>) => usedBy(lab, DIRECTORY, work);
  const [counted, listed] = [await used(count), await used(list)];
  const [countedAgain, listedAgain] = [await used(count), await used(list)];
  const [resources, active] = await oneRow(
    lab,
    sql`SELECT count(), countIf(settlement_count > 0) FROM endpoint_list FINAL WHERE del = 0`,
  );
  if (Number(resources) !== lab.size.resources || Number(active) === 0)
    throw new Error(`${resources} resources are listed of ${lab.size.resources}, ${active} with settlements`);
  context.say(`${resources} resources listed, ${active} of them paid in the last 30 days`);
  return [
    ...passFigures('count-activity', counted),
    ...passFigures('count-activity-unchanged', countedAgain),
    ...passFigures('derive-directory', listed),
    ...passFigures('derive-directory-unchanged', listedAgain),
  ];
}

function passFigures(name: string, { ms, cpuMs, rowsRead }: Look): Figure[] {
  return [
    shown(name, ms, 'ms'),
    shown(`${name}-processor`, cpuMs, 'ms'),
    shown(`${name}-rows-read`, rowsRead, 'rows'),
  ];
}

function shown(name: string, value: number, unit: string): Figure {
  return { name, value, unit, goal: '-', ok: true };
}

function derive({ engine, versions }: IdentityLab, due?: Due): Promise<number> {
  const { signal } = new AbortController();
  return deriveDue({ writer: engine.writer, versions, log: benchLog(), signal }, due);
}
