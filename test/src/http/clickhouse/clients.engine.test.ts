import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { afterAll, describe, expect } from 'vitest';
import { startEmbeddedEngine } from '../../../../clickhouse/embedded/supervisor.ts';
import { DOOR_ROWS, type Door, openDoor } from '../../../kit/clickhouse-door.ts';
import { testLog } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { peersAreThere, requirePeer } from '../../../kit/peers.ts';

/** The interface as published clients use it. */

let door: Door;

test.beforeAll(async ({ sqlService }) => {
  door = await openDoor(sqlService);
});
test.beforeEach(async () => {
  await door.renew();
});
afterAll(async () => {
  await door?.close();
});

const COUNT = 'SELECT count() AS n FROM settlements';

test('@clickhouse/client pings, queries with parameters, streams, and shows errors whole', async () => {
  const client: ClickHouseClient = createClient({
    url: door.url,
    username: 'analyst',
    password: door.key,
    database: 'default',
    compression: { response: true },
    clickhouse_settings: { max_threads: 4, output_format_json_quote_64bit_integers: 0 },
  });
  try {
    expect(await client.ping()).toEqual({ success: true });
    const query = 'SELECT toUInt32({n:UInt32}) AS n, {s:String} AS s';
    const one = await client.query({
      query,
      query_params: { n: 7, s: "it's\ta tab" },
      format: 'JSONEachRow',
    });
    expect(await one.json()).toEqual([{ n: 7, s: "it's\ta tab" }]);
    const list = await client.query({
      query: 'SELECT {l:Array(String)} AS l, {o:Nullable(String)} AS o',
      query_params: { l: ["it's", 'b\\'], o: null },
      format: 'JSONEachRow',
    });
    expect(await list.json()).toEqual([{ l: ["it's", 'b\\'], o: null }]);
    const all = await client.query({ query: COUNT, format: 'JSON' });
    expect(await all.json()).toMatchObject({
      data: [{ n: DOOR_ROWS }],
      meta: [{ name: 'n', type: 'UInt64' }],
      rows: 1,
    });
    const streamed = await client.query({ query: 'SELECT number FROM numbers(20000)', format: 'CSV' });
    let rows = 0;
    for await (const part of streamed.stream()) rows += part.length;
    expect(rows).toBe(20_000);
    await expect(client.query({ query: 'SELECT nope FROM settlements' })).rejects.toMatchObject({
      code: '47',
      type: 'UNKNOWN_IDENTIFIER',
      message: expect.stringContaining('nope'),
    });
    await expect(
      client.insert({ table: 'settlements', values: [{ a: 1 }], format: 'JSONEachRow' }),
    ).rejects.toMatchObject({
      code: '164',
      type: 'READONLY',
    });
    await expect(client.command({ query: 'DROP TABLE settlements' })).rejects.toMatchObject({ code: '164' });
  } finally {
    await client.close();
  }
  const stranger = createClient({ url: door.url, password: 'guess' });
  await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({
    code: '516',
    type: 'AUTHENTICATION_FAILED',
  });
  await stranger.close();
});

interface OldClient {
  query(text: string, more?: object): { toPromise(): Promise<unknown> };
}
interface CubeDriver {
  testConnection(): Promise<unknown>;
  query(text: string, values: readonly unknown[]): Promise<unknown>;
  release(): Promise<void>;
}
interface DbgateDriver {
  connect(connection: object): Promise<object>;
  getVersion(handle: object): Promise<{ version: string }>;
  listDatabases(handle: object): Promise<readonly { name: string }[]>;
  query(handle: object, text: string, options?: object): Promise<{ rows: object[]; columns: object[] }>;
  stream(handle: object, text: string, options: object): Promise<unknown>;
  analyseFull(handle: object, version: object): Promise<DbgateStructure>;
  close(handle: object): Promise<void>;
}
interface DbgateStructure {
  readonly tables: readonly {
    pureName: string;
    columns: readonly { columnName: string; dataType: string }[];
  }[];
  readonly views: readonly {
    pureName: string;
    columns: readonly { columnName: string; dataType: string }[];
  }[];
}

/** The plugin as DbGate loads it, which gives it one package of its own as a global. */
function loadDbgate(): DbgateDriver {
  Object.assign(globalThis, { DBGATE_PACKAGES: { 'dbgate-tools': requirePeer('dbgate-tools') } });
  const plugin = requirePeer('dbgate-plugin-clickhouse') as {
    initialize?: (env: object) => void;
    drivers: [DbgateDriver];
  };
  plugin.initialize?.({});
  return plugin.drivers[0];
}

