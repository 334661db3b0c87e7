import { randomUUID } from 'node:crypto';
import { type ClickhouseListener, listenForClickhouse } from '../../src/http/clickhouse/listener.ts';
import { BASE, insertSettlements, reportChain, settlement } from './rows.ts';
import { watchText } from './secrets-watch.ts';
import type { Customer, SqlApi } from './sql-api.ts';

/** The ClickHouse interface at the root of a port, over a real sandbox, and a customer with a key. */
export interface Door {
  readonly url: string;
  /** The customer's key, which is the password. */
  readonly key: string;
  /** The present customer; another one from time to time, because a tier has few queries a minute. */
  customer(): Customer;
  /** A new customer, who has asked nothing yet. */
  renew(): Promise<Customer>;
  /** Sends a text; the words stand in the URL. */
  ask(text: string, words?: Readonly<Record<string, string>>, init?: RequestInit): Promise<DoorAnswer>;
  close(): Promise<void>;
}

export interface DoorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Below the 30 a minute of a tier; a test may ask some more by itself. */
const ASKED_MAX = 15;

/** Rows of the table `settlements`. */
export const DOOR_ROWS = 30;

export async function openDoor(sql: SqlApi): Promise<Door> {
  const rows = Array.from({ length: DOOR_ROWS }, (_, logIndex) => settlement({ blockNumber: 5, logIndex }));
  await insertSettlements(sql.engine.writer, rows);
  await reportChain(sql.engine.writer, BASE, { finalized_block: '1000' });
  await sql.api.app.ready();
  const listener: ClickhouseListener = await listenForClickhouse(sql.api.app, {
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    keepAliveMs: 5_000,
    socketAnswers: { publicUrl: '', newId: randomUUID },
  });
  const newCustomer = () => sql.customer({ units: 100_000, plan: 'enterprise' });
  let customer = await newCustomer();
  let asked = 0;
  const keyOf = () => customer.headers['x-api-key'] ?? '';
  const renew = async (): Promise<Customer> => {
    asked = 0;
    customer = await newCustomer();
    return customer;
  };
  return {
    url: listener.url,
    customer: () => customer,
    renew,
    get key() {
      return keyOf();
    },
    async ask(text, words = {}, init = {}) {
      asked += 1;
      if (asked > ASKED_MAX) await renew();
      const url = new URL(listener.url);
      for (const [name, value] of Object.entries(words)) url.searchParams.set(name, value);
      const answer = await fetch(url, {
        method: 'POST',
        body: text,
        ...init,
        headers: { 'x-clickhouse-key': keyOf(), 'accept-encoding': 'identity', ...init.headers },
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (answer.status >= 400) watchText('refusals', bytes.toString());
      return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() };
    },
    close: () => listener.close(),
  };
}
