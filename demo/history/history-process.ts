import { loadConfig } from '../../core/config/load.ts';
import { createLog } from '../../core/log.ts';
import { readBootstrap } from '../../core/process/child-process.ts';
import { type Look, waitWhileItProgresses } from '../../core/process/standstill.ts';
import { castOf } from '../actors.ts';
import { seededRandom } from '../random.ts';
import type { HistoryBootstrap } from './history.ts';
import { listingSources } from './list-offers.ts';
import { planPayments } from './sample-payments.ts';
import { sampleChains } from './sample-world.ts';
import { writeHistory } from './write-history.ts';

/** Makes the sample history as a process of its own, so that the chain and its traffic go on during it. Ends when it is written. */

/** A plan of its own, whatever the live traffic draws. */
const SEED_STEP = 120;

async function main(): Promise<void> {
  const boot = await readBootstrap((json) => json as HistoryBootstrap); // written by startHistory, same type
  const random = seededRandom(boot.seed + SEED_STEP);
  const histories = sampleChains(castOf(boot.seed)).map((chain) => ({
    chain,
    payments: planPayments(chain, boot.endTime, random),
  }));
  const total = histories.reduce((sum, { payments }) => sum + payments.length, 0);
  const tell = (rows: number): void => void process.stderr.write(`rows ${rows} ${total}\n`);
  tell(0);
  // The variables of the operator's shell are not for the demo.
  const config = loadConfig({ file: boot.configFile, env: {} });
  const log = createLog('warn', 'history');
  await waitWhileItProgresses('the service follows its chain', () => isFollowing(boot.serviceUrl));
  const sources = listingSources({ config, log }).map(({ id }) => id);
  await waitWhileItProgresses('the service has read every listing', () => hasRead(boot.serviceUrl, sources));
  const rows = await writeHistory(
    {
      config,
      log,
      signal: new AbortController().signal,
      wrote: tell,
    },
    histories,
    boot.endTime,
  );
  if (rows !== total) throw new Error(`${total} sample payments were planned and ${rows} written`);
}

/** The tables must be there, and a catalogue published: both are once ingest reports its chains. */
async function isFollowing(url: string): Promise<Look> {
  const response = await fetch(`${url}/v0/telemetry`);
  // Pinned by the service's tests.
  const { chains = [] } = (await response.json()) as {
    chains?: readonly { state: string; indexed_block: number | null }[];
  };
  const [chain] = chains;
  return {
    done: response.ok && chain?.state === 'following',
    at: `${response.status}, ${chain?.state} at block ${chain?.indexed_block}`,
  };
}

/** Ingest stores new listings as of now, so the first reading must be over before they are backdated. */
async function hasRead(url: string, ids: readonly string[]): Promise<Look> {
  const response = await fetch(`${url}/v0/endpoints?limit=1`);
  if (!response.ok) return { done: false, at: `status ${response.status}` };
  const { meta } = (await response.json()) as { meta: { sources: readonly { source: string }[] } }; // likewise
  const read = new Set(meta.sources.map(({ source }) => source));
  return { done: ids.every((id) => read.has(id)), at: `${read.size} of ${ids.length} sources` };
}

await main();
process.exit(0);
