import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { trustedText } from '../../clickhouse/engine/sql.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import { knownChain } from '../../core/domain/networks.ts';
import { type Cast, castOf } from '../../demo/actors.ts';
import { planPayments } from '../../demo/history/sample-payments.ts';
import {
  FIRST_LIVE_BLOCK,
  SAMPLE_DAYS,
  type SampleChain,
  sampleChains,
  sampleOnlyChains,
  samplePayees,
} from '../../demo/history/sample-world.ts';
import { type ChainHistory, writePayments } from '../../demo/history/write-history.ts';
import { listedSellers, offerOf } from '../../demo/identities/offers.ts';
import { seededRandom } from '../../demo/random.ts';
import { countActivity, recordCount } from '../../ingest/endpoints/activity.ts';
import { offerTokens } from '../../ingest/endpoints/item.ts';
import { deriveList, WHOLE } from '../../ingest/endpoints/list.ts';
import { syncSource } from '../../ingest/endpoints/sync.ts';
import { PASS_LIMITS } from '../../ingest/rings/edges.ts';
import { ringPass } from '../../ingest/rings/pass.ts';
import { verdictPass } from '../../ingest/verdicts/pass.ts';
import { createVersions, highestVersion } from '../../ingest/write/versions.ts';
import { deriveAll, registerAgent } from './agents.ts';
import { testLog } from './engine.ts';
import { BUYER } from './market.ts';
import { attestation, insertAttestations } from './registry-rows.ts';
import { reportChain, wallet } from './rows.ts';

/**
 * A tenth of the sample data of `npm run demo`, at the end of a day that is always the same: payments on its three chains, decoded and graded
 * by the same code, the sellers of its own chain as agents with their offers, and ratings by their payers. Everything follows from
 * the demo's seed.
 */

/** 2 November 2026, 00:00 UTC. */
export const SAMPLE_NOW = Date.UTC(2026, 10, 2) / 1_000;

const SEED = 1;
/** As in demo/history/history-process.ts. */
const SEED_STEP = 120;
const DAY_SECONDS = 86_400;
const TENTH = 10;
const NOT_FINAL_BLOCKS = 900;
const RATERS_A_SELLER = 3;
/** Of every transaction, in wei. */
const FEE = { gasUsed: 60_000n, gasPrice: 5_000_000n, l1Fee: 123_456_789n } as const;
const COMMENTS = [
  'Fast, and the answer was right.',
  'Works, but slow at noon.',
  'Not what the card promises.',
] as const;

const { signal } = new AbortController();

