import { showProgress } from '../../../demo/progress.ts';
import { describeCodes, describeReport } from './describe-report.ts';
import { fuzz } from './fuzz.ts';
import { startFuzzEngine } from './fuzz-engine.ts';
import { parseOptions } from './options.ts';

/** `npm run fuzz -- sql`: ends with 0 when nothing was found, with 1 when something was. */

/** 128 + SIGINT, as shells count. */
const EXIT_INTERRUPTED = 130;

const { seed, seconds, cases, verbose } = parseOptions(process.argv);
process.stdout.write(`seed ${seed}, ${seconds} s\n`);
const engine = await startFuzzEngine();
process.once('SIGINT', () => void engine.close().finally(() => process.exit(EXIT_INTERRUPTED)));
try {
  const progress = showProgress('seconds', seconds);
  const report = await fuzz(engine, {
    seed,
    seconds,
    casesMax: cases,
    onProgress: (elapsed) => progress.update(Math.min(seconds, Math.floor(elapsed))),
  });
  progress.finish();
  process.stdout.write(`${describeReport(report)}\n`);
  if (verbose) process.stdout.write(`${describeCodes(report)}\n`);
  process.exitCode = report.finding === null ? 0 : 1;
} finally {
  await engine.close();
}
