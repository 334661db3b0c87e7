import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../core/log.ts';
import { whatToOpen } from '../src/what-to-open.ts';
import { SAMPLE_DAYS } from './history/sample-world.ts';
import { createLive, type Live } from './live.ts';
import { closeBooks, HISTORY_SHARE, runOnce } from './once.ts';
import type { DemoOptions } from './options.ts';
import { lateProgress, showProgress, showStatus } from './progress.ts';
import { openStage, type Stage } from './stage.ts';
import { isTrue, type Outcome, summarize } from './summary.ts';

/** Enough for pages and a backfill to look at, few enough that the first answer is not kept waiting, and blocks enough for some to be final. */
const CONTINUOUS_HISTORY = 700;

/** Runs the demo until it has to end; the caller stops what it started, by `cleanups`. Resolves with whether every check passed. */
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
  const failed = [...outcome.purchases.failed, ...outcome.solana.failed];
  for (const failure of failed) process.stderr.write(`purchase failed: ${failure}\n`);
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

async function statusLine({ client, traffic, chain }: Stage): Promise<string> {
  const { proven, probable, unproven, not_x402: notX402 } = traffic.ledger.tiers();
  const tiers = `proven ${proven}, probable ${probable}, unproven ${unproven}, not x402 ${notX402}`;
  const seen = await client.telemetry(chain).catch(() => null); // the line says so; the next one asks again
  if (seen === null)
    return `${traffic.ledger.count} settlements on the chain (${tiers}); the API does not answer`;
  const lag = seen.lag_seconds === null ? 'not started' : `lag ${seen.lag_seconds} s`;
  return `${traffic.ledger.count} settlements (${tiers}) | block ${seen.indexed_block} of ${seen.head_block}, ${lag} | ${seen.reorgs} reorgs`;
}

/** The text that the demo prints once everything runs: a few lines to try, what runs with it, and at the end what to open. */
export function welcome(stage: Stage, directory: string): string {
  const { sample, traffic, identities } = stage;
  const history = sample === null ? '' : `${SAMPLE_DAYS} days of sample data on three chains, `;
  return `
The demo runs: ${history}${traffic.ledger.count} settlements and ${identities.registered} agents of history, and a new block every second.

${linesToTry(stage)}
${partners(stage, directory)}
Ctrl-C stops everything and removes the data.
${whatToOpen(stage.service.url, accounts(stage))}`;
}

/** README's five, with the key of an organization that the demo made. */
function linesToTry({ service: { url }, apiKey, world, shops }: Stage): string {
  const withKey = `curl -s -H 'X-API-Key: ${apiKey}'`;
  const wallet = world.cast.merchants[0]?.address ?? '';
  const question =
    'SELECT evidence_tier, count() AS n, sum(amount_usd) AS usd FROM settlements GROUP BY evidence_tier ORDER BY usd DESC';
  const lines = [
    `${withKey} '${url}/v0/flows?limit=3'`,
    `${withKey} '${url}/v0/merchants/${wallet}'`,
    `${withKey} -H 'content-type: application/json' '${url}/v0/sql' -d '{"sql": "${question}"}'`,
    `curl -s '${url}/v0/endpoints?q=unit%20conversion'`,
    ...[...shops.examples, `${url}/v0/flows?limit=3`].map((goods) => `npm run demo:pay -- '${goods}'`),
  ];
  return `Try the newest payments, a seller's profile, SQL, what agents sell, and buying it with the test account, without a key:

${lines.map((line) => `  ${line}\n`).join('')}
More to try: ${url}/docs/quickstart
`;
}

function partners(
  { world, solana, facilitatorUrl, clickhouseUrl, shops, identities }: Stage,
  directory: string,
): string {
  return `With the API run:

  ClickHouse     ${clickhouseUrl} (for BI tools: any user, the API key as password, database default)
  chain          ${world.chain.url} (Base Sepolia's chain id, 84532)
  Solana         ${solana.market.node.url} (plays devnet, and is indexed; agents pay sellers there too)
  facilitator    ${facilitatorUrl}/supported (agents pay the API through it, to ${world.cast.api.address} and on Solana to ${solana.market.api})
  shops          ${shops.origin} (three of the directory’s endpoints that really sell)
  agents’ files  ${identities.host.origin} (cards and feedback, honest and hostile, and two bazaars)
  data and log   ${directory} (service.log)
`;
}

function accounts({ apiKey, world: { cast } }: Stage): [string, string][] {
  const { address, privateKey } = cast.visitor;
  return [
    ['API key', `${apiKey} (the console has one for visitors; enter this one there to save queries)`],
    ['test account', `${address} with a million USDC and gas money, for trying payments`],
    [
      'its key',
      `${privateKey} (of this local chain only, and known to all: never send it anything of value)`,
    ],
  ];
}

const MS_PER_MINUTE = 60_000;
const SECONDS_PER_MINUTE = 60;

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
  const closed = await closeBooks(stage);
  return {
    ...closed,
    wanted: null,
    history: null,
    purchases: live.purchases,
  };
}

/** The pace of the demo that runs on: a block a second. */
interface Pace {
  /** One block and what follows it, then waits for the next second. */
  step(): Promise<void>;
}

const BLOCK_EVERY_MS = 1_000;
const SETTLEMENTS_PER_BLOCK_MAX = 12;
/** About one reorg in 40 seconds, one purchase in three. */
const BLOCKS_PER_REORG = 40;
const BLOCKS_PER_PURCHASE = 3;
/**
 * The chain is open to visitors: a block that one mines between two of our calls, or a transaction from one of our addresses, makes a
 * step fail. So many failures in a row have another cause.
 */
const FAILURES_IN_A_ROW_MAX = 5;

function endlessLive(stage: Stage): Live {
  return createLive({ ...stage, blocksPerReorg: BLOCKS_PER_REORG, blocksPerPurchase: BLOCKS_PER_PURCHASE });
}

function createPace(stage: Stage, live: Live): Pace {
  const { traffic, world, log } = stage;
  let failures = 0;
  const tryStep = async (): Promise<void> => {
    try {
      await live.step(1 + traffic.random.below(SETTLEMENTS_PER_BLOCK_MAX));
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures >= FAILURES_IN_A_ROW_MAX) throw error;
      log.warn({ err: error }, 'a block could not be made; the chain is read anew');
      world.chain.sender.forget();
      await traffic.catchUp();
    }
  };
  return {
    async step() {
      const began = performance.now();
      await tryStep();
      await sleep(Math.max(0, BLOCK_EVERY_MS - (performance.now() - began)));
    },
  };
}
