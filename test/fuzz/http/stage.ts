import type { AddressInfo } from 'node:net';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import type { PlanId, UnitBalance } from '../../../core/domain/plan.ts';
import { skeletonOf } from '../../../core/domain/saved-query.ts';
import { openSandbox } from '../../../sandbox/open.ts';
import { sqlTierSeconds } from '../../../src/operations/prices.ts';
import { addKey, createOrganization, ownTestStore } from '../../kit/access.ts';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import { type TestApi, type TestClock, testApi, testClock } from '../../kit/api.ts';
import type { JsonObject } from '../../kit/document-schemas.ts';
import { attestation, insertAttestations } from '../../kit/registry-rows.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  namePayee,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';
import { jsonReply, startScriptedFacilitator } from '../../kit/scripted-facilitator.ts';
import { watchedLog, watchSecret, watchText } from '../../kit/secrets-watch.ts';
import { sellingThrough } from '../../kit/selling.ts';
import type { CREDENTIALS, FuzzRequest } from './requests.ts';
import { type Connection, connectTo, type FuzzAnswer } from './send.ts';
import type { KnownValues } from './values.ts';

/** The service of the fuzzer: two real deployments that listen, over one engine with rows of every kind. */
export interface Stage {
  /** As the service itself serves it. */
  readonly document: JsonObject;
  readonly known: KnownValues;
  send(request: FuzzRequest): Promise<FuzzAnswer>;
  /** Of every organization, by the credential that names it. */
  units(): Promise<Readonly<Record<string, UnitBalance>>>;
  close(): Promise<void>;
}

const CORES = 2;
const UNITS = 1_000_000;
const ROWS = 40;
/** As the examples of the document name it. */
const HANDLE = 'acme';
const WALLETS = [wallet(0xa1), wallet(0xb2), wallet(0xd4)];
/** Rate windows must not decide the answers; one is emptied from time to time. */
const REQUESTS_PER_WINDOW = 20;
const WINDOW_SECONDS = 61;

export async function openStage(): Promise<Stage> {
  const engine = await sandboxEngine();
  await fill(engine);
  const log = watchedLog('fuzz-http');
  const reader = createReader(engine.access, log);
  const sandbox = openSandbox({
    access: engine.access,
    log,
    cores: CORES,
    restartEngine: null,
    secondsOf: sqlTierSeconds,
  });
  const facilitator = await startScriptedFacilitator();
  facilitator.onVerify = () =>
    jsonReply({ isValid: false, invalidReason: 'invalid_exact_evm_payload_signature' });
  const clock = testClock(NOON);
  // The examples of the document take names that an organization of another file may have.
  const ownStore = ownTestStore();
  const options = { sandbox, clock, jobsOver: engine.access, ownStore };
  const selling = await listen(
    await testApi(reader, { ...options, config: sellingThrough(facilitator.url) }),
  );
  const plain = await listen(await testApi(reader, options));
  const people = await customers(selling.api);
  const { body: document } = await selling.api.get('/openapi.json');
  const known: KnownValues = {
    cursors: [],
    wallets: [...WALLETS, '0x52908400098527886E0F7030069857D2E4169EE7'],
  };
  const send = sender({ selling, plain, credentials: people.headers, known, clock });
  return {
    document,
    known,
    send,
    units: people.units,
    close: async () => {
      for (const { api, connection } of [selling, plain]) {
        connection.close();
        await api.close();
      }
      await ownStore.close();
      await facilitator.stop();
      await sandbox.close();
      await reader.close();
      await engine.close();
    },
  };
}

interface Deployment {
  readonly api: TestApi;
  readonly connection: Connection;
}

async function listen(api: TestApi): Promise<Deployment> {
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = api.app.server.address() as AddressInfo; // listening on TCP
  return { api, connection: connectTo(port) };
}

type Credential = (typeof CREDENTIALS)[number];
type CredentialHeaders = Readonly<Record<Credential, Readonly<Record<string, string>>>>;

interface Asked {
  readonly selling: Deployment;
  readonly plain: Deployment;
  readonly credentials: CredentialHeaders;
  readonly known: KnownValues;
  readonly clock: TestClock;
}

