import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import Database from 'libsql';
import { privateKeyToAccount } from 'viem/accounts';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import { loadConfig } from '../../core/config/load.ts';
import { type ApiKey, keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import { freePort } from '../../core/process/free-port.ts';
import { type Wallet, walletOf } from '../../demo/chain/sender.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { ApiAnswer } from '../kit/api.ts';
import { payCeiling } from '../kit/ceilings.ts';
import { importCompiled } from '../kit/compile-sources.ts';
import { type ScriptedFacilitator, startScriptedFacilitator } from '../kit/scripted-facilitator.ts';
import { watchedLog, watchSecret, watchText } from '../kit/secrets-watch.ts';
import { pay, startX402World, type X402World } from '../kit/x402-world.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';

/** A chain, a real facilitator behind one that can be held up, an engine and an ingest worker; APIs are started on it. */
export interface PaymentsStage {
  readonly world: X402World;
  readonly facilitator: ScriptedFacilitator;
  /** A new wallet with money. */
  payer(): Promise<Wallet>;
  /** An API process on this stage; each has a data directory of its own. */
  startApi(): Promise<StageApi>;
  stop(): Promise<void>;
}

export interface StageApi extends ApiProcess {
  readonly dataDir: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ApiAnswer['body'];
}

const RELAYER = walletOf('x402 world relayer');
const HOST_TEXT = '127.0.0.1';

export async function startPaymentsStage(): Promise<PaymentsStage> {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-payments-'));
  const cleanups: (() => Promise<unknown>)[] = [];
  const owned = <Part>(part: Part, end: (part: Part) => Promise<unknown>): Part => {
    cleanups.push(() => end(part));
    return part;
  };
  const stop = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const [world, engine] = await Promise.all([
      startX402World().then((started) => owned(started, (one) => one.stop())),
      startEngine(directory).then((started) => owned(started, (one) => one.stop())),
    ]);
    const facilitator = owned(await startScriptedFacilitator(world.facilitator.url), (one) => one.stop());
    const { url, database, reader, writer, guest } = engine.access;
    const common = {
      ...sellingConfig(world, facilitator),
      clickhouse: { url, database, reader, writer, guest },
    };
    owned(await startIngest(directory, common), (one) => one.stop());
    return {
      world,
      facilitator,
      async payer() {
        const wallet = await world.payer();
        watchSecret(wallet.privateKey);
        return wallet;
      },
      async startApi() {
        const port = await freePort();
        const dataDir = join(directory, `api-${port}`);
        const config = { ...common, role: 'api', dataDir, http: { ...common.http, port } };
        const api = await startApiProcess(config);
        return { ...owned(api, (one) => one.kill()), dataDir };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startEngine(directory: string) {
  const engine = await startEmbeddedEngine({
    dataDir: join(directory, 'engine'),
    database: `payments_${randomBytes(4).toString('hex')}`,
    maxMemoryMegabytes: 2048,
    log: watchedLog('engine'),
  });
  const { reader, writer, guest } = engine.access;
  for (const { password } of [reader, writer, guest]) watchSecret(password);
  return engine;
}

/** A service that reads the world's chain and sells calls on it. Everything that has a secret in it has one: the node's URLs and the facilitator's key. */
export function sellingConfig(world: X402World, facilitator: { readonly url: string }) {
  const secret = (): string => watchSecret(randomBytes(16).toString('hex'));
  watchSecret(RELAYER.privateKey);
  return {
    logLevel: 'trace',
    http: { port: 0, requestsPerMinute: 1_000_000 },
    // The first one is never there, so that failures with its URL are logged.
    chains: [
      {
        chain: 'base-sepolia',
        rpcUrls: [`http://${HOST_TEXT}:1/v2/${secret()}`, `${world.chain.url}/?apikey=${secret()}`],
        startBlock: 0,
        pollMs: 50,
      },
    ],
    catalogue: {
      facilitators: [
        {
          id: 'ours',
          relayers: [{ chain: 'base-sepolia', address: RELAYER.address, firstSeen: '2020-01-01' }],
        },
      ],
    },
    payment: {
      facilitatorUrl: facilitator.url,
      facilitatorHeaders: { authorization: `Bearer ${secret()}` },
      accept: [{ chain: 'base-sepolia', payTo: world.accepted.payTo }],
    },
    plans: { free: { requestsPerMinute: 1_000_000, monthlyGrantQu: 0 } },
    access: { trialRequestsPerMinute: 1_000_000 },
  };
}

async function startIngest(directory: string, common: object): Promise<{ stop(): Promise<void> }> {
  const dataDir = join(directory, 'ingest');
  const file = join(directory, 'ingest.json');
  writeFileSync(file, JSON.stringify({ ...common, role: 'ingest', dataDir }));
  const config = loadConfig({ file, env: {} });
  const { startService } = await importCompiled<typeof import('../../src/service.ts')>('src/service.js');
  const service = await startService({ config, log: watchedLog('ingest'), version: 'test' });
  await service.prepared;
  return service;
}

/** Has the effect of waiting for a minute: the leases of calls that were at work expire. */
export function lapseLeases({ dataDir }: Pick<StageApi, 'dataDir'>): void {
  const db = new Database(join(dataDir, 'control.db'));
  try {
    db.exec('UPDATE payment SET lease_until_ms = 0');
  } finally {
    db.close();
  }
}

/** An organization with units and a key. */
export async function openOrganization(
  store: ControlStore,
  units: number,
): Promise<{ readonly id: string; readonly key: ApiKey }> {
  const id = `org_${randomUUID()}`;
  const key = watchSecret(mintApiKey('live'));
  const createdAtMs = Date.now();
  await store.accounts.createOrganization({ id, displayName: 'Test', plan: 'free', createdAtMs });
  await store.accounts.addKey({
    id: `key_${randomUUID()}`,
    digest: keyDigest(key),
    kind: 'live',
    organizationId: id,
    label: 'test',
    createdAtMs,
    expiresAtMs: null,
    revokedAtMs: null,
  });
  await store.units.grant({
    organizationId: id,
    grantId: 'first',
    units,
    note: 'for the test',
    atMs: createdAtMs,
  });
  return { id, key };
}

/** Asks and keeps what came back, bodies of good answers apart (one of them is a key that is shown once). */
export async function ask(
  url: string,
  headers: Record<string, string> = {},
  posted?: object,
): Promise<Answer> {
  const body = { method: 'POST', body: JSON.stringify(posted) };
  const type = { 'content-type': 'application/json' };
  const response = await fetch(
    url,
    posted === undefined ? { headers } : { ...body, headers: { ...type, ...headers } },
  );
  const text = await response.text();
  const seen = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  watchText('answers', [`${response.status} ${url}`, ...seen, response.ok ? '' : text].join('\n'));
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Signs what the API offers for this URL; the header can be sent as often as a test likes. */
export async function sign(
  url: string,
  payer: Wallet,
  version: 1 | 2 = 1,
  posted?: object,
): Promise<Record<string, string>> {
  const { status, headers, body } = await ask(url, {}, posted);
  if (status !== 402) throw new Error(`no offer, but ${status} for ${url}`);
  const offer = { accepts: body.accepts, requiredHeader: headers.get('payment-required') ?? '' };
  const { header } = await pay(offer, payer, version);
  return { [version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE']: watchSecret(header) };
}

/** Signs the ceiling that the API offers for this posted body. */
export async function signCeiling(
  url: string,
  payer: Wallet,
  posted: object,
): Promise<Record<string, string>> {
  const { headers } = await ask(url, {}, posted);
  const offer = { requiredHeader: headers.get('payment-required') ?? '' };
  return { 'PAYMENT-SIGNATURE': (await payCeiling(offer, payer)).header };
}

/** The real client. Version 1 is what it does where no `PAYMENT-REQUIRED` header tells it of version 2. */
export function realClient(payer: Wallet, version: 1 | 2): typeof fetch {
  const client = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(payer.privateKey) });
  return wrapFetchWithPayment(async (input, init) => {
    const request = new Request(input, init);
    const payment = request.headers.get(version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE');
    if (payment !== null) watchSecret(payment);
    const response = await fetch(request);
    const headers = new Headers(response.headers);
    if (version === 1) headers.delete('PAYMENT-REQUIRED');
    return new Response(response.body, { status: response.status, headers });
  }, client);
}
