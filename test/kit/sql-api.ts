import { ENGINE_OUTAGE_MAX_MS } from '../../clickhouse/engine/error.ts';
import { createReader } from '../../clickhouse/engine/http-engine.ts';
import { EXACT_OUTPUT } from '../../clickhouse/engine/output.ts';
import type { Config } from '../../core/config/config.ts';
import type { PlanId, UnitBalance } from '../../core/domain/plan.ts';
import { openSandbox, type SandboxOptions } from '../../sandbox/open.ts';
import { sqlTierSeconds } from '../../src/operations/prices.ts';
import { addKey, createOrganization } from './access.ts';
import { type TestApi, testApi } from './api.ts';
import { type SandboxEngine, sandboxEngine } from './sandbox-engine.ts';
import { watchedLog, watchText } from './secrets-watch.ts';

/** The real application over a real sandbox over an engine of its own. */
export interface SqlApi {
  readonly api: TestApi;
  readonly engine: SandboxEngine;
  /** How often the engine was sent a text that holds this one, to run it. */
  runsOf(text: string): number;
  /** An organization with units and a key of its own; its queries count for no other organization. */
  customer(over?: { readonly units?: number; readonly plan?: PlanId }): Promise<Customer>;
  close(): Promise<void>;
}

export interface Customer {
  readonly organizationId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends a query; a text is sent as `{ sql }`. */
  ask(body: SqlRequest | string, headers?: Readonly<Record<string, string>>): Promise<SqlReply>;
  units(): Promise<UnitBalance>;
}

type SqlRequest = Readonly<Record<string, unknown>>;

export interface SqlReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

/** Of the machine that the tests believe to run on. */
const CORES = 2;

type Over = Partial<Pick<SandboxOptions, 'secondsOf' | 'openTo' | 'policy' | 'killObeyedMaxMs'>> & {
  /** Whether the engine is started anew for a query that cannot be stopped, as the service does with its own. */
  readonly restarts?: boolean;
  /** Parts of the configuration of the application. */
  readonly config?: Partial<Config>;
  /** One that is not the application's to end; its own when absent. */
  readonly engine?: SandboxEngine;
};

export async function sqlApi({
  restarts = false,
  engine: given,
  config = {},
  ...over
}: Over = {}): Promise<SqlApi> {
  const engine = given ?? (await sandboxEngine());
  const log = watchedLog('sql');
  const reader = createReader(engine.access, log, restarts ? ENGINE_OUTAGE_MAX_MS : 0);
  const restartEngine = restarts ? engine.restart : null;
  const run: string[] = [];
  const sandbox = openSandbox({
    access: engine.access,
    log,
    cores: CORES,
    restartEngine,
    secondsOf: sqlTierSeconds,
    observeGuest: (guest) => ({
      ...guest,
      query: (query, signal) => {
        run.push(query.text);
        return guest.query(query, signal);
      },
    }),
    ...over,
  });
  const api = await testApi(reader, { sandbox, config, jobsOver: engine.access });
  const { store } = api.access.access;
  return {
    api,
    engine,
    runsOf: (text) => run.filter((ran) => ran.includes(text)).length,
    customer: async ({ units = 1_000, plan = 'free' } = {}) => {
      const organizationId = await createOrganization(store, { units, plan });
      const headers = { 'x-api-key': await addKey(store, { organizationId }) };
      return {
        organizationId,
        headers,
        ask: (body, more = {}) => ask(api, body, { ...headers, ...more }),
        units: async () => (await store.units.balance(organizationId)) ?? Promise.reject(new Error('gone')),
      };
    },
    close: async () => {
      await api.close();
      await sandbox.close();
      await reader.close();
      if (given === undefined) await engine.close();
    },
  };
}

/** What the engine itself finds in a Parquet file, sent to it as the data of a query. */
export async function readParquet(
  { access }: SandboxEngine,
  bytes: Buffer,
  structure: string,
): Promise<Record<string, unknown>[]> {
  const url = new URL(access.url);
  url.searchParams.set('query', 'SELECT * FROM sent FORMAT JSONEachRow');
  url.searchParams.set('sent_format', 'Parquet');
  url.searchParams.set('sent_structure', structure);
  for (const [name, value] of Object.entries(EXACT_OUTPUT)) url.searchParams.set(name, String(value));
  const form = new FormData();
  form.append('sent', new Blob([new Uint8Array(bytes)]), 'sent.parquet');
  const { user, password } = access.writer;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const answer = await fetch(url, { method: 'POST', body: form, headers: { authorization } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** A type as it is declared: the engine describes tuples over several lines. */
export const onOneLine = (type: unknown): string =>
  String(type).replaceAll(/\s+/g, ' ').replaceAll('( ', '(');

/** A query of the caller that the headers name. */
export async function ask(
  api: Pick<TestApi, 'app'>,
  body: SqlRequest | string,
  headers: Readonly<Record<string, string>>,
): Promise<SqlReply> {
  const answer = await api.app.inject({
    method: 'POST',
    url: '/v0/sql',
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(typeof body === 'string' ? { sql: body } : body),
  });
  if (answer.statusCode >= 400) watchText('refusals', answer.body);
  return {
    status: answer.statusCode,
    headers: answer.headers as Record<string, string | undefined>, // single-valued in our answers
    bytes: answer.rawPayload,
    text: answer.body,
    body:
      /json;|json$/.test(String(answer.headers['content-type'])) &&
      !/ndjson/.test(String(answer.headers['content-type']))
        ? answer.json()
        : undefined,
  };
}
