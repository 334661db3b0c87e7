import type { EngineWalls } from '../../clickhouse/embedded/walls.ts';
import { EngineError, type Guest, type Reader, type Writer } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { Failure } from '../../core/errors.ts';
import type { Meter } from '../../core/meter.ts';
import type { Places } from '../../core/process/places.ts';
import { OPEN_TO, QueryAbandoned, QueryFailed, SandboxBusy, type SqlSandbox } from '../../sandbox/sandbox.ts';
import type { ControlStore } from '../accounts/store.ts';
import type { Gate, GateRequest } from '../gate/gate.ts';
import type { AccessParts } from '../open-access.ts';
import type { AnyOperation, PreparedCall } from '../operations/define.ts';
import { OPERATIONS } from '../operations/index.ts';
import { createIdentityStates } from '../operations/index-state/identity-state.ts';
import type { Facilitator, PaymentToSettle } from '../payment/facilitator.ts';
import type { PaidCall, PaymentLane, SettledCall } from '../payment/payment-lane.ts';
import { everyMethod, type Observers, observe, type View, type Views } from './observe.ts';
import { readStoreHealth, readTelemetry, readWalls } from './readings.ts';

/** The counts and traces of each port. Names of metrics: core/metric-families.ts; of spans: docs/operators.md. */

/**
 * The statements of a port to the engine, by their names, never their texts or values. `user` is the engine user behind it: `reader`,
 * `writer`, `guest`; the guest's queries for callers are all called `sql-run`.
 */
export function observedEngine<Port extends Reader | Writer | Guest>(
  port: Port,
  user: string,
  observers: Observers,
): Port {
  const view = (method: string): View<readonly unknown[], unknown> => ({
    span: (first) => {
      const name = statementName(method, first);
      return {
        name: `engine ${name}`,
        facts: { 'db.system.name': 'clickhouse', 'db.operation.name': name, 'db.user': user },
      };
    },
    count(meter, ended, first) {
      const statement = statementName(method, first);
      const outcome = ended.failed ? engineOutcome(ended.error) : 'ok';
      meter.count('engine_statements_total', { statement, user, outcome });
      meter.observe('engine_statement_seconds', { statement, user }, ended.seconds);
    },
  });
  return observe(port, everyMethod(port, view, ['close']), observers);
}

function engineOutcome(error: unknown): string {
  return error instanceof EngineError ? error.problem : 'failed';
}

/**
 * What a call of a port to the engine is called: its first argument is a statement with a name, or the name. Behind a space some names
 * say which chain or slice they are about, which is left out: names are few.
 */
function statementName(method: string, first: unknown): string {
  const name = typeof first === 'string' ? first : nameOf(first);
  const [family = ''] = (name ?? method).split(' ', 1);
  return family;
}

function nameOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('name' in value)) return null;
  return typeof value.name === 'string' ? value.name : null;
}