export async function fillSampleData(writer: Writer): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-sample-'));
  try {
    await fill(writer, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function fill(writer: Writer, directory: string): Promise<void> {
  const cast = castOf(SEED);
  const config = configOf(cast, directory);
  const random = seededRandom(SEED + SEED_STEP);
  const histories = sampleChains(cast)
    .map(tenthOf)
    .map((chain) => ({
      chain,
      payments: planPayments(chain, SAMPLE_NOW, random),
    }));
  const versions = createVersions(await highestVersion(writer));
  await writePayments(
    { config, writer, versions, log: testLog, signal, wrote: () => undefined },
    histories,
    SAMPLE_NOW,
  );
  for (const { chain } of histories)
    await reportChain(writer, chainOf(chain.slug), {
      finalized_block: String(chain.lastBlock - NOT_FINAL_BLOCKS),
      indexed_block: String(chain.lastBlock),
      head_block: String(chain.lastBlock),
    });
  await fillAgents(writer, cast, histories);
  await fillOffers(writer, cast, config);
  await fillFees(writer);
  await ringPass(writer, { nowMs: SAMPLE_NOW * 1_000, limits: PASS_LIMITS });
  await verdictPass({ writer, log: testLog, signal, clock: { nowMs: () => SAMPLE_NOW * 1_000 } });
}

/** The same sellers and relayers, a tenth of the payers and payments: enough for every query, written in seconds. */
function tenthOf(chain: SampleChain): SampleChain {
  const payers = chain.payers.filter((payer, at) => at % TENTH === 0 || payer === BUYER);
  return { ...chain, payers, payments: Math.round(chain.payments / TENTH) };
}

function chainOf(slug: string) {
  const facts = knownChain(slug);
  if (facts === null || facts === undefined) throw new Error(`${slug} is no known chain`);
  return facts.chain;
}

/** The catalogue is read from the file again and again. */
function configOf(cast: Cast, directory: string): Config {
  const file = join(directory, 'settlement-index.config.json');
  const chain = 'base-sepolia';
  const own = cast.merchants.filter(({ catalogued }) => catalogued);
  const written = {
    dataDir: directory,
    chains: [{ chain, rpcUrls: [], sampleDataTo: FIRST_LIVE_BLOCK - 1 }, ...sampleOnlyChains(cast)],
    catalogue: {
      facilitators: cast.facilitators.map(({ id, name, relayers }) => ({
        id,
        name,
        relayers: relayers.map((address) => ({ chain, address, firstSeen: '2025-01-01' })),
      })),
      payees: [
        ...own.map(({ address, name, resource }) => ({ chain, address, name, resource })),
        ...samplePayees(cast),
      ],
    },
  };
  writeFileSync(file, JSON.stringify(written));
  return loadConfig({ file, env: {} });
}

/** The first sellers are agents, and each is rated by payers of its own and by one who paid nothing. */
async function fillAgents(writer: Writer, cast: Cast, histories: readonly ChainHistory[]): Promise<void> {
  const chain = chainOf('base-sepolia');
  const sellers = listedSellers(cast);
  for (const [at, seller] of sellers.entries()) {
    const { title, description, tags } = offerOf(seller);
    const services = [{ name: 'web', endpoint: seller.resource, version: '', skills: [], domains: [] }];
    await registerAgent(writer, {
      chain,
      agentId: BigInt(at),
      owner: seller.address,
      uri: `${seller.resource}/agent-card.json`,
      card: { name: title, description, services, capabilities: tags, x402Support: true },
    });
  }
  const payments = histories.find(({ chain: { slug } }) => slug === 'base-sepolia')?.payments ?? [];
  const ratings = sellers.flatMap((seller, at) => {
    const payers = [
      ...new Set(payments.filter(({ payee }) => payee === seller.address).map(({ payer }) => payer)),
    ];
    const raters = [...payers.slice(0, RATERS_A_SELLER - (at % RATERS_A_SELLER)), wallet(0x9999)];
    return raters.map((client, nth) => ({ at, client, value: BigInt(95 - 7 * nth - 2 * at), nth }));
  });
  const first = FIRST_LIVE_BLOCK - 10_000;
  await insertAttestations(
    writer,
    ratings.map(({ at, client, value, nth }, row) =>
      attestation({
        chain,
        agentId: BigInt(at),
        author: client,
        client,
        value,
        feedbackIndex: BigInt(nth + 1),
        blockNumber: first + row,
        blockTime: SAMPLE_NOW - (10_000 - row) * 2,
        uri: `https://feedback.example/${row}.json`,
      }),
    ),
  );
  await deriveAll(writer);
  await writer.run({
    name: 'sample-comments',
    maxSeconds: 30,
    sql: trustedText(`INSERT INTO feedback_files (chain, block_number, log_index, agent_id, client, status, comment, comment_rule, ver)
      SELECT chain, block_number, log_index, agent_id, client, 'good', [${COMMENTS.map((text) => `'${text}'`).join(', ')}][1 + block_number % ${COMMENTS.length}], 1, ver
      FROM attestations FINAL WHERE chain = '${chain}' AND block_number % 5 = 0`),
  });
}

/** Two sellers in three charge what they list; the others list a fifth more. */
async function fillOffers(writer: Writer, cast: Cast, config: Config): Promise<void> {
  const versions = createVersions(await highestVersion(writer));
  const chain = chainOf('base-sepolia');
  const asset = knownChain('base-sepolia')?.tokens[0]?.address;
  const items = listedSellers(cast).flatMap((seller, at) => {
    const { title, description, tags, paths, price } = offerOf(seller);
    const amount = String(at % 3 === 2 ? (price * 6n) / 5n : price);
    return paths.map((path) => ({
      resource: `${seller.resource}${path}`,
      type: 'http',
      x402Version: 2,
      lastUpdated: new Date(SAMPLE_NOW * 1_000).toISOString(),
      accepts: [
        { scheme: 'exact', network: chain, amount, asset, payTo: seller.address, maxTimeoutSeconds: 60 },
      ],
      serviceName: title,
      description,
      tags,
    }));
  });
  const nowMs = (): number => (SAMPLE_NOW - SAMPLE_DAYS * DAY_SECONDS) * 1_000;
  await syncSource(
    { writer, versions, tokens: offerTokens(config), nowMs, log: testLog, signal },
    {
      id: 'bazaar:northwind',
      kind: 'bazaar',
      host: '',
      mark: '',
      read: (take) => take(items).then(() => WHOLE),
    },
  );
  await countActivity(writer, { chains: [chain], nowMs: SAMPLE_NOW * 1_000, ver: versions.next() });
  await deriveList(writer, () => versions.next());
  await recordCount(writer, { nowMs: SAMPLE_NOW * 1_000, ver: versions.next() });
}

async function fillFees(writer: Writer): Promise<void> {
  const { gasUsed, gasPrice, l1Fee } = FEE;
  await writer.run({
    name: 'sample-fees',
    maxSeconds: 60,
    sql: trustedText(`INSERT INTO transaction_fees (block_time, chain, tx_hash, block_number, relayer, facilitator, settlement_count, settled_usd,
        gas_used, gas_price, l1_fee, fee, ver)
      SELECT block_time, chain, tx_hash, block_number, relayer, facilitator, count(), sum(amount_usd), ${gasUsed}, ${gasPrice}, ${l1Fee},
        ${gasUsed * gasPrice + l1Fee}, 1
      FROM settlements FINAL WHERE del = 0 GROUP BY block_time, chain, tx_hash, block_number, relayer, facilitator`),
  });
}
