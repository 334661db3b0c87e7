import { setTimeout as sleep } from 'node:timers/promises';
import { STANDSTILL_MS, watchStandstill } from '../core/process/standstill.ts';
import { type Audits, auditIndex, type Truth } from './audit.ts';
import { createRegistryViews } from './chain/registry-views.ts';
import { type AgentAudit, auditAgents } from './identities/audit-agents.ts';
import { createLive, type Live } from './live.ts';
import { showProgress } from './progress.ts';
import type { Stage } from './stage.ts';
import type { Outcome } from './summary.ts';

/** Of `--once N`: what exists before the service starts; the rest is made at the tip while it runs. */
export const HISTORY_SHARE = 0.7;

const LIVE_BLOCKS = 60;
const LIVE_SETTLEMENTS_MIN = 4;
const BLOCKS_PER_PURCHASE = 2;
const REORGS = 4;
const BLOCKS_PER_REORG_MIN = 4;
/** Slow enough that the index follows the tip block by block, as on a real chain. */
const BLOCK_EVERY_MS = 100;
/** Each question is work for the engine, on the processor that the index needs. */
const POLL_MS = 500;
const SERVED_POLL_MS = 150;
const RECHECK_MS = 500;
const REPORT_TIMEOUT_MS = 5_000;

/** Makes the rest of `wanted` settlements at the tip, waits for the index and compares every row. */
export async function runOnce(stage: Stage, wanted: number): Promise<Outcome> {
  const rows = stage.traffic.ledger.count;
  const caughtUp = untilHistoryIndexed(stage);
  const live = await liveUntil(stage, wanted);
  const { ms, rowsPerSecondPeak, ...closed } = {
    ...(await closeBooks(stage)),
    ...(await caughtUp),
  };
  return { ...closed, wanted, history: { rows, ms, rowsPerSecondPeak }, purchases: live.purchases };
}

/** Mining has ended: waits for the index and compares everything that it serves of the live chain. */
export async function closeBooks(stage: Stage): Promise<Omit<Outcome, 'wanted' | 'history' | 'purchases'>> {
  const minedAt = performance.now();
  const servedAt = await untilServed(stage);
  await stage.solana.settleDown();
  const solana = await stage.solana.outcome();
  const audits = await auditUntilTrue(stage, { evm: stage.traffic.ledger.rows(), solana: solana.owed });
  const agents = await agentsUntilTrue(stage);
  const seen = await untilReorgsReported(stage);
  return {
    survived: stage.traffic.ledger.count,
    audits,
    agents,
    solana,
    firstServedMs: stage.firstServedMs,
    lagMs: servedAt === null ? null : servedAt - minedAt,
    reorgs: { made: stage.traffic.reorgs, deepest: stage.traffic.deepestReorg, seen },
  };
}

async function liveUntil(stage: Stage, wanted: number): Promise<Live> {
  const { traffic } = stage;
  const missing = (): number => wanted - traffic.ledger.count - live.pending;
  const total = wanted - traffic.ledger.count;
  const perBlock = Math.max(LIVE_SETTLEMENTS_MIN, Math.ceil(total / LIVE_BLOCKS));
  const blocksPerReorg = Math.max(BLOCKS_PER_REORG_MIN, Math.floor(total / perBlock / REORGS));
  const live: Live = createLive({
    ...stage,
    blocksPerReorg,
    blocksPerPurchase: BLOCKS_PER_PURCHASE,
    // Blocks that the index never read would vanish unnoticed; a reorg counts once their rows are served.
    beforeReorg: () => untilServed(stage),
  });
  const progress = showProgress('payments at the tip', Math.max(1, total));
  while (missing() > 0) {
    await live.step(Math.min(perBlock, missing()));
    progress.update(Math.max(0, total - missing()));
    await sleep(BLOCK_EVERY_MS);
  }
  await live.settleDown();
  // A purchase that failed left a gap; the last block closes it exactly.
  await traffic.block(wanted - traffic.ledger.count, Math.floor(Date.now() / 1_000));
  progress.finish();
  return live;
}

interface HistoryFigures {
  /** From readiness until nothing of history was missing; null when it stood still before that. */
  readonly ms: number | null;
  /** The best rate that the index reported on the way. */
  readonly rowsPerSecondPeak: number;
}

async function untilHistoryIndexed(stage: Stage): Promise<HistoryFigures> {
  const standsStill = watchStandstill(STANDSTILL_MS);
  let rowsPerSecondPeak = 0;
  for (;;) {
    const seen = await stage.client.telemetry(stage.chain);
    rowsPerSecondPeak = Math.max(rowsPerSecondPeak, seen.rows_per_second);
    const whole = seen.state === 'following' && (seen.indexed_block ?? -1) >= stage.historyHead;
    if (whole) return { ms: performance.now() - stage.readyMs, rowsPerSecondPeak };
    if (standsStill(`block ${seen.indexed_block}`)) return { ms: null, rowsPerSecondPeak };
    await sleep(POLL_MS);
  }
}

/** When the newest settlement was served; null when the index stood still before that. */
async function untilServed({ client, traffic, chain }: Stage): Promise<number | null> {
  const newest = traffic.ledger.rows().at(-1)?.blockNumber;
  const standsStill = watchStandstill(STANDSTILL_MS);
  for (;;) {
    const [row] = (await client.transactions(null, 1, chain)).transactions;
    if (row?.block_number === newest) return performance.now();
    if (standsStill(`block ${row?.block_number}`)) return null;
    await sleep(SERVED_POLL_MS);
  }
}

/** Reorgs that the index has noticed; it reports from time to time, so a moment is allowed for the last one. */
async function untilReorgsReported({ client, traffic, chain }: Stage): Promise<number> {
  const deadline = performance.now() + REPORT_TIMEOUT_MS;
  for (;;) {
    const { reorgs } = await client.telemetry(chain);
    if (reorgs >= traffic.reorgs || performance.now() > deadline) return reorgs;
    await sleep(POLL_MS);
  }
}

/** The first audit without a lie, or the last one of an index that stands still. */
async function auditUntilTrue({ client, genesisTime }: Stage, truth: Truth): Promise<Audits> {
  const total = truth.evm.length + truth.solana.length;
  const standsStill = watchStandstill(STANDSTILL_MS);
  for (;;) {
    const progress = showProgress('served rows compared', Math.max(1, total));
    const audits = await auditIndex(client, truth, genesisTime, (rows) =>
      progress.update(Math.min(rows, total)),
    );
    progress.finish();
    const lies = audits.evm.lies + audits.solana.lies;
    if (lies === 0 || standsStill(`${lies} differences`)) return audits;
    await sleep(RECHECK_MS);
  }
}

/** The same of agents: they are derived a moment after their logs are read. */
async function agentsUntilTrue({ client, world, identities }: Stage): Promise<AgentAudit> {
  const views = createRegistryViews(world.chain.url);
  const standsStill = watchStandstill(STANDSTILL_MS);
  for (;;) {
    const audit = await auditAgents(client, views, identities.overrated);
    if (audit.lies === 0 || standsStill(`${audit.lies} differences`)) return audit;
    await sleep(RECHECK_MS);
  }
}
