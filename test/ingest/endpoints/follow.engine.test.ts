import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { SEEN } from '../../../core/domain/evidence.ts';
import { openEndpoints } from '../../../ingest/endpoints/follow.ts';
import { WHOLE } from '../../../ingest/endpoints/list.ts';
import { syncSource } from '../../../ingest/endpoints/sync.ts';
import type { EndpointLimits } from '../../../ingest/endpoints/watch.ts';
import { openCatalogue } from '../../../ingest/grading/regrade/follow.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type Bazaar, listedItem, sendPage, startBazaar } from '../../kit/bazaar.ts';
import { type TestEngine, testEngine, testLog } from '../../kit/engine.ts';
import { insertSettlements, settlement, wallet } from '../../kit/rows.ts';
import { type StrangerServer, strangerServer } from '../../kit/stranger-server.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** The endpoint catalogue as ingest runs it: real files, a real bazaar, a real seller, the real regrade behind them. */

let engine: TestEngine;
let directory: string;
let bazaar: Bazaar;
const started: { readonly ending: AbortController; readonly running: Promise<unknown> }[] = [];
const servers: Server[] = [];
const SHOP = wallet(0xb2);
const QUICK = {
  lookEveryMs: 20,
  recountMs: 1_000,
  listEveryMs: 50,
  payeesEveryMs: 0,
  refreshMs: 60_000,
  retryMs: 200,
} satisfies Partial<EndpointLimits>;

beforeEach(async () => {
  engine = await testEngine();
  directory = mkdtempSync(join(tmpdir(), 'settlement-index-endpoints-'));
  bazaar = await startBazaar();
  write('catalogue.json', {});
  configure({ facilitators: [{ id: 'shop', url: bazaar.url }] });
});
afterEach(async () => {
  await stop();
  await bazaar.close();
  for (const server of servers.splice(0)) server.close();
  await engine?.close();
  rmSync(directory, { recursive: true, force: true });
});

function write(name: string, content: unknown): void {
  const path = join(directory, name);
  writeFileSync(`${path}.new`, typeof content === 'string' ? content : JSON.stringify(content));
  renameSync(`${path}.new`, path);
}

function configure(
  catalogue: Record<string, unknown>,
  identities: Record<string, unknown> = { allowPrivateHosts: true },
): void {
  write('config.json', {
    catalogue: { file: join(directory, 'catalogue.json'), ...catalogue },
    identities,
  });
}

async function start(limits: Partial<EndpointLimits> = QUICK): Promise<void> {
  const ending = new AbortController();
  const deps = {
    config: loadConfig({ file: join(directory, 'config.json'), env: { PUBLIC_FACILITATORS: 'false' } }),
    writer: engine.writer,
    versions: createVersions(0n),
    log: testLog,
    signal: ending.signal,
  };
  const endpoints = await openEndpoints({ ...deps, limits, bazaarLimits: { pauseMs: 0 } });
  const catalogue = await openCatalogue({
    ...deps,
    listed: endpoints.payees,
    lookEveryMs: QUICK.lookEveryMs,
  });
  const running = Promise.all([catalogue.follow(), endpoints.follow(catalogue.listings)]);
  running.catch(() => undefined);
  started.push({ ending, running });
}

async function stop(): Promise<void> {
  for (const { ending, running } of started.splice(0)) {
    ending.abort();
    await running.catch((error: unknown) => {
      if (!ending.signal.aborted || !String(error).includes('bort')) throw error;
    });
  }
}

async function ask(statement: Sql): Promise<readonly (readonly unknown[])[]> {
  return (await engine.reader.rows({ name: 'test', sql: statement, maxSeconds: 10, maxRows: 5_000 })).rows;
}

const listed = async () =>
  (await ask(sql`SELECT resource FROM endpoint_list FINAL WHERE del = 0 ORDER BY resource`)).map(String);
const lists =
  (...resources: string[]) =>
  async () =>
    JSON.stringify(await listed()) === JSON.stringify(resources);
const methods = async () =>
  (await ask(sql`SELECT toString(method) FROM settlements FINAL WHERE del = 0 ORDER BY block_number`)).map(
    String,
  );
const passes = async () => Number((await ask(sql`SELECT uniqExact(pass) FROM catalogue_passes`))[0]?.[0]);
const states = () =>
  ask(
    sql`SELECT source, problem, good_at > toDateTime(0), toUInt32(items) FROM endpoint_sources FINAL WHERE del = 0 ORDER BY source`,
  );

