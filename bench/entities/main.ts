import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import { type BenchContext, runBench } from '../support/run-bench.ts';
import { type Asked, askQuestion, figuresOf } from './ask-questions.ts';
import { GROWTH, growLab, type Lab, openLab } from './lab.ts';
import { PostgresMissing, startPostgres } from './postgres-cluster.ts';
import { loadPostgres } from './postgres-load.ts';
import { openSession, type PostgresSession } from './postgres-session.ts';
import { questionsOf } from './questions.ts';
import { measureUpkeep } from './upkeep.ts';

const GROWTH_GOAL = 3;

/** Filled by the first part that runs, so that both can run alone. */
let opened: Lab | undefined;
let asked: readonly Asked[] | undefined;

async function againstPostgres(context: BenchContext): Promise<Figure[]> {
  opened ??= await openLab(context);
  const lab = opened;
  const peer = await openPeer(lab, context);
  asked = await askAll(lab, peer?.session, context);
  const upkeep = await measureUpkeep(lab, { stage: '', postgres: peer?.session }, context);
  await peer?.close();
  return [
    ...asked.flatMap((one) => figuresOf(one, '', !context.quick)),
    ...upkeep,
    ...(peer === undefined
      ? [{ name: 'postgres-measured', value: 0, unit: 'runs', goal: '>=1', ok: false }]
      : []),
  ];
}

interface OpenPeer {
  readonly session: PostgresSession;
  close(): Promise<void>;
}

async function openPeer({ engine }: Lab, { workspace, say }: BenchContext): Promise<OpenPeer | undefined> {
  try {
    const cluster = await startPostgres(workspace);
    say(cluster.version);
    const session = openSession(workspace, cluster);
    await loadPostgres(engine.access, cluster, session, say);
    return { session, close: () => cluster.remove() };
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

async function growth(context: BenchContext): Promise<Figure[]> {
  opened ??= await openLab(context);
  const lab = opened;
  asked ??= await askAll(lab, undefined, context);
  const grown = await growLab(lab, context);
  const before = new Map(asked.map((one) => [one.question.name, one]));
  const after = await askAll(grown, undefined, context);
  return [
    ...after.flatMap((one) => [
      ...figuresOf(one, '-grown', !context.quick),
      growthOf(before.get(one.question.name), one, !context.quick),
    ]),
    ...(await measureUpkeep(grown, { stage: '-grown', postgres: undefined }, context)),
  ];
}

function growthOf(before: Asked | undefined, after: Asked, judged: boolean): Figure {
  const [was, is] = [before, after].map((one) => median((one?.costs ?? []).map(({ totalMs }) => totalMs)));
  const value = (is ?? Number.NaN) / (was ?? Number.NaN);
  const isJudged = judged && after.question.bounded;
  return {
    name: `${after.question.name}-growth`,
    value,
    unit: 'x',
    goal: isJudged ? `<=${GROWTH_GOAL}` : '-',
    ok: !isJudged || value <= GROWTH_GOAL,
  };
}

await runBench({
  name: 'entities',
  description: `Measures the routes about wallets at 10 million synthetic settlements against PostgreSQL 15, and at ${GROWTH} times as many.`,
  parts: [
    { name: 'peer', summary: 'every question to us and to PostgreSQL, in turn', run: againstPostgres },
    { name: 'growth', summary: `the same questions with ${GROWTH} times the rows`, run: growth },
  ],
});
