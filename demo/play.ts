import { createLog } from '../core/log.ts';
import { createPace, endlessLive } from './endless.ts';
import { SAMPLE_DAYS } from './history/sample-world.ts';
import { runMinutes } from './minutes.ts';
import { HISTORY_SHARE, runOnce } from './once.ts';
import type { DemoOptions } from './options.ts';
import { lateProgress, showProgress, showStatus } from './progress.ts';
import { openStage, type Stage } from './stage.ts';
import { isTrue, type Outcome, summarize } from './summary.ts';

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

function welcome(stage: Stage, directory: string): string {
  const { service, world, apiKey, facilitatorUrl, traffic, identities, shops, sample } = stage;
  const { visitor } = world.cast;
  const wallet = world.cast.merchants[0]?.address ?? '';
  const withKey = `curl -s -H 'X-API-Key: ${apiKey}'`;
  return `
The demo runs: ${sample === null ? '' : `${SAMPLE_DAYS} days of sample data on three chains, `}${traffic.ledger.count} settlements and ${identities.registered} agents of history, and a new block every second.

  console        ${service.url}/console (it lends its visitors the key below: nothing to enter)
  API            ${service.url}/v0/flows
  description    ${service.url}/openapi.json
  health         ${service.url}/v0/telemetry
  chain          ${world.chain.url} (Base Sepolia's chain id, 84532)
  facilitator    ${facilitatorUrl}/supported (agents pay the API through it, to ${world.cast.api.address})
  shops          ${shops.origin} (three of the directory’s endpoints that really sell, see below)
  agents’ files  ${identities.host.origin} (cards and feedback, honest and hostile, and two bazaars)
  data and log   ${directory} (service.log)
  test account   ${visitor.address} with a million USDC and gas money, for trying payments
  its key        ${visitor.privateKey} (of this local chain only, and known to all: never send it anything of value)

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

Buy with the test account, in this directory (or with any x402 client and the key above); the directory lists what is for sale:

  curl -s '${service.url}/v0/endpoints?q=unit%20conversion'
${shops.examples.map((url) => `  npm run demo:pay -- '${url}'`).join('\n')}
  npm run demo:pay -- '${service.url}/v0/flows?limit=3'

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
