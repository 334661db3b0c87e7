import type { SharedHistory } from '../ingest/chain-history.ts';
import { indexHistory } from '../ingest/index-history.ts';
import { startRecordingProxy } from '../ingest/recording-proxy.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext, BenchPart } from '../support/run-bench.ts';
import { fetchOnly } from './fetch-only.ts';
import { startWorkers } from './worker-processes.ts';

const SETTLEMENTS = 100_000;
const SETTLEMENTS_QUICK = 20_000;
const ROUNDS = 3;
const ROUNDS_QUICK = 1;
const WORKERS = 4;
const RATIO_GOAL = 1.7;
/** This close to the node's maximum there is nothing left to gain. */
const BOUND_GOAL = 0.9;

/**
 * One worker and four in turn over the same chain, each round on an empty database, and a reader that discards the answers: no number
 * of workers can be faster than that.
 */
export function sharedBackfill(shared: SharedHistory): BenchPart {
  return {
    name: 'backfill',
    summary: 'backfill by four ingest processes against one',
    async run(context) {
      const history = await shared(context);
      await history.growTo(context.quick ? SETTLEMENTS_QUICK : SETTLEMENTS);
      const settlements = history.settlements();
      const url = history.chain.url;
      const fetching = await recordFetching(context, url, settlements);
      const [one, many, source]: [number[], number[], number[]] = [[], [], []];
      for (let round = 1; round <= (context.quick ? ROUNDS_QUICK : ROUNDS); round++) {
        source.push(await fetching());
        one.push(await backfillBy(1, context, url, settlements, round));
        many.push(await backfillBy(WORKERS, context, url, settlements, round));
        context.say(
          `round ${round}: one ${seconds(one)}, ${WORKERS} ${seconds(many)}, the requests alone ${seconds(source)}`,
        );
      }
      return figuresOf(settlements, { one: median(one), many: median(many), source: median(source) });
    },
  };
}

/** The calls of one worker, to be sent again. */
async function recordFetching(
  { workspace }: BenchContext,
  url: string,
  settlements: number,
): Promise<() => Promise<number>> {
  const proxy = await startRecordingProxy(workspace, url);
  await indexHistory(workspace, { name: 'recorded', rpcUrl: proxy.url, settlements });
  const recording = proxy.recording();
  return () => fetchOnly(workspace, url, recording);
}

async function backfillBy(
  count: number,
  context: BenchContext,
  rpcUrl: string,
  settlements: number,
  round: number,
): Promise<number> {
  const workers = await startWorkers(context.workspace, { name: `by-${count}-${round}`, count, rpcUrl });
  try {
    return await workers.backfill(settlements);
  } finally {
    await workers.stop();
  }
}

function figuresOf(
  settlements: number,
  { one, many, source }: { readonly one: number; readonly many: number; readonly source: number },
): Figure[] {
  const rate = (ms: number): number => settlements / (ms / 1_000);
  const ratio = one / many;
  const ofBound = source / many;
  const goal = `>=${RATIO_GOAL}|of-the-bound>=${BOUND_GOAL}`;
  const ok = ratio >= RATIO_GOAL || ofBound >= BOUND_GOAL;
  const shown = { unit: 'rows/s', goal: '-', ok: true };
  return [
    { name: 'backfill-one-worker', value: rate(one), ...shown },
    { name: 'backfill-four-workers', value: rate(many), ...shown },
    { name: 'backfill-source-bound', value: rate(source), ...shown },
    { name: 'backfill-four-of-the-bound', value: ofBound, unit: 'x', goal: '-', ok: true },
    { name: 'backfill-four-against-one', value: ratio, unit: 'x', goal, ok },
  ];
}

function seconds(all: readonly number[]): string {
  return `${((all.at(-1) ?? 0) / 1_000).toFixed(2)} s`;
}
