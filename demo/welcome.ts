import { whatToOpen } from '../src/what-to-open.ts';
import { SAMPLE_DAYS } from './history/sample-world.ts';
import type { Stage } from './stage.ts';

/** What the demo prints once everything runs: a few lines to try, what runs with it, and at the end what to open. */
export function welcome(stage: Stage, directory: string): string {
  const { sample, traffic, identities } = stage;
  const history = sample === null ? '' : `${SAMPLE_DAYS} days of sample data on three chains, `;
  return `
The demo runs: ${history}${traffic.ledger.count} settlements and ${identities.registered} agents of history, and a new block every second.

${linesToTry(stage)}
${partners(stage, directory)}
Ctrl-C stops everything and removes the data.
${whatToOpen(stage.service.url, testAccount(stage))}`;
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

function partners({ world, facilitatorUrl, shops, identities }: Stage, directory: string): string {
  return `With the API run:

  chain          ${world.chain.url} (Base Sepolia's chain id, 84532)
  facilitator    ${facilitatorUrl}/supported (agents pay the API through it, to ${world.cast.api.address})
  shops          ${shops.origin} (three of the directory’s endpoints that really sell)
  agents’ files  ${identities.host.origin} (cards and feedback, honest and hostile, and two bazaars)
  data and log   ${directory} (service.log)
`;
}

function testAccount({ world: { cast } }: Stage): [string, string][] {
  const { address, privateKey } = cast.visitor;
  return [
    ['test account', `${address} with a million USDC and gas money, for trying payments`],
    [
      'its key',
      `${privateKey} (of this local chain only, and known to all: never send it anything of value)`,
    ],
  ];
}
