import type { EngineWalls } from '../../clickhouse/embedded/walls.ts';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Places } from '../../sandbox/run/places.ts';
import { OPEN_TO, type SqlSandbox } from '../../sandbox/sandbox.ts';
import type { ControlStore } from '../accounts/store.ts';
import type { Gate } from '../gate/gate.ts';
import type { AccessParts } from '../open-access.ts';
import type { AnyOperation } from '../operations/define.ts';
import { OPERATIONS } from '../operations/index.ts';
import { createIdentityStates } from '../operations/index-state/identity-state.ts';
import { meteredGate } from './metered-gate.ts';
import { meteredFacilitator, meteredLane } from './metered-payment.ts';
import { meteredSandbox } from './metered-sandbox.ts';
import { meteredStore } from './metered-store.ts';
import type { Observation } from './observe.ts';
import { readStoreHealth, readTelemetry, readWalls } from './telemetry-readings.ts';
import { tracedFacilitator, tracedGate, tracedOperation, tracedSandbox } from './traced-calls.ts';

/** The ports of a process with an API, put under observation; each is given back as it is where nobody looks on. */

export function observedStore({ meter }: Observation, store: ControlStore): ControlStore {
  return meter === null ? store : meteredStore(store, meter);
}

export function observedGate({ meter, tracer }: Observation, gate: Gate): Gate {
  const counted = meter === null ? gate : meteredGate(gate, meter);
  return tracer === null ? counted : tracedGate(counted, tracer);
}

/** For `openAccess`, which makes facilitator and lane. */
export function observePayments({ meter, tracer }: Observation): NonNullable<AccessParts['observe']> {
  return {
    facilitator(facilitator) {
      const counted = meter === null ? facilitator : meteredFacilitator(facilitator, meter);
      return tracer === null ? counted : tracedFacilitator(counted, tracer);
    },
    lane: (lane) => (meter === null ? lane : meteredLane(lane, meter)),
  };
}

export function observedSandbox<Sandbox extends SqlSandbox & { load: Places['load'] }>(
  { meter, tracer }: Observation,
  sandbox: Sandbox,
): Sandbox {
  meter?.read('sql', async () => {
    const { running, waiting, places, unstoppable } = sandbox.load();
    return [
      { name: 'sql_running', value: running },
      { name: 'sql_waiting', value: waiting },
      { name: 'sql_places', value: places },
      { name: 'sql_unstoppable', value: unstoppable },
      { name: 'sql_open_to', value: OPEN_TO.length - 1 - OPEN_TO.indexOf(sandbox.openNow()) },
    ];
  });
  const counted = meter === null ? sandbox : meteredSandbox(sandbox, meter);
  return tracer === null ? counted : tracedSandbox(counted, tracer);
}

/** The operations to serve. */
export function observedOperations({ tracer }: Observation): readonly AnyOperation[] {
  return tracer === null ? OPERATIONS : OPERATIONS.map((operation) => tracedOperation(operation, tracer));
}

/** Shows index and control store at every scrape. `reader` is not counted itself: who looks on is no traffic. */
export function showHealth(
  { meter }: Observation,
  parts: {
    readonly reader: Reader;
    readonly store: ControlStore;
    readonly clock: Clock;
    readonly config: Pick<Config, 'chains'>;
    /** Of the embedded engine; null with another one. */
    readonly walls: (() => EngineWalls) | null;
  },
): void {
  if (meter === null) return;
  const { reader, store, clock, config, walls } = parts;
  const chains = config.chains.map(({ chain }) => chain);
  readTelemetry(meter, { reader, clock, chains, identityStates: createIdentityStates({ reader, clock }) });
  readStoreHealth(meter, store);
  if (walls !== null) readWalls(meter, walls);
}
