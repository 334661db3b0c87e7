import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../support/quantiles.ts';
import type { Stage } from './stage.ts';

/** Memory over one stretch of load, MiB: resident sets as medians of samples, the heap after a collection at its end. */
export interface MemoryUse {
  readonly apiRss: number;
  readonly apiHeap: number;
  readonly engineRss: number;
  /** How late the API's event loop was, milliseconds. */
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
}

const SAMPLE_EVERY_MS = 500;
const KIB_PER_MIB = 1024;

/** Samples while `work` runs, then lets the service collect its garbage. */
export async function watchMemory<Result>(
  stage: Stage,
  work: Promise<Result>,
): Promise<{ readonly result: Result; readonly use: MemoryUse }> {
  const samples: { readonly api: number; readonly engine: number }[] = [];
  let isOver = false;
  const settle = (): void => {
    isOver = true;
  };
  work.then(settle, settle);
  const delays: { readonly p99: number; readonly max: number }[] = [];
  while (!isOver) {
    const { rss, loopP99Ms, loopMaxMs } = await stage.service.vitals(false);
    samples.push({ api: rss, engine: residentSetOf(stage.engine.pid()) });
    delays.push({ p99: loopP99Ms, max: loopMaxMs });
    await sleep(SAMPLE_EVERY_MS);
  }
  const result = await work;
  const { heap } = await stage.service.vitals(true);
  return {
    result,
    use: {
      apiRss: median(samples.map(({ api }) => api)),
      apiHeap: heap,
      engineRss: median(samples.map(({ engine }) => engine)),
      loopP99Ms: median(delays.map(({ p99 }) => p99)),
      loopMaxMs: Math.max(...delays.map(({ max }) => max)),
    },
  };
}

/** MiB. */
function residentSetOf(pid: number | undefined): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(stdout) / KIB_PER_MIB;
}