describe.skipIf(!peersAreThere())('clients of others', () => {
  test('@clickhouse/client-web queries and shows errors', async () => {
    const { createClient: createWebClient } = requirePeer('@clickhouse/client-web') as {
      createClient: typeof createClient; // the same interface, for browsers
    };
    const client = createWebClient({
      url: door.url,
      username: 'x',
      password: door.key,
      compression: { response: true },
    });
    const answer = await client.query({ query: COUNT, format: 'JSONCompact' });
    expect(await answer.json()).toMatchObject({ data: [[DOOR_ROWS]] });
    await expect(client.query({ query: 'SELEC' })).rejects.toMatchObject({ code: '62' });
    await client.close();
  });

  test('clickhouse (npm) queries with parameters and shows errors', async () => {
    const { ClickHouse } = requirePeer('clickhouse') as { ClickHouse: new (options: object) => OldClient }; // no types of its own
    const { hostname, port } = new URL(door.url);
    const client = new ClickHouse({
      url: `http://${hostname}`,
      port: Number(port),
      basicAuth: { username: 'x', password: door.key },
      isUseGzip: true,
      format: 'json',
      config: {
        session_id: 'session_id if need',
        session_timeout: 60,
        output_format_json_quote_64bit_integers: 0,
        enable_http_compression: 0,
        database: 'default',
      },
    });
    expect(await client.query(COUNT).toPromise()).toEqual([{ n: DOOR_ROWS }]);
    expect(await client.query('SELECT {a:UInt8} AS a', { params: { a: 5 } }).toPromise()).toEqual([{ a: 5 }]);
    await expect(client.query('SELECT nope FROM settlements').toPromise()).rejects.toThrow(/nope/);
  });

  test('@cubejs-backend/clickhouse-driver tests its connection and queries', async () => {
    const { hostname, port } = new URL(door.url);
    const { ClickHouseDriver } = requirePeer('@cubejs-backend/clickhouse-driver') as {
      ClickHouseDriver: new (options: object) => CubeDriver;
    };
    const driver = new ClickHouseDriver({
      host: hostname,
      port,
      username: 'x',
      password: door.key,
      database: 'default',
      protocol: 'http:',
    });
    try {
      await driver.testConnection();
      const rows = await driver.query(
        'SELECT count() AS n FROM default.settlements WHERE log_index < ?',
        [10],
      );
      expect(rows).toEqual([{ n: '10' }]);
    } finally {
      await driver.release();
    }
  });

  test('dbgate-plugin-clickhouse connects, shows the structure, queries and shows errors', async () => {
    const driver = loadDbgate();
    const handle = await driver.connect({
      databaseUrl: door.url,
      user: 'x',
      password: door.key,
      database: 'default',
    });
    try {
      expect((await driver.getVersion(handle)).version).toMatch(/^\d+\.\d+/);
      expect(await driver.listDatabases(handle)).toContainEqual({ name: 'default' });
      const { tables, views } = await driver.analyseFull(handle, await driver.getVersion(handle));
      const settlements = [...tables, ...views].find(({ pureName }) => pureName === 'settlements');
      expect(settlements?.columns.map(({ columnName }) => columnName)).toContain('amount_usd');
      const { rows } = await driver.query(handle, COUNT);
      expect(rows).toEqual([{ n: DOOR_ROWS }]);
      await expect(driver.query(handle, 'SELECT nope FROM settlements')).rejects.toThrow(/nope/);
      const seen: object[] = [];
      await new Promise<void>((done, fail) => {
        const row = (one: object) => void seen.push(one);
        const info = ({ severity, message }: { severity: string; message: string }) =>
          severity === 'error' ? fail(new Error(message)) : undefined;
        driver
          .stream(handle, 'SELECT log_index FROM settlements ORDER BY 1 LIMIT 3', {
            recordset: () => undefined,
            row,
            info,
            done,
          })
          .catch(fail);
      });
      expect(seen).toHaveLength(3);
    } finally {
      await driver.close(handle);
    }
  });
});

test('url() of a ClickHouse server elsewhere reads an answer as a table', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-elsewhere-'));
  const elsewhere = await startEmbeddedEngine({
    ...{ dataDir, database: 'elsewhere', maxMemoryMegabytes: 1_024, log: testLog },
    // Ours connects to nothing.
    without: ['sockets'],
  });
  try {
    const source = `${door.url}/?password=${door.key}&default_format=RowBinary&query=${encodeURIComponent('SELECT log_index, payer FROM settlements ORDER BY 1')}`;
    const { url, writer } = elsewhere.access;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'x-clickhouse-user': writer.user, 'x-clickhouse-key': writer.password },
      body: `SELECT count(), max(i) FROM url('${source}', RowBinary, 'i UInt32, p String')`,
    });
    expect(await answer.text()).toBe(`${DOOR_ROWS}\t${DOOR_ROWS - 1}\n`);
  } finally {
    await elsewhere.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