/** The state of a source is written after its listings. */
const TOLD_WITHIN_MS = 60_000;
const told = <Answer>(ask: () => Promise<Answer>) => expect.poll(ask, { timeout: TOLD_WITHIN_MS });

const RELAYED = { seen: SEEN.authorization_used | SEEN.third_party_relay | SEEN.direct_call };

test('a count is recorded once its endpoints are listed, and again when it finds nothing new', async () => {
  const recorded = async () => {
    const [row] = await ask(sql`SELECT toUnixTimestamp(counted_at), ver FROM endpoint_counts FINAL`);
    return row === undefined ? null : { at: Number(row[0]), ver: BigInt(String(row[1])) };
  };
  const paid = async () =>
    Number((await ask(sql`SELECT sum(settlement_count) FROM endpoint_list FINAL WHERE del = 0`))[0]?.[0]);
  const began = Math.floor(Date.now() / 1_000);
  bazaar.items = [listedItem('https://shop.example/1', { payTo: SHOP })];
  await start();
  await waitUntil('the list is derived', lists('https://shop.example/1'));
  await waitUntil('a count is recorded', async () => (await recorded()) !== null);
  const first = await recorded();
  if (first === null) throw new Error('no count');
  expect(first.at).toBeGreaterThanOrEqual(began);
  // Twenty times as long as the first one took, which on a busy machine is a minute.
  await waitUntil('another count', async () => ((await recorded())?.at ?? 0) > first.at, 150_000);
  expect(await paid()).toBe(0);
}, 180_000);

test('payments to a listed address count as payments to a catalogued payee, after one pass for the whole list', async () => {
  await insertSettlements(engine.writer, [
    settlement({ blockNumber: 1, payee: SHOP, ...RELAYED }),
    settlement({ blockNumber: 2, payee: wallet(0x77), ...RELAYED }),
  ]);
  bazaar.items = Array.from({ length: 450 }, (_, at) =>
    listedItem(`https://shop.example/${at}`, { payTo: at === 0 ? SHOP : wallet(0x1000 + at) }),
  );
  await start();
  await waitUntil('the payment is graded anew', async () => (await methods())[0] === 'catalogued_payee');
  expect(await methods()).toEqual(['catalogued_payee', 'gasless_authorization']);
  await waitUntil('the list is derived', async () => (await listed()).length === 450);
  // The relayers of the built-in table are one pass, the payees of the list another.
  expect(await passes()).toBe(2);
  expect(
    await ask(
      sql`SELECT name, resource, source FROM (SELECT * FROM catalogued_payees FINAL) WHERE del = 0 AND address = unhex(${{ kind: 'value', type: 'String', value: SHOP.slice(2) }})`,
    ),
  ).toEqual([['shop.example', 'https://shop.example/0', 'bazaar']]);

  // A restart without the bazaar keeps every name and regrades nothing.
  await stop();
  await bazaar.close();
  await start();
  await waitUntil('the bazaar is found to be gone', async () => (await states())[0]?.[1] === 'unreachable');
  expect(await methods()).toEqual(['catalogued_payee', 'gasless_authorization']);
  expect(await passes()).toBe(2);
  expect((await listed()).length).toBe(450);
}, 60_000);

test('a configured name stays above a listed one', async () => {
  configure({
    facilitators: [{ id: 'shop', url: bazaar.url }],
    payees: [{ chain: 'base', address: SHOP, name: 'The Shop' }],
  });
  bazaar.items = [
    listedItem('https://imposter.example/', { payTo: SHOP, item: { serviceName: 'Imposter' } }),
    listedItem('https://other.example/', { payTo: wallet(0xc4) }),
  ];
  await start();
  const payees = () =>
    ask(sql`SELECT name, source FROM (SELECT * FROM catalogued_payees FINAL) WHERE del = 0 ORDER BY address`);
  await waitUntil('the list is in force', async () => (await payees()).length === 2);
  expect(await payees()).toEqual([
    ['The Shop', 'configured'],
    ['other.example', 'bazaar'],
  ]);
});

