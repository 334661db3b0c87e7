import { createLog } from '../core/log.ts';
import { createPace, endlessLive } from './endless.ts';
import { SAMPLE_DAYS } from './history/sample-world.ts';
import { runMinutes } from './minutes.ts';
import { HISTORY_SHARE, runOnce } from './once.ts';
import type { DemoOptions } from './options.ts';
import { lateProgress, showProgress, showStatus } from './progress.ts';
import { openStage, type Stage } from './stage.ts';
import { isTrue, type Outcome, summarize } from './summary.ts';
import { welcome } from './welcome.ts';

/** Enough for pages and a backfill to look at, few enough that the first answer is not kept waiting, and blocks enough for some to be final. */
const CONTINUOUS_HISTORY = 700;

/** Runs the demo until it has to end; whoever calls ends what it started, by `cleanups`. Answers whether all was as it should be. */
export async function play(
  options: DemoOptions,
  directory: string,
  cleanups: (() => Promise<void>)[],
): Promise<boolean> {
  const historySettlements =
    options.once === null ? CONTINUOUS_HISTORY : Math.max(1, Math.floor(options.once * HISTORY_SHARE));
  const progress = showProgress('payments before the start', historySettlements);
  const sample = lateProgress('sample history');
  const stage = await openStage({
    ...options,
    historySettlements,
    directory,
    cleanups,
    log: createLog('warn', 'demo'),
    say: (sentence) => process.stdout.write(`${sentence}\n`),
    progress(done) {
      progress.update(done);
      if (done === historySettlements) progress.finish();
    },
    sampleProgress: sample.update,
  });
  process.stdout.write(`first settlement served ${sinceStart(stage.firstServedMs)}\n`);
  if (stage.sample !== null) {
    sample.show();
    const rows = await Promise.race([stage.sample.written, stage.service.failed]);
    sample.finish();
    process.stdout.write(
      `${rows} rows of sample data on three chains, ${SAMPLE_DAYS} days, written ${sinceStart(performance.now())}\n`,
    );
  }
  return Promise.race([run(stage, options, directory), stage.service.failed]);
}

function sinceStart(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s after the start`;
}

function run(stage: Stage, { once, minutes }: DemoOptions, directory: string): Promise<boolean> {
  if (once !== null) return runOnce(stage, once).then(judge);
  process.stdout.write(welcome(stage, directory));
  return minutes === null ? runOn(stage) : runMinutes(stage, minutes).then(judge);
}

function judge(outcome: Outcome): boolean {
  process.stdout.write(`\n${summarize(outcome)}\n`);
  for (const failure of outcome.purchases.failed) process.stderr.write(`purchase failed: ${failure}\n`);
  if (isTrue(outcome)) return true;
  process.stderr.write(
    '\nThe API does not serve what survives on the chain, or did not sell what agents paid for.\n',
  );
  return false;
}

async function runOn(stage: Stage): Promise<never> {
  const pace = createPace(stage, endlessLive(stage));
  for (;;) {
    await pace.step();
    showStatus(await statusLine(stage));
  }
}

async function statusLine({ client, traffic }: Stage): Promise<string> {
  const { proven, probable, unproven, not_x402: notX402 } = traffic.ledger.tiers();
  const tiers = `proven ${proven}, probable ${probable}, unproven ${unproven}, not x402 ${notX402}`;
  const seen = await client.telemetry().catch(() => null); // the line says so; the next one asks again
  if (seen === null)
    return `${traffic.ledger.count} settlements on the chain (${tiers}); the API does not answer`;
  const lag = seen.lag_seconds === null ? 'not started' : `lag ${seen.lag_seconds} s`;
  return `${traffic.ledger.count} settlements (${tiers}) | block ${seen.indexed_block} of ${seen.head_block}, ${lag} | ${seen.reorgs} reorgs`;
}
