import { readFileSync } from 'node:fs';
import { watchEventLoop } from '../support/event-loop.ts';
import type { Figure } from '../support/figure.ts';
import { type BenchContext, type BenchPart, runBench } from '../support/run-bench.ts';
import { agentQuestions } from './agent-questions.ts';
import { askRoute, type RouteQuestion } from './ask-route.ts';
import { attestationQuestions } from './attestation-questions.ts';
import { measureDerivations } from './derive-rates.ts';
import { directoryQuestions } from './directory-questions.ts';
import { type IdentityLab, openLab } from './lab.ts';

interface Derived {
  readonly lab: IdentityLab;
  readonly figures: readonly Figure[];
}

/** Filled by the first part that runs, so that each can run alone. */
let opened: Promise<Derived> | undefined;

function openDerived(context: BenchContext): Promise<Derived> {
  opened ??= openLab(context).then(async (lab) => ({ lab, figures: await measureDerivations(lab, context) }));
  return opened;
}

/** Asks questions of one kind in turn, and measures the process that answers them. */
function routes(
  name: string,
  summary: string,
  questionsOf: (
    lab: IdentityLab,
    quick: boolean,
  ) => readonly RouteQuestion[] | Promise<readonly RouteQuestion[]>,
): BenchPart {
  return {
    name,
    summary,
    async run(context) {
      const { lab } = await openDerived(context);
      const figures: Figure[] = [];
      const loop = watchEventLoop();
      for (const question of await questionsOf(lab, context.quick))
        figures.push(...(await askOne(lab, question, context)));
      const delay = loop.stop();
      const shown = { goal: '-', ok: true };
      return [
        ...figures,
        { name: `${name}-event-loop-p99`, value: delay.p99Ms, unit: 'ms', ...shown },
        { name: `${name}-event-loop-max`, value: delay.maxMs, unit: 'ms', ...shown },
        { name: `${name}-api-rss-max`, value: delay.rssMaxMib, unit: 'MiB', ...shown },
        { name: `${name}-engine-rss`, value: residentMib(lab.engine.pid()), unit: 'MiB', ...shown },
      ];
    },
  };
}

/** A question that fails does not end the others. */
async function askOne(lab: IdentityLab, question: RouteQuestion, context: BenchContext): Promise<Figure[]> {
  try {
    return await askRoute(lab, question, context);
  } catch (error) {
    context.say(`${question.name} failed: ${error instanceof Error ? error.message : String(error)}`);
    return [{ name: `${question.name}-answered`, value: 0, unit: 'runs', goal: '>=1', ok: false }];
  }
}

/** Of the engine's process, now. */
function residentMib(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

await runBench({
  name: 'identities',
  description:
    'Measures derivations and routes over 500,000 synthetic ERC-8004 agents, 5 million ratings and 100,000 priced resources.',
  parts: [
    {
      name: 'derive',
      summary: 'from events, cards, ratings and offers to what is listed',
      run: async (context) => (await openDerived(context)).figures,
    },
    routes('directory', '/endpoints, /capabilities and the names on /flows', directoryQuestions),
    routes('agents', '/agents, /agents/{wallet} and /leaderboard', agentQuestions),
    routes('attestations', '/attestations', attestationQuestions),
  ],
});
