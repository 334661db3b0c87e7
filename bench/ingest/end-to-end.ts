import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';
import type { BenchContext, BenchPart } from '../support/run-bench.ts';
import type { ChainHistory, SharedHistory } from './chain-history.ts';
import { indexHistory } from './index-history.ts';
import { installPonder, runPonder } from './ponder-peer.ts';
import { replay, startRecordingProxy } from './recording-proxy.ts';

const SETTLEMENTS = 100_000;
const SETTLEMENTS_QUICK = 10_000;
const ROUNDS = 3;
const ROUNDS_QUICK = 2;
const PONDER_GOAL = 10;
const FETCH_ONLY_GOAL = 1.5;

/** From a node's first answer to served rows, against Ponder and against a reader that discards the answers. */
export function endToEnd(shared: SharedHistory): BenchPart {
  return {
    name: 'end-to-end',
    summary: 'index a chain from anvil against Ponder, and against only fetching the same answers',
    async run(context) {
      const history = await shared(context);
      await history.growTo(context.quick ? SETTLEMENTS_QUICK : SETTLEMENTS);
      const own = await measureOurs(context, history);
      const ponder = await measurePonder(context, history);
      return figuresOf(history.settlements(), { ...own, ponder });
    },
  };
}

interface Milliseconds {
  /** Before the first block is read; as little counted as Ponder's. */
  readonly startUp: number;
  readonly ours: number;
  readonly fetchOnly: number;
  /** Undefined where Ponder cannot be installed. */
  readonly ponder: number | undefined;
}

/** One run through a recorder, which also warms up, then our worker and the bare replay of its calls in turn. */
async function measureOurs(
  { quick, workspace, say }: BenchContext,
  history: ChainHistory,
): Promise<Omit<Milliseconds, 'ponder'>> {
  const settlements = history.settlements();
  const rounds = quick ? ROUNDS_QUICK : ROUNDS;
  const proxy = await startRecordingProxy(workspace, history.chain.url);
  await indexHistory(workspace, { name: 'recorded', rpcUrl: proxy.url, settlements });
  const recording = proxy.recording();
  const startUp: number[] = [];
  const ours: number[] = [];
  const fetchOnly: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const asked = { name: `round-${round}`, rpcUrl: history.chain.url, settlements };
    const { startUpMs, syncMs } = await indexHistory(workspace, asked);
    startUp.push(startUpMs);
    ours.push(syncMs);
    fetchOnly.push(await replay(history.chain.url, recording));
    say(
      `round ${round}: started in ${seconds(startUpMs)}, indexed in ${seconds(syncMs)}, the ${recording.requests.length} requests alone took ${seconds(fetchOnly.at(-1))}`,
    );
  }
  return { startUp: median(startUp), ours: median(ours), fetchOnly: median(fetchOnly) };
}

async function measurePonder(context: BenchContext, history: ChainHistory): Promise<number | undefined> {
  const problem = await installPonder(context);
  if (problem !== undefined) {
    context.say(`Ponder cannot be installed, so only the fetch-only bound counts: ${problem}`);
    return undefined;
  }
  const { ms, settlements } = await runPonder(context, history);
  if (settlements !== history.settlements()) {
    throw new Error(
      `Ponder indexed ${settlements} of ${history.settlements()} settlements: not the same work`,
    );
  }
  context.say(`Ponder: ${seconds(ms)}`);
  return ms;
}

/** One of the two goals suffices: both lines are ok when either holds, so that the exit code is right. */
function figuresOf(settlements: number, { startUp, ours, fetchOnly, ponder }: Milliseconds): Figure[] {
  const rate = (ms: number): number => settlements / (ms / 1000);
  const overFetching = ours / fetchOnly;
  const overPonder = ponder === undefined ? undefined : ponder / ours;
  const ok = overFetching <= FETCH_ONLY_GOAL || (overPonder !== undefined && overPonder >= PONDER_GOAL);
  const shown = { unit: 'rows/s', goal: '-', ok: true };
  return [
    { ...shown, name: 'end-to-end-start-up', value: startUp, unit: 'ms' },
    { name: 'end-to-end', value: rate(ours), ...shown },
    { name: 'end-to-end-fetch-only', value: rate(fetchOnly), ...shown },
    ...(ponder === undefined ? [] : [{ name: 'end-to-end-ponder', value: rate(ponder), ...shown }]),
    ...(overPonder === undefined
      ? []
      : [
          {
            name: 'end-to-end-against-ponder',
            value: overPonder,
            unit: 'x',
            goal: `>=${PONDER_GOAL}|fetch<=${FETCH_ONLY_GOAL}`,
            ok,
          },
        ]),
    {
      name: 'end-to-end-time-against-fetch-only',
      value: overFetching,
      unit: 'x',
      goal: `<=${FETCH_ONLY_GOAL}|ponder>=${PONDER_GOAL}`,
      ok,
    },
  ];
}

function seconds(ms: number | undefined): string {
  return `${((ms ?? 0) / 1000).toFixed(2)} s`;
}
