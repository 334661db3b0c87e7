import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../clickhouse/sql.ts';
import { countActivity } from '../../ingest/catalogues/endpoints/count-activity.ts';
import { deriveList } from '../../ingest/catalogues/endpoints/derive-list.ts';
import { deriveDue } from '../../ingest/identities/derive-agents.ts';
import type { Due } from '../../ingest/identities/derive-sql.ts';
import { benchLog } from '../support/bench-engine.ts';
import type { Figure } from '../support/figure.ts';
import { median, timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { type IdentityLab, oneRow, rowsReadSoFar } from './lab.ts';
import { BENCH_CHAINS } from './synthetic-agents.ts';
import { insertFeedback } from './synthetic-feedback.ts';

/** What the identity worker pays, measured on the lab, which is derived afterwards. */

/** How long before a look its changes may lie: the worker takes 300 seconds, in which the seed itself would lie. */
const RECENT_SECONDS = 5;
const LOOKS = 5;
const REPORT_EVERY_MS = 10_000;
type Context = Pick<BenchContext, 'quick' | 'say'>;
const SHOWN = { goal: '-', ok: true };

export async function measureDerivations(lab: IdentityLab, context: Context): Promise<Figure[]> {
  return [
    ...(await measureBacklog(lab, context)),
    ...(await measureLooks(lab, context)),
    ...(await measureDirectory(lab, context)),
  ];
}

/** Every agent is due. */
async function measureBacklog(lab: IdentityLab, context: Context): Promise<Figure[]> {
  const began = performance.now();
  let reported = began;
  let derived = 0;
  for (let some = await derive(lab); some > 0; some = await derive(lab)) {
    derived += some;
    if (performance.now() - reported < REPORT_EVERY_MS) continue;
    reported = performance.now();
    context.say(`${derived} of ${lab.size.agents} agents derived`);
  }
  const ms = performance.now() - began;
  context.say(`${derived} agents derived in ${(ms / 1_000).toFixed(1)} s`);
  await requireScores(lab, derived);
  return [{ name: 'derive-backlog', value: (derived / ms) * 1_000, unit: 'agents/s', ...SHOWN }];
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
  const idle = await look(lab, recent, 0);
  const full = await look(lab, 'all', 0);
  const busiest = await ratingsOfBusiest(lab);
  const rated = [];
  for (let round = 0; round < LOOKS; round++) {
    await rateBusiest(lab, round);
    rated.push(await lookOnce(lab, recent, 1));
  }
  context.say(`the busiest agent has ${busiest} ratings`);
  const readMax = Math.max(...rated.map(({ rowsRead }) => rowsRead));
  // Its ratings, and what granules bring along; what is due is found by the same look as before.
  const readBelow = Math.ceil(busiest * 1.5 + idle.rowsRead + lab.size.agents / 10);
  return [
    { name: 'derive-nothing-recent-p50', value: idle.ms, unit: 'ms', ...SHOWN },
    { name: 'derive-nothing-recent-rows-read', value: idle.rowsRead, unit: 'rows', ...SHOWN },
    { name: 'derive-nothing-full-p50', value: full.ms, unit: 'ms', ...SHOWN },
    { name: 'derive-nothing-full-rows-read', value: full.rowsRead, unit: 'rows', ...SHOWN },
    { name: 'derive-busiest-p50', value: median(rated.map(({ ms }) => ms)), unit: 'ms', ...SHOWN },
    { name: 'derive-busiest-ratings', value: busiest, unit: 'rows', ...SHOWN },
    {
      name: 'derive-busiest-rows-read-max',
      value: readMax,
      unit: 'rows',
      ...(context.quick ? SHOWN : { goal: `<${readBelow}`, ok: readMax < readBelow }),
    },
  ];
}

async function look(
  lab: IdentityLab,
  due: Due,
  expected: number,
): Promise<{ readonly ms: number; readonly rowsRead: number }> {
  const looks = [];
  for (let round = 0; round < LOOKS; round++) looks.push(await lookOnce(lab, due, expected));
  return {
    ms: median(looks.map(({ ms }) => ms)),
    rowsRead: Math.max(...looks.map(({ rowsRead }) => rowsRead)),
  };
}

async function lookOnce(
  lab: IdentityLab,
  due: Due,
  expected: number,
): Promise<{ readonly ms: number; readonly rowsRead: number }> {
  const before = await rowsReadSoFar(lab);
  const { ms, result } = await timed(() => derive(lab, due));
  if (result !== expected) throw new Error(`${result} agents were derived where ${expected} changed`);
  return { ms, rowsRead: (await rowsReadSoFar(lab)) - before };
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
  const [counted, listed] = [await timed(count), await timed(list)];
  const [countedAgain, listedAgain] = [await timed(count), await timed(list)];
  const [resources, active] = await oneRow(
    lab,
    sql`SELECT count(), countIf(settlement_count > 0) FROM endpoint_list FINAL WHERE del = 0`,
  );
  if (Number(resources) !== lab.size.resources || Number(active) === 0)
    throw new Error(`${resources} resources are listed of ${lab.size.resources}, ${active} with settlements`);
  context.say(`${resources} resources listed, ${active} of them paid in the last 30 days`);
  return [
    { name: 'count-activity', value: counted.ms, unit: 'ms', ...SHOWN },
    { name: 'count-activity-unchanged', value: countedAgain.ms, unit: 'ms', ...SHOWN },
    {
      name: 'derive-directory',
      value: (lab.size.resources / listed.ms) * 1_000,
      unit: 'resources/s',
      ...SHOWN,
    },
    { name: 'derive-directory-unchanged', value: listedAgain.ms, unit: 'ms', ...SHOWN },
  ];
}

function derive({ engine, versions }: IdentityLab, due?: Due): Promise<number> {
  const { signal } = new AbortController();
  return deriveDue({ writer: engine.writer, versions, log: benchLog(), signal }, due);
}
