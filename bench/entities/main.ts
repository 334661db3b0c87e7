import { loadFor, startBare } from '../gate/account-rate.ts';
import { diskFigures, shown } from '../scale/index-size.ts';
import type { Figure } from '../support/figure.ts';
import { type BenchContext, runBench } from '../support/run-bench.ts';
import { type Asked, askQuestion, figuresOf } from './ask-questions.ts';
import { measureFeedDepth } from './feed-depth.ts';
import { type Lab, openLab, POSTGRES_ROWS_MAX } from './lab.ts';
import { PostgresMissing, startPostgres } from './postgres-cluster.ts';
import { loadPostgres, type PostgresCopy } from './postgres-load.ts';
import { openSession, type PostgresSession } from './postgres-session.ts';
import { questionsOf } from './questions.ts';
import { measureUpkeep } from './upkeep.ts';

const MILLION = 1_000_000;
const NEWEST_RATE_GOAL = 5_000;
const RATE_MS = 5_000;
const RATE_MS_QUICK = 1_000;

async function market(context: BenchContext): Promise<Figure[]> {
  const lab = await openLab(context);
  const isCompared = lab.rows <= POSTGRES_ROWS_MAX;
  if (!isCompared) context.say(`PostgreSQL is left out above ${POSTGRES_ROWS_MAX / MILLION} million rows`);
  const peer = isCompared ? await openPeer(lab, context) : undefined;
  const asked = await askAll(lab, peer?.session, context);
  const depth = await measureFeedDepth(context, lab);
  const rate = await rateOf(lab, context);
  const stored = await storedFigures(lab, peer?.copy);
  const upkeep = await measureUpkeep(lab, peer?.session, context);
  await peer?.close();
  return [
    ...asked.flatMap((one) => figuresOf(one, lab.rows)),
    ...rate,
    ...depth,
    ...stored,
    ...upkeep,
    ...(isCompared ? [measuredFigure(peer !== undefined)] : []),
  ];
}

function measuredFigure(ok: boolean): Figure {
  return { name: 'postgres-measured', value: ok ? 1 : 0, unit: 'runs', goal: '>=1', ok };
}

/**
 * Newest pages a second of the one process that also measures, over 64 connections of another one, against a route of a bare Fastify
 * that returns the same bytes. The first round of each only warms up.
 */
async function rateOf({ api, clock }: Lab, { quick, workspace }: BenchContext): Promise<Figure[]> {
  clock.swing();
  const ms = quick ? RATE_MS_QUICK : RATE_MS;
  const path = '/v0/flows?limit=50';
  const page = await fetch(`${api.url}${path}`, { headers: { 'x-api-key': api.key } });
  const bareUrl = await startBare(workspace, '/v0/flows', await page.text());
  const targets = [api.url, bareUrl].map((url) => ({ url: `${url}${path}`, key: api.key }));
  const rates: number[] = [];
  for (const target of [...targets, ...targets]) rates.push((await loadFor(target, ms)).rate);
  const [rate = 0, bare = 0] = rates.slice(targets.length);
  const ok = rate >= NEWEST_RATE_GOAL;
  return [
    { name: 'newest-flows-rate', value: rate, unit: 'requests/s', goal: `>=${NEWEST_RATE_GOAL}`, ok },
    shown('newest-flows-bare-rate', bare, 'requests/s'),
    shown('newest-flows-against-bare', rate / bare, 'x'),
  ];
}

/** What the rows cost on disk and in time, and what PostgreSQL's copy of them does. */
async function storedFigures(lab: Lab, copy: PostgresCopy | undefined): Promise<Figure[]> {
  const { engine, rows, seedMs, closing } = lab;
  const disk = await diskFigures(engine, rows, '');
  const all = disk.find(({ name }) => name === 'disk-all')?.value ?? Number.NaN;
  const writeSeconds = (seedMs + closing.ms) / 1_000;
  return [
    ...disk,
    shown('write-seed-and-days', writeSeconds, 's'),
    ...(copy === undefined
      ? []
      : [
          shown('postgres-disk-all', copy.bytes / rows, 'B/settlement'),
          shown('postgres-disk-over-ours', copy.bytes / rows / all, 'x'),
          shown('postgres-write', copy.ms / 1_000, 's'),
          shown('postgres-write-over-ours', copy.ms / 1_000 / writeSeconds, 'x'),
        ]),
  ];
}

interface OpenPeer {
  readonly session: PostgresSession;
  readonly copy: PostgresCopy;
  close(): Promise<void>;
}

async function openPeer({ engine }: Lab, { workspace, say }: BenchContext): Promise<OpenPeer | undefined> {
  try {
    const cluster = await startPostgres(workspace);
    say(cluster.version);
    const session = openSession(workspace, cluster);
    const copy = await loadPostgres(engine.access, cluster, session, say);
    return { session, copy, close: () => cluster.remove() };
  } catch (error) {
    if (!(error instanceof PostgresMissing)) throw error;
    say(`not measured against PostgreSQL: ${error.message}`);
    return undefined;
  }
}

async function askAll(
  lab: Lab,
  postgres: PostgresSession | undefined,
  { quick, say }: BenchContext,
): Promise<Asked[]> {
  const answers: Asked[] = [];
  const { api, clock, engine } = lab;
  const questions = await questionsOf(lab);
  for (const [index, question] of questions.entries()) {
    say(`question ${index + 1} of ${questions.length}: ${question.name}`);
    const deps = { api, reader: engine.reader, clock, postgres, quick };
    answers.push(
      await askQuestion(question, deps).catch((error: unknown) => {
        // The other questions still run; without costs the figure of this one is short.
        say(error instanceof Error ? (error.stack ?? error.message) : String(error));
        return { question, costs: [], peerMs: undefined };
      }),
    );
  }
  return answers;
}

await runBench({
  name: 'entities',
  description:
    'Measures what a market asks, over 10 million synthetic settlements (--rows 50M for more) and against PostgreSQL 15 with the same rows.',
  parts: [{ name: 'market', summary: 'every question to us and to PostgreSQL, in turn', run: market }],
});
