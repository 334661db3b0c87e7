import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import { loadConfig } from '../../core/config/load.ts';
import { countActivity, recordCount } from '../../ingest/endpoints/activity.ts';
import { offerTokens } from '../../ingest/endpoints/item.ts';
import { deriveList, saveSourceState, WHOLE } from '../../ingest/endpoints/list.ts';
import { syncSource } from '../../ingest/endpoints/sync.ts';
import { createCheckpoints } from '../../ingest/write/checkpoints.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { deriveAll, registerAgent } from './agents.ts';
import { listedItem } from './bazaar.ts';
import { testLog } from './engine.ts';
import { BUYER, marketRows, RIVAL, SHOP } from './market.ts';
import { attestation, insertAttestations } from './registry-rows.ts';
import {
  BASE,
  hash,
  insertSettlements,
  nameFacilitator,
  ON_SOLANA,
  reportChain,
  SOLANA,
  settlement,
  solanaSettlement,
  wallet,
} from './rows.ts';

/** A market up to now with names, agents and a catalogue: something to look at on every page of the console. */

const DAY_SECONDS = 86_400;
export const SHOP_NAME = 'Weather by the call';
/** Its name and description are hostile: they stay text. */
export const HOSTILE_NAME = '<img src=x onerror=alert(1)>';
/** As tables round it. With its six decimals it is more than a double can hold once it is added up with others. */
export const LARGE_USD_TEXT = '$1,234,567.89';

export async function seedConsole(writer: Writer): Promise<void> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  await reportChain(writer, BASE, liveStatus(nowSeconds));
  const rows = marketRows(nowSeconds - (nowSeconds % DAY_SECONDS));
  await insertSettlements(writer, [...rows, ...newestRows(nowSeconds)]);
  await nameFacilitator(writer, 'coinbase', 'Coinbase');
  await seedAgents(writer);
  await seedCatalogue(writer, nowSeconds);
}

function liveStatus(nowSeconds: number) {
  const now = `toDateTime(${nowSeconds}, 'UTC')`;
  return {
    indexed_block: '5003',
    head_block: '5003',
    finalized_block: '5001',
    indexed_time: now,
    head_time: now,
    head_seen_at: now,
    last_written_at: now,
    updated_at: `toDateTime64(${nowSeconds}, 3, 'UTC')`,
    reorgs: '2',
    deepest_reorg: '3',
    dead_letters: '1',
  };
}

function newestRows(nowSeconds: number) {
  return [
    settlement({ blockNumber: 5_000, blockTime: nowSeconds - 40, payer: BUYER, payee: SHOP }),
    settlement({
      blockNumber: 5_001,
      blockTime: nowSeconds - 30,
      payer: BUYER,
      payee: wallet(0x77),
      amount: 1_234_567_890_123n,
      amountUsdMicros: 1_234_567_890_123n,
    }),
    settlement({ blockNumber: 5_002, blockTime: nowSeconds - 20, payer: RIVAL, payee: RIVAL }),
    settlement({
      blockNumber: 5_003,
      blockTime: nowSeconds - 10,
      payer: BUYER,
      payee: SHOP,
      facilitator: 'coinbase',
      method: 'facilitator_relay',
    }),
  ];
}

/** Between two slots of Solana. */
const SLOT_SECONDS = 0.4;

/** Two days of Solana as a deployment has them that reads the transactions of named fee payers alone. */
export async function readSolanaInPart(writer: Writer): Promise<void> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const newest = ON_SOLANA.slot;
  const slots = 2 * Math.floor(DAY_SECONDS / SLOT_SECONDS);
  const rows = [60, 7_200, 100_000].map((ago) =>
    solanaSettlement({
      blockTime: nowSeconds - ago,
      blockNumber: newest - Math.floor(ago / SLOT_SECONDS),
      facilitator: 'coinbase',
      method: 'facilitator_relay',
    }),
  );
  await insertSettlements(writer, rows);
  const block = String(newest);
  const at = { indexed_block: block, head_block: block, finalized_block: block };
  await reportChain(writer, SOLANA, { ...liveStatus(nowSeconds), ...at, reorgs: '0', deepest_reorg: '0' });
  const read = { chain: SOLANA, contracts: 'some', isPartial: true };
  await createCheckpoints(read, writer, createVersions(0n)).saveHead({
    start: newest - slots,
    end: newest,
    hash: hash(newest),
  });
}

/** One settlement more, newer than all. */
export async function settleNow(writer: Writer, micros: bigint): Promise<Settlement> {
  const row = settlement({
    blockNumber: 6_000,
    blockTime: Math.floor(Date.now() / 1_000),
    // Its own place in the block: another call adds another settlement.
    logIndex: Number(micros % 1_000_000_000n),
    payer: BUYER,
    payee: SHOP,
    amount: micros,
    amountUsdMicros: micros,
  });
  await insertSettlements(writer, [row]);
  return row;
}

async function seedAgents(writer: Writer): Promise<void> {
  await registerAgent(writer, {
    agentId: 1n,
    owner: SHOP,
    card: {
      name: SHOP_NAME,
      description: 'Forecasts and observations for any place, paid per call.',
      x402Support: true,
      capabilities: ['weather'],
    },
  });
  await registerAgent(writer, {
    agentId: 2n,
    owner: RIVAL,
    card: { name: HOSTILE_NAME, description: `${HOSTILE_NAME} ${'long '.repeat(60)}` },
  });
  await registerAgent(writer, { agentId: 3n, owner: wallet(0x88) });
  await insertAttestations(writer, [
    attestation({ agentId: 1n, value: 92n, blockNumber: 1_100 }),
    attestation({ agentId: 2n, value: 40n, blockNumber: 1_101 }),
  ]);
  await deriveAll(writer);
}

async function seedCatalogue(writer: Writer, nowSeconds: number): Promise<void> {
  const versions = createVersions(0n);
  const source = 'bazaar:one';
  const items = [
    listedItem('https://weather.example/v1/forecast', {
      payTo: SHOP,
      item: { serviceName: SHOP_NAME, description: 'Hourly forecast for a place, seven days ahead.' },
    }),
    listedItem('https://rival.example/v1/now', { payTo: RIVAL, item: { serviceName: 'Rival' } }),
  ];
  await syncSource(
    {
      writer,
      versions,
      tokens: offerTokens(loadConfig({ env: {} })),
      nowMs: () => nowSeconds * 1_000,
      log: testLog,
      signal: new AbortController().signal,
    },
    { id: source, kind: 'bazaar', host: '', mark: '', read: (take) => take(items).then(() => WHOLE) },
  );
  await saveSourceState(
    writer,
    {
      source,
      kind: 'bazaar',
      host: 'bazaar.example',
      triedAt: nowSeconds,
      goodAt: nowSeconds,
      problem: null,
      items: 2,
      unread: '',
    },
    { ver: versions.next(), isGone: false },
  );
  await countActivity(writer, { chains: [BASE], nowMs: nowSeconds * 1_000, ver: versions.next() });
  await deriveList(writer, () => versions.next());
  await recordCount(writer, { nowMs: nowSeconds * 1_000, ver: versions.next() });
}