test('an address whose offer is gone stays a payee for a while, and goes with its source', async () => {
  const payees = async () =>
    (await ask(sql`SELECT name FROM (SELECT * FROM catalogued_payees FINAL) WHERE del = 0`)).map(String);
  bazaar.items = [listedItem('https://shop.example/', { payTo: SHOP })];
  await start({ ...QUICK, refreshMs: 100 });
  await waitUntil('it is a payee', async () => (await payees()).length === 1);
  bazaar.items = [listedItem('https://other.example/', { payTo: wallet(0xc4) })];
  await waitUntil('its offer is gone', lists('https://other.example/'));
  await waitUntil('the payees are the addresses of the new list', async () =>
    (await payees()).includes('other.example'),
  );
  expect(await payees()).toContain('shop.example');
  configure({});
  await waitUntil('it is no payee any more', async () => (await payees()).length === 0);
});

test('sources come and go with the configuration, and the catalogue file is read again when it changes', async () => {
  bazaar.items = [listedItem('https://one.example/')];
  write('catalogue.json', { endpoints: [listedItem('https://file.example/a'), { nonsense: true }, 7] });
  await start();
  await waitUntil('both are listed', lists('https://file.example/a', 'https://one.example/'));
  write('catalogue.json', { endpoints: [listedItem('https://file.example/b')] });
  await waitUntil('the file is read again', lists('https://file.example/b', 'https://one.example/'));
  write('catalogue.json', '{ broken');
  configure({});
  write('catalogue.json', {});
  await waitUntil('both are gone', lists());
  configure({ facilitators: [{ id: 'shop', url: bazaar.url }] });
  await waitUntil('who comes back is read at once', lists('https://one.example/'));
  configure({});
  await waitUntil('it is gone again', lists());
  await told(states).toEqual([['file', '', 1, 0]]);
}, 60_000);

test('a seller lists only its own resources at /.well-known/x402', async () => {
  const server = createServer((request, response) =>
    request.url === '/.well-known/x402'
      ? response.setHeader('content-type', 'application/json').end(
          JSON.stringify({
            x402Version: 2,
            resources: [
              'https://only-a-url.example/',
              listedItem('/relative'),
              listedItem('https://elsewhere.example/'),
              {
                resource: '/v1',
                scheme: 'exact',
                network: 'base',
                maxAmountRequired: '7',
                asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
                payTo: SHOP,
              },
            ],
          }),
        )
      : response.writeHead(404).end(),
  );
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const origin = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
  configure({ wellKnown: [origin] });
  await start();
  await waitUntil('its own are listed', lists(`${origin}/relative`, `${origin}/v1`));
  await told(states).toEqual([
    ['file', '', 1, 0],
    [`well_known:${origin}`, '', 1, 2],
  ]);
});

test('a bazaar that fails is asked again soon, and its state names the failure', async () => {
  bazaar.manners = (response) => Boolean(response.writeHead(403).end());
  await start();
  await waitUntil('the failure is recorded', async () => (await states())[0]?.[1] === 'refused', 60_000);
  bazaar.items = [listedItem('https://late.example/')];
  bazaar.manners = () => false;
  await waitUntil('it is read', lists('https://late.example/'), 60_000);
  await told(async () => (await states())[0]).toEqual(['bazaar:shop', '', 1, 1]);
}, 60_000);

test('offers of a source whose first reading was cut off, and which is not configured any more, are gone', async () => {
  const { signal } = new AbortController();
  await syncSource(
    {
      writer: engine.writer,
      versions: createVersions(0n),
      tokens: { addressOf: () => null, tokenOf: () => null },
      nowMs: Date.now,
      log: testLog,
      signal,
    },
    {
      id: 'bazaar:gone',
      kind: 'bazaar',
      host: '',
      mark: '',
      read: (take) => take([listedItem('https://gone.example/')]).then(() => WHOLE),
    },
  );
  bazaar.items = [listedItem('https://one.example/')];
  await start();
  await waitUntil('only the other is listed', lists('https://one.example/'));
  await told(async () => (await states()).map(([source]) => source)).toEqual(['bazaar:shop', 'file']);
});

test('the directory fills while a long list is being read', async () => {
  const gate = { open: (): void => undefined };
  const opened = new Promise<void>((resolve) => (gate.open = resolve));
  bazaar.items = Array.from({ length: 2_100 }, (_, at) => listedItem(`https://shop.example/${at}`));
  bazaar.manners = (response, question) => {
    if (question.offset < 2_000) return false;
    void opened.then(() => sendPage(response, bazaar.items, question));
    return true;
  };
  await start({ ...QUICK, listEveryMs: 0 });
  await waitUntil('what was read so far is listed', async () => (await listed()).length === 2_000);
  gate.open();
  await waitUntil('the rest is', async () => (await listed()).length === 2_100);
});