/** The calls of the control store that fail, by name: `units.hold`. */
export function observedStore({ meter }: Observers, store: ControlStore): ControlStore {
  const counted = <Part extends object>(name: string, part: Part): Part => {
    const view = (method: string): View<readonly unknown[], unknown> => ({
      countFailure: (by) => by.count('control_store_errors_total', { call: `${name}.${method}` }),
    });
    return observe(part, everyMethod(part, view), { meter, tracer: null });
  };
  if (meter === null) return store;
  return {
    accounts: counted('accounts', store.accounts),
    units: counted('units', store.units),
    payments: counted('payments', store.payments),
    usage: counted('usage', store.usage),
    rates: counted('rates', store.rates),
    replies: counted('replies', store.replies),
    jobs: counted('jobs', store.jobs),
    results: counted('results', store.results),
    shares: counted('shares', store.shares),
    saved: counted('saved', store.saved),
    refreshes: counted('refreshes', store.refreshes),
    ownTables: counted('ownTables', store.ownTables),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** Where no lane was taken: the call was refused before its run. */
const NO_LANE = 'none';

/** The outcomes of calls at the gate, and the units charged for them. */
export function observedGate(observers: Observers, gate: Gate): Gate {
  const call: Views<Gate>['call'] = {
    span: (request) => ({
      name: 'gate',
      facts: { operation: request.operation.id, surface: request.surface },
    }),
    told: (answer) => ({ charged_qu: answer.chargedQu, replayed: answer.replayed }),
    count(meter, ended, request) {
      if (ended.failed)
        countGateCall(meter, request, failureOutcome(ended.error), chargedFor(ended.error, request));
      else countGateCall(meter, request, 'ok', ended.answer.chargedQu);
    },
  };
  observers.meter?.read('reads', async () => {
    const { places, running, waiting } = gate.reads();
    return [
      { name: 'reads_places', value: places },
      { name: 'reads_running', value: running },
      { name: 'reads_waiting', value: waiting },
    ];
  });
  return observe(gate, { call }, observers);
}

function countGateCall(meter: Meter, request: GateRequest, outcome: string, chargedQu: number): void {
  const operation = request.operation.id;
  const lane = request.progress.lane ?? NO_LANE;
  meter.count('calls_total', { operation, surface: request.surface, lane, outcome });
  if (chargedQu > 0) meter.count('units_charged_total', { operation, lane }, chargedQu);
}

function failureOutcome(error: unknown): string {
  return error instanceof Failure ? error.code : 'internal_error';
}

/** A failure that was kept for its Idempotency-Key was charged when it was new: a replay takes no lane. */
function chargedFor(error: unknown, { progress }: GateRequest): number {
  return error instanceof Failure && progress.lane !== null ? (error.context.charged?.chargedQu ?? 0) : 0;
}

/** The review and the run of each operation, apart from what the gate does around them. */
export function observedOperations({ tracer }: Observers): readonly AnyOperation[] {
  return tracer === null
    ? OPERATIONS
    : OPERATIONS.map((operation) => tracedOperation(operation, { meter: null, tracer }));
}

function tracedOperation(operation: AnyOperation, observers: Observers): AnyOperation {
  const named = (part: string) => ({ name: `${part} ${operation.id}`, facts: { operation: operation.id } });
  const views: Views<PreparedCall> = {
    review: { span: () => named('review') },
    preflight: { span: () => named('preflight') },
    run: {
      span: (_deps, { lane }) => ({
        name: `run ${operation.id}`,
        facts: { operation: operation.id, lane },
      }),
    },
  };
  return { ...operation, prepare: (raw, facts) => observe(operation.prepare(raw, facts), views, observers) };
}

const MICROS_PER_DOLLAR = 1_000_000;

/** For `openAccess`, which makes facilitator and lane. */
export function observePayments(observers: Observers): NonNullable<AccessParts['observe']> {
  return {
    facilitator: (facilitator) => observedFacilitator(facilitator, observers),
    lane: (lane) => observedLane(lane, observers),
  };
}

/** The requests to the facilitator and their outcomes; nothing of the payment. */
export function observedFacilitator(facilitator: Facilitator, observers: Observers): Facilitator {
  type Answer = { readonly outcome: string };
  const stage = (name: string) => ({
    told: ({ outcome }: Answer) => ({ outcome }),
    count(meter: Meter, ended: { readonly seconds: number; readonly answer?: Answer }): void {
      if (ended.answer === undefined) return; // its contract: it never rejects
      meter.count('payments_total', { stage: name, outcome: ended.answer.outcome });
      meter.observe('payment_seconds', { stage: name }, ended.seconds);
    },
  });
  const spanOf =
    (name: string) =>
    ({ chain }: PaymentToSettle) => ({
      name: `payment ${name}`,
      facts: { chain },
    });
  return observe(
    facilitator,
    {
      verify: { ...stage('verify'), span: spanOf('verify') },
      settle: { ...stage('settle'), span: spanOf('settle') },
      announced: { ...stage('announced'), span: () => ({ name: 'payment announced', facts: {} }) },
    },
    observers,
  );
}

/** Adds up the payments of delivered answers. */
export function observedLane(lane: PaymentLane, { meter }: Observers): PaymentLane {
  if (meter === null) return lane;
  return observe(lane, { take: { within: (call) => paidCall(call, meter) } }, { meter, tracer: null });
}

function paidCall(call: PaidCall, meter: Meter): PaidCall {
  if (call.kind === 'settled') return settledCall(call, meter);
  const settle: Views<typeof call>['settle'] = { within: (settled) => settledCall(settled, meter) };
  return observe(call, { settle }, { meter, tracer: null });
}

function settledCall(call: SettledCall, meter: Meter): SettledCall {
  const finish: Views<SettledCall>['finish'] = {
    count(by, { failed }, answered) {
      if (failed || !answered) return;
      by.count('payments_served_usd_total', {}, Number(call.usdMicros) / MICROS_PER_DOLLAR);
    },
  };
  return observe(call, { finish }, { meter, tracer: null });
}

const MS_PER_SECOND = 1_000;

/** The queries of callers by tier: how they ended, their engine time and their wait. Spans for judging, estimating and running. */
export function observedSandbox<Sandbox extends SqlSandbox & { load: Places['load'] }>(
  observers: Observers,
  sandbox: Sandbox,
): Sandbox {
  observers.meter?.read('sql', async () => {
    const { running, waiting, places, unstoppable } = sandbox.load();
    return [
      { name: 'sql_running', value: running },
      { name: 'sql_waiting', value: waiting },
      { name: 'sql_places', value: places },
      { name: 'sql_unstoppable', value: unstoppable },
      { name: 'sql_open_to', value: OPEN_TO.length - 1 - OPEN_TO.indexOf(sandbox.openNow()) },
    ];
  });
  return { ...sandbox, ...observe<SqlSandbox>(sandbox, SANDBOX_VIEWS, observers) };
}

const SANDBOX_VIEWS: Views<SqlSandbox> = {
  inspect: { span: () => ({ name: 'sql inspect', facts: {} }) },
  suggest: { span: () => ({ name: 'sql suggest', facts: {} }) },
  estimate: { span: () => ({ name: 'sql estimate', facts: {} }) },
  run: {
    span: ({ tier, format }) => ({
      name: 'sql run',
      facts: { tier, format: typeof format === 'string' ? format : format.name },
    }),
    told: ({ queuedMs, engineMs, resultRows }) => ({
      queued_ms: queuedMs,
      engine_ms: engineMs,
      rows: resultRows,
    }),
    count(meter, ended, { tier }) {
      meter.count('sql_queries_total', { tier, outcome: ended.failed ? queryOutcome(ended.error) : 'ok' });
      if (ended.failed) return;
      meter.observe('sql_engine_seconds', { tier }, ended.answer.engineMs / MS_PER_SECOND);
      meter.observe('sql_wait_seconds', { tier }, ended.answer.queuedMs / MS_PER_SECOND);
    },
  },
};

/** A reason of the closed lists, or what kept the query from running. */
function queryOutcome(error: unknown): string {
  if (error instanceof QueryFailed) return error.reason;
  if (error instanceof SandboxBusy) return `busy_${error.reason}`;
  if (error instanceof QueryAbandoned) return 'abandoned';
  return error instanceof EngineError ? `engine_${error.problem}` : 'internal_error';
}

/** Shows index and control store at every scrape. `reader` is not counted itself: a scrape is no traffic. */
export function showHealth(
  { meter }: Observers,
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
