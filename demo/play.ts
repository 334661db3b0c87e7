import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../src/log.ts';
import { createLive } from './live.ts';
import { HISTORY_SHARE, runOnce } from './once.ts';
import type { DemoOptions } from './options.ts';
import { showProgress, showStatus } from './progress.ts';
import { openStage, type Stage } from './stage.ts';
import { isTrue, summarize } from './summary.ts';

/** Enough for pages and a backfill to look at, few enough that the first answer is not kept waiting. */
const CONTINUOUS_HISTORY = 600;
const BLOCK_EVERY_MS = 1_000;
const SETTLEMENTS_PER_BLOCK_MAX = 12;
/** About one reorg in 40 seconds, one purchase in three. */
const BLOCKS_PER_REORG = 40;
const BLOCKS_PER_PURCHASE = 3;

/** Runs the demo until it has to end; whoever calls ends what it started, by `cleanups`. Answers whether all was as it should be. */
export async function play(
  options: DemoOptions,
  directory: string,
  cleanups: (() => Promise<void>)[],
): Promise<boolean> {
  const historySettlements =
    options.once === null ? CONTINUOUS_HISTORY : Math.max(1, Math.floor(options.once * HISTORY_SHARE));
  const progress = showProgress('history', historySettlements);
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
  });
  process.stdout.write(
    `first settlement served ${(stage.firstServedMs / 1_000).toFixed(1)} s after the start\n`,
  );
  const run = options.once === null ? runOn(stage, directory) : check(stage, options.once);
  return Promise.race([run, stage.service.failed]);
}

async function check(stage: Stage, wanted: number): Promise<boolean> {
  const outcome = await runOnce(stage, wanted);
  process.stdout.write(`\n${summarize(outcome)}\n`);
  for (const failure of outcome.purchases.failed) process.stderr.write(`purchase failed: ${failure}\n`);
  if (isTrue(outcome)) return true;
  process.stderr.write(
    '\nThe API does not serve what survives on the chain, or did not sell what agents paid for.\n',
  );
  return false;
}

async function runOn(stage: Stage, directory: string): Promise<never> {
  process.stdout.write(welcome(stage, directory));
  const { traffic } = stage;
  const live = createLive({
    ...stage,
    blocksPerReorg: BLOCKS_PER_REORG,
    blocksPerPurchase: BLOCKS_PER_PURCHASE,
  });
  for (;;) {
    const began = performance.now();
    await live.step(1 + traffic.random.below(SETTLEMENTS_PER_BLOCK_MAX));
    showStatus(await statusLine(stage));
    await sleep(Math.max(0, BLOCK_EVERY_MS - (performance.now() - began)));
  }
}

function welcome(stage: Stage, directory: string): string {
  const { service, world, apiKey, facilitatorUrl, traffic, identities } = stage;
  const wallet = world.cast.merchants[0]?.address ?? '';
  const withKey = `curl -s -H 'X-API-Key: ${apiKey}'`;
  return `
The demo runs: ${traffic.ledger.count} settlements and ${identities.registered} agents of history, and a new block every second.

  console        ${service.url}/console (it lends its visitors the key below: nothing to enter)
  API            ${service.url}/v0/flows
  description    ${service.url}/openapi.json
  health         ${service.url}/v0/telemetry
  chain          ${world.chain.url} (Base Sepolia's chain id, 84532)
  facilitator    ${facilitatorUrl}/supported (agents pay the API through it, to ${world.cast.api.address})
  agents’ files  ${identities.host.origin} (cards and feedback, honest and hostile, and two bazaars)
  data and log   ${directory} (service.log)

Try, with the key of an organization that the demo made:

  ${withKey} '${service.url}/v0/account'
  ${withKey} '${service.url}/v0/flows?limit=3'
  ${withKey} '${service.url}/v0/transactions?min_probability=0.9&exclude_self_payments=true&limit=3'
  ${withKey} '${service.url}/v0/entities/${wallet}/settlements?limit=3'
  ${withKey} '${service.url}/v0/merchants/${wallet}'
  ${withKey} '${service.url}/v0/facilitators'
  ${withKey} '${service.url}/v0/graph?window=1000&max_edges=10'

Who is behind the wallets, by the ERC-8004 registries and their cards, and what they sell:

  ${withKey} '${service.url}/v0/agents?q=weather'
  ${withKey} '${service.url}/v0/leaderboard?limit=5'
  ${withKey} '${service.url}/v0/attestations?kind=feedback&limit=3'
  ${withKey} '${service.url}/v0/capabilities/web-search'
  curl -s '${service.url}/v0/capabilities?fields=compact'
  curl -s '${service.url}/v0/endpoints?limit=3'

SQL over the same data, and what a query would cost:

  ${withKey} -H 'content-type: application/json' '${service.url}/v0/sql' -d '{"sql": "SELECT payee, count() AS n, sum(amount_usd) AS usd FROM settlements GROUP BY payee ORDER BY usd DESC LIMIT 5"}'
  curl -s -H 'content-type: application/json' '${service.url}/v0/sql' -d '{"sql": "SELECT count() FROM settlements", "explain_only": true}'
  curl -s '${service.url}/v0/sql/schema?table=settlements'

Without it, what a call costs (402), what agents paid for such calls, and every price:

  curl -si '${service.url}/v0/flows'
  ${withKey} '${service.url}/v0/entities/${world.cast.api.address}/settlements?limit=3'
  curl -s '${service.url}/v0/account'

Ctrl-C stops everything and removes the data.

`;
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