describe('a contest over a resource', () => {
  const [OWNER, IMPOSTOR] = [wallet(0x0e), wallet(0xbad)];
  let domain: StrangerServer;
  /** Not the bazaar's: a host is asked for one thing at a time. */
  const HOST = '127.0.0.2';
  const originOf = () => `http://${HOST}:${domain.port}`;
  const resourceOf = () => `${originOf()}/forecast`;
  const headline = () =>
    ask(sql`SELECT resource, pay_to, is_published, contested FROM endpoint_list FINAL WHERE del = 0`);
  const stateOfDomain = async () =>
    (await states()).find(([source]) => source === `well_known:${originOf()}`)?.slice(1);
  const own =
    (...paths: string[]): RequestListener =>
    (_request, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ resources: paths.map((path) => listedItem(path, { payTo: OWNER })) }));

  /** Two listings of one resource, the impostor's first and cheaper. */
  async function contest(listener: RequestListener): Promise<void> {
    domain = await strangerServer(listener, HOST);
    bazaar.items = [
      listedItem(resourceOf(), { payTo: IMPOSTOR, amount: '1' }),
      listedItem(resourceOf(), { payTo: OWNER }),
    ];
  }
  afterEach(() => domain.close());

  test('is decided by the file of the domain, which is read for contested resources only', async () => {
    await contest(own('/forecast', '/uncontested'));
    await start();
    await waitUntil('the owner is named', async () => (await headline())[0]?.[1] === OWNER);
    expect(await headline()).toEqual([[resourceOf(), OWNER, 1, 1]]);
    await told(stateOfDomain).toEqual(['', 1, 1]);
    expect(domain.asked).toEqual(['/.well-known/x402']);
    // The contest is over, and with it the reason to ask.
    bazaar.items = [listedItem(resourceOf(), { payTo: OWNER })];
    await stop();
    await start();
    await waitUntil('the file is forgotten', async () => (await stateOfDomain()) === undefined);
    await waitUntil('the bazaar lists it', async () => (await headline())[0]?.[2] === 0);
    expect(await headline()).toEqual([[resourceOf(), OWNER, 0, 0]]);
  });

  test('stays open while the domain does not answer, which is asked once an hour, restarts or not', async () => {
    await contest((_request, response) => response.writeHead(500).end());
    await start();
    await told(stateOfDomain).toEqual(['refused', 0, 0]);
    await stop();
    bazaar.items = [...bazaar.items, listedItem('https://later.example/')];
    await start({ ...QUICK, retryMs: 0 });
    await waitUntil('the bazaar was read again', async () =>
      (await listed()).includes('https://later.example/'),
    );
    expect(domain.asked).toEqual(['/.well-known/x402']);
    expect(await headline()).toContainEqual([resourceOf(), IMPOSTOR, 0, 1]);
  });

  test('sends no request to a private address', async () => {
    await contest(own('/forecast'));
    configure({ facilitators: [{ id: 'shop', url: bazaar.url }] }, { allowHttp: true, ports: [domain.port] });
    await start();
    await told(stateOfDomain).toEqual(['forbidden_address', 0, 0]);
    expect(domain.connections()).toBe(0);
    expect(await headline()).toEqual([[resourceOf(), IMPOSTOR, 0, 1]]);
  });

  test('sends no request where fetching of third-party files is off', async () => {
    await contest(own('/forecast'));
    configure({ facilitators: [{ id: 'shop', url: bazaar.url }] }, { allowPrivateHosts: true, fetch: false });
    await start();
    await waitUntil('the contest is listed', async () => (await headline()).length === 1);
    bazaar.items = [...bazaar.items, listedItem('https://later.example/')];
    configure(
      { facilitators: [{ id: 'shop', url: `${bazaar.url}/` }] },
      { allowPrivateHosts: true, fetch: false },
    );
    await waitUntil('the bazaar was read again', async () =>
      (await listed()).includes('https://later.example/'),
    );
    expect(domain.connections()).toBe(0);
    expect(await stateOfDomain()).toBeUndefined();
  });
});
