import { setTimeout as sleep } from 'node:timers/promises';
import { watchEventLoop } from '../support/event-loop.ts';
import type { Figure } from '../support/figure.ts';
import { timed } from '../support/quantiles.ts';
import type { BenchContext } from '../support/run-bench.ts';
import { openGatedApi } from './gated-api.ts';
import { openStore, STORE_NAMES, type StoreName } from './stores.ts';

/** Many metered calls at once on a balance that is too small: how long they take together, and that no call beyond the balance is answered. */

const CALLS = 1_000;
const BALANCE_UNITS = 100;
const OVERLOADED = 503;
/** Far below `Retry-After`, because the bench measures the time of the burst. */
const AGAIN_AFTER_MS = 20;
const URL = '/v0/graph?window=100&wallet=0x00000000000000000000000000000000000000a1';

export async function measureBurst(context: BenchContext): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const name of STORE_NAMES) figures.push(...(await burst(name, context)));
  return figures;
}

async function burst(name: StoreName, context: BenchContext): Promise<Figure[]> {
  const api = await openGatedApi(await openStore(name, context), context);
  const { key, organizationId } = await api.newCustomer(BALANCE_UNITS);
  /** Most calls of such a burst get 503 and are repeated. */
  const call = async (with_: string): Promise<number> => {
    for (;;) {
      const headers = { 'x-api-key': with_ };
      const { statusCode } = await api.gated.inject({ method: 'GET', url: URL, headers });
      if (statusCode !== OVERLOADED) return statusCode;
      await sleep(AGAIN_AFTER_MS);
    }
  };
  for (let count = 0; count < BALANCE_UNITS; count++) await call(api.key);
  const loop = watchEventLoop();
  const { ms, result } = await timed(() => Promise.all(Array.from({ length: CALLS }, () => call(key))));
  const delay = loop.stop();
  const answered = result.filter((status) => status === 200).length;
  const refused = result.filter((status) => status === 402).length;
  const left = await api.store.units.balance(organizationId);
  context.say(`burst-${name}: ${answered} answered and ${refused} refused in ${ms.toFixed(0)} ms`);
  const isExact =
    answered === BALANCE_UNITS && refused === CALLS - BALANCE_UNITS && left?.spent === BALANCE_UNITS;
  return [
    {
      name: `burst-${name}-captured`,
      value: answered,
      unit: 'calls',
      goal: `=${BALANCE_UNITS}`,
      ok: isExact,
    },
    { name: `burst-${name}`, value: ms, unit: 'ms', goal: '-', ok: true },
    { name: `burst-${name}-event-loop-max`, value: delay.maxMs, unit: 'ms', goal: '-', ok: true },
    { name: `burst-${name}-event-loop-p99`, value: delay.p99Ms, unit: 'ms', goal: '-', ok: true },
  ];
}