function sender({ selling, plain, credentials, known, clock }: Asked): Stage['send'] {
  const deployments = { selling, plain };
  let sent = 0;
  return async ({ deployment, credential, method, target, headers, body }) => {
    sent += 1;
    if (sent % REQUESTS_PER_WINDOW === 0) clock.advanceSeconds(WINDOW_SECONDS);
    const answer = await deployments[deployment].connection.send({
      method,
      target,
      body,
      headers: { ...headers, ...credentials[credential] },
    });
    if (answer.status >= 400) watchText('refusals', answer.body.toString('latin1'));
    const cursor = /"next_before":"([^"]+)"/.exec(answer.body.toString('latin1'))?.[1];
    if (cursor !== undefined && !known.cursors.includes(cursor)) known.cursors.push(cursor);
    return answer;
  };
}

async function customers({ access }: TestApi): Promise<{
  readonly headers: CredentialHeaders;
  readonly units: Stage['units'];
}> {
  const { store } = access.access;
  const organization = async (units: number, plan: PlanId) => {
    const organizationId = await createOrganization(store, { units, plan });
    return { organizationId, key: watchSecret(await addKey(store, { organizationId })) };
  };
  const rich = await organization(UNITS, 'enterprise');
  const poor = await organization(0, 'free');
  const organizationId = rich.organizationId;
  // What it saves has an owner.
  await store.saved.claimHandle({ organizationId, handle: HANDLE, skeleton: skeletonOf(HANDLE) });
  const trial = await addKey(store, { kind: 'trial' });
  const keys = {
    revoked: await addKey(store, { organizationId, revokedAtMs: 1 }),
    expired: await addKey(store, { organizationId, expiresAtMs: 1 }),
  };
  const balance = async (id: string) => (await store.units.balance(id)) ?? Promise.reject(new Error('gone'));
  return {
    units: async () => ({
      rich: await balance(rich.organizationId),
      poor: await balance(poor.organizationId),
    }),
    headers: {
      rich: { 'x-api-key': rich.key },
      rich_bearer: { authorization: `Bearer ${rich.key}` },
      poor: { 'x-api-key': poor.key },
      trial: { 'x-api-key': trial },
      none: {},
      unknown: { 'x-api-key': 'six_live_unknown' },
      revoked: { 'x-api-key': keys.revoked },
      expired: { authorization: `Bearer ${keys.expired}` },
      broken_authorization: { authorization: 'Basic \xe9 =, Digest' },
      two_keys: { 'x-api-key': poor.key, authorization: `Bearer ${rich.key}` },
      token: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.' },
    },
  };
}

/** Settlements on two chains, a relayer and a payee with names, agents, and attestations about them. */
async function fill({ writer }: SandboxEngine): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, at) =>
    settlement({
      chain: at % 4 === 0 ? POLYGON : BASE,
      blockNumber: 1_000 + at,
      blockTime: NOON - 3 * 86_400 + at * 5_000,
      logIndex: at,
      payer: wallet(0xa1 + (at % 3)),
      payee: wallet(at % 7 === 0 ? 0xa1 + (at % 3) : 0xb2),
      amount: 2n ** BigInt(at * 6),
      facilitator: at % 2 === 0 ? 'coinbase' : '',
      method: at % 2 === 0 ? 'facilitator_relay' : 'gasless_authorization',
    }),
  );
  await insertSettlements(writer, rows);
  await reportChain(writer, BASE);
  await reportChain(writer, POLYGON);
  await nameFacilitator(writer, 'coinbase', 'Coinbase');
  await namePayee(writer, wallet(0xb2), 'Weather by the call');
  for (const agentId of [0n, 1n, 2n])
    await registerAgent(writer, {
      agentId,
      card: {
        name: `Weather ${agentId}`,
        description: 'Forecasts',
        x402Support: true,
        capabilities: ['weather'],
      },
    });
  await insertAttestations(writer, [
    attestation({ agentId: 1n, tag1: 'starred', uri: 'https://agent.example/feedback.json' }),
    attestation({ agentId: 1n, kind: 'revocation', blockNumber: 2_001 }),
    attestation({ agentId: 2n, blockNumber: 2_002, value: 925n, valueDecimals: 1 }),
  ]);
  await deriveAll(writer);
}
