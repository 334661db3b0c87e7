import { createPace, endlessLive } from './endless.ts';
import { closeBooks } from './once.ts';
import { showProgress } from './progress.ts';
import type { Stage } from './stage.ts';
import type { Outcome } from './summary.ts';

const MS_PER_MINUTE = 60_000;
const SECONDS_PER_MINUTE = 60;
const CATCH_UP_TIMEOUT_MS = 60_000;
/** The slowest the audit may be; a longer run has more to compare. */
const AUDITED_ROWS_PER_SECOND = 500;

/** Runs the demo as `npm run demo` does for so long, visitors included, then compares everything with the chain. */
export async function runMinutes(stage: Stage, minutes: number): Promise<Outcome> {
  const live = endlessLive(stage);
  const pace = createPace(stage, live);
  const progress = showProgress('seconds', minutes * SECONDS_PER_MINUTE);
  const began = performance.now();
  for (let ms = 0; ms < minutes * MS_PER_MINUTE; ms = performance.now() - began) {
    await pace.step();
    progress.update(Math.floor(ms / 1_000));
  }
  progress.finish();
  await live.settleDown();
  const timeoutMs = CATCH_UP_TIMEOUT_MS + (stage.traffic.ledger.count / AUDITED_ROWS_PER_SECOND) * 1_000;
  const closed = await closeBooks(stage, performance.now() + timeoutMs);
  return {
    ...closed,
    wanted: null,
    history: null,
    purchases: live.purchases,
  };
}
