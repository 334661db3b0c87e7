import type { EngineWalls } from '../../clickhouse/embedded/walls.ts';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Meter, Reading } from '../../core/meter.ts';
import type { ControlStore } from '../accounts/store.ts';
import {
  backfillLeft,
  CHAIN_STATES,
  type ChainStatus,
  readChainStatus,
} from '../operations/index-state/chain-status.ts';
import { chainFreshness } from '../operations/index-state/freshness.ts';
import type { IdentityStates } from '../operations/index-state/identity-state.ts';
import { readEngineUptime } from '../operations/index-state/index-state.ts';
import { readRollupState } from '../operations/index-state/rollups.ts';

/** The figures of `/v0/telemetry`, asked for with the questions that answer it: the two can never differ by more than their moment. */

export interface TelemetrySources {
  /** Not counted: a scrape is no traffic. */
  readonly reader: Reader;
  readonly clock: Clock;
  readonly chains: readonly Chain[];
  readonly identityStates: IdentityStates;
}

/** Shows the index as telemetry does. */
export function readTelemetry(meter: Meter, sources: TelemetrySources): void {
  const { reader, clock, chains, identityStates } = sources;
  meter.read('engine', async () => {
    try {
      const uptime = await readEngineUptime(reader);
      return [
        { name: 'engine_up', value: 1 },
        { name: 'engine_uptime_seconds', value: uptime },
      ];
    } catch {
      return [{ name: 'engine_up', value: 0 }]; // no answer means down
    }
  });
  meter.read('chains', async () => {
    const statuses = await readChainStatus(reader);
    return chains.flatMap((chain) => chainReadings(chain, statuses.get(chain), clock.nowMs()));
  });
  meter.read('rollups', async () => {
    const { openSlices, oldestOpen, lastClosedAt } = await readRollupState(reader);
    return [
      { name: 'rollup_open_slices', value: openSlices },
      ...known('rollup_oldest_open_timestamp_seconds', oldestOpen),
      ...known('rollup_last_closed_timestamp_seconds', lastClosedAt),
    ];
  });
  meter.read('identities', async () => {
    const { chains: states } = await identityStates.state();
    return [...states].flatMap(([chain, { agentsDue, cards, feedbackFiles }]) => [
      due(chain, 'agents', agentsDue),
      due(chain, 'cards', cards.due),
      due(chain, 'feedback_files', feedbackFiles.due),
    ]);
  });
}

/** Shows whether the control store answers. */
export function readStoreHealth(meter: Meter, store: Pick<ControlStore, 'ping'>): void {
  meter.read('control_store', async () => {
    const up = await store.ping().then(
      () => 1,
      () => 0, // no answer means down
    );
    return [{ name: 'control_store_up', value: up }];
  });
}

/** Shows which walls stand between the embedded engine and the host. */
export function readWalls(meter: Meter, walls: () => EngineWalls): void {
  meter.read('engine_walls', async () => {
    const { landlock, ownUser, sockets, cleanEnvironment } = walls();
    const wall = (name: string, stands: boolean): Reading => ({
      name: 'engine_wall',
      labels: { wall: name },
      value: stands ? 1 : 0,
    });
    return [
      wall('landlock', 'abi' in landlock),
      wall('own_user', 'id' in ownUser),
      wall('sockets', 'bounded' in sockets),
      wall('clean_environment', cleanEnvironment),
      { name: 'engine_landlock_abi', value: 'abi' in landlock ? landlock.abi : 0 },
    ];
  });
}

function due(chain: Chain, what: string, value: number): Reading {
  return { name: 'identities_due', labels: { chain, what }, value };
}

function known(name: Reading['name'], value: number | null, labels = {}): Reading[] {
  return value === null ? [] : [{ name, labels, value }];
}

/** A chain that was never reported has its state only. */
function chainReadings(chain: Chain, status: ChainStatus | undefined, nowMs: number): Reading[] {
  const shown = status?.state ?? 'not_started';
  const states = CHAIN_STATES.map(
    (state): Reading => ({ name: 'chain_state', labels: { chain, state }, value: state === shown ? 1 : 0 }),
  );
  return status === undefined ? states : [...states, ...statusReadings(chain, status, nowMs)];
}

function statusReadings(chain: Chain, status: ChainStatus, nowMs: number): Reading[] {
  const labels = { chain };
  const left = backfillLeft(status);
  const { lagSeconds } = chainFreshness(chain, status, nowMs);
  return [
    ...known('chain_head_block', status.headBlock, labels),
    ...known('chain_indexed_block', status.indexedBlock, labels),
    ...known('chain_finalized_block', status.finalizedBlock, labels),
    ...known('chain_lag_seconds', lagSeconds, labels),
    ...known('chain_reported_timestamp_seconds', status.updatedAt, labels),
    { name: 'chain_rows_written_total', labels, value: status.rowsWritten },
    { name: 'chain_rows_per_second', labels, value: status.rowsPerSecond },
    { name: 'chain_blocks_per_second', labels, value: status.blocksPerSecond },
    { name: 'chain_reorgs_total', labels, value: status.reorgs },
    { name: 'chain_deepest_reorg_blocks', labels, value: status.deepestReorg },
    { name: 'chain_retries_total', labels, value: status.retries },
    { name: 'chain_contradictions_total', labels, value: status.contradictions },
    { name: 'chain_dead_letters_total', labels, value: status.deadLetters },
    { name: 'chain_backfill_left_blocks', labels, value: left.blocks },
    ...known('chain_backfill_eta_seconds', left.etaSeconds, labels),
    ...known('chain_fee_hours_open', status.feeHoursOpen, labels),
    ...known('chain_fee_oldest_open_timestamp_seconds', status.feeOldestOpen, labels),
  ];
}
