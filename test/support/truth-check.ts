import { readCoverage } from '../../src/reads/rollup-coverage.ts';
import { readIndex } from './index-totals.ts';
import type { KillableEngine } from './killable-engine.ts';
import { createRecounter, type Lines, type Recount } from './recount.ts';
import { eventually } from './simulated-ingest.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** Compares every read path with the recount; throws what differs. `mustBeClosed`: the rollup tables alone have to answer. */
export type TruthCheck = (mustBeClosed: boolean) => Promise<void>;

const DIFFERENCES_SHOWN_MAX = 5;
const PARTS = ['settlements', 'walletLog', 'payees', 'payers', 'relayers', 'chainHours'] as const;

export function createTruthCheck(world: SimulatedWorld, engine: KillableEngine): TruthCheck {
  const recount = createRecounter();
  return async (mustBeClosed) => {
    await eventually('the engine answers', async () => {
      await engine.reader.ping();
      return true;
    });
    const coverage = await readCoverage(engine.reader);
    const open = JSON.stringify(coverage.open);
    if (mustBeClosed && coverage.open.length !== 1) throw new Error(`still open after a full pass: ${open}`);
    const truth = await recount(world.chains, world.catalogue());
    const index = await readIndex(engine.reader, coverage);
    const wrong = PARTS.flatMap((part) => differences(part, index[part], truth[part]));
    if (wrong.length > 0) throw new Error([`the index is wrong, open is ${open}`, ...wrong].join('\n'));
  };
}

function differences(part: keyof Recount, index: Lines, truth: Lines): string[] {
  const keys = [...new Set([...index.keys(), ...truth.keys()])].filter(
    (key) => index.get(key) !== truth.get(key),
  );
  const shown = keys
    .slice(0, DIFFERENCES_SHOWN_MAX)
    .map((key) => `  ${key}\n    index ${index.get(key) ?? '-'}\n    truth ${truth.get(key) ?? '-'}`);
  return keys.length === 0 ? [] : [`${part}: ${keys.length} of ${truth.size} differ`, ...shown];
}
