import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import { type ApiKey, keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { Gate } from '../../src/gate/gate.ts';
import { buildApp } from '../../src/http/app.ts';
import { keepRequestsYoung } from '../../src/http/server.ts';
import { openAccess } from '../../src/open-access.ts';
import { NOT_CHARGED } from '../../src/operations/answer.ts';
import type { CallContext } from '../../src/operations/deps.ts';
import { CLOSED_SANDBOX } from '../../test/kit/closed-sandbox.ts';
import { benchLog } from '../support/bench-engine.ts';
import type { BenchContext } from '../support/run-bench.ts';

/** The same application twice: with its gate, and with one that admits every call. */
export interface GatedApi {
  readonly gated: FastifyInstance;
  readonly open: FastifyInstance;
  /** Of an organization with units enough for any bench. */
  readonly key: ApiKey;
  readonly organizationId: string;
  readonly store: ControlStore;
  /** Another organization, with so many units. */
  newCustomer(units: number): Promise<{ readonly key: ApiKey; readonly organizationId: string }>;
}

/** Answers of the statements that return a row even for empty tables. */
const ROWS_OF_NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  'dataset-newest-time': [0, 0],
  'rollup-coverage': [0, [], []],
  'relayer-totals': ['0', 0, 0],
  'snapshot-revision': [0, 0],
};
const UNITS = 10_000_000;
const REQUESTS_PER_MINUTE = 100_000_000;

/** An engine without settlements that answers at once, because the engine's time is not the gate's. */
const EMPTY: Reader = {
  rows: ({ name }) => {
    const row = ROWS_OF_NOTHING[name];
    return Promise.resolve({ rows: row === undefined ? [] : [row], readRows: 0, readBytes: 0, elapsedMs: 0 });
  },
  ping: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

export async function openGatedApi(store: ControlStore, { workspace }: BenchContext): Promise<GatedApi> {
  const config = withoutLimits(loadConfig({ env: { CHAINS: 'base,polygon' } }));
  const log = benchLog();
  const clock = systemClock;
  const access = openAccess({ config, clock, log }, store);
  keepRequestsYoung();
  const start = async (gate: Gate): Promise<FastifyInstance> => {
    const cursorKeys: CursorKeys = { keys: [randomBytes(32)] };
    const app = buildApp({
      ...access,
      gate,
      config,
      reader: EMPTY,
      sandbox: CLOSED_SANDBOX,
      cursorKeys,
      log,
      clock,
      version: 'bench',
    });
    workspace.defer(() => app.close());
    await app.ready();
    return app;
  };
  const newCustomer = (units: number) => createCustomer(store, units);
  return {
    gated: await start(access.gate),
    open: await start(OPEN_GATE),
    ...(await newCustomer(UNITS)),
    store,
    newCustomer,
  };
}

function withoutLimits(config: Config): Config {
  const { free, pro, enterprise } = config.plans;
  const requestsPerMinute = REQUESTS_PER_MINUTE;
  return {
    ...config,
    http: { ...config.http, requestsPerMinute },
    plans: {
      free: { ...free, requestsPerMinute },
      pro: { ...pro, requestsPerMinute },
      enterprise: { ...enterprise, requestsPerMinute },
    },
  };
}

export async function createCustomer(
  store: ControlStore,
  units: number,
): Promise<{ readonly key: ApiKey; readonly organizationId: string }> {
  const organizationId = `org_${randomUUID()}`;
  const at = Date.now();
  await store.accounts.createOrganization({
    id: organizationId,
    displayName: 'Bench',
    plan: 'pro',
    createdAtMs: at,
  });
  await store.units.grant({ organizationId, grantId: 'bench', units, note: 'for the bench', atMs: at });
  const key = mintApiKey('live');
  await store.accounts.addKey({
    id: `key_${randomUUID()}`,
    digest: keyDigest(key),
    kind: 'live',
    organizationId,
    label: 'bench',
    createdAtMs: at,
    expiresAtMs: null,
    revokedAtMs: null,
  });
  return { key, organizationId };
}

const ANYBODY: Omit<CallContext, 'surface' | 'idempotencyKey'> = {
  caller: {
    keyPresent: false,
    keyRecognised: null,
    standing: 'anonymous',
    organization: null,
    organizationMissing: false,
  },
  lane: 'x402',
  payment: null,
  hold: null,
  callerName: 'anybody',
};

/** Reads the request and runs the operation, without key, quota or payment. */
const OPEN_GATE: Gate = {
  call: async (request) => {
    const { operation, deps, surface, charging, progress } = request;
    const facts = { chains: deps.deployment.chains, cursorKeys: deps.cursorKeys };
    const call = operation.prepare(request.raw(), facts);
    await call.review?.(deps, ANYBODY.callerName);
    progress.onRun(ANYBODY.lane);
    const { idempotencyKey } = charging;
    const outcome = await call.run(deps, { ...ANYBODY, surface, idempotencyKey });
    return {
      answer: outcome.answer(NOT_CHARGED),
      delivered: () => Promise.resolve(),
      replayed: false,
      chargedQu: 0,
    };
  },
  checkToken: () => Promise.resolve(),
  refuses: () => false,
  reads: () => ({ places: 0, running: 0, waiting: 0, unstoppable: 0 }),
};
