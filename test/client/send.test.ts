import type { RequestListener, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Client,
  type ClientOptions,
  createClient,
  type PaymentOffer,
  SettlementIndexError,
} from '../../client/index.ts';
import { encodeBase64Json } from '../../client/payment.ts';
import { type StrangerServer, strangerServer } from '../kit/stranger-server.ts';

/** What the client does when a service refuses, fails, lies or wants money: against servers that say what a test tells them. */

const open: StrangerServer[] = [];
afterAll(() => Promise.all(open.splice(0).map((server) => server.close())));

interface Seen {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

type Reply = (response: ServerResponse) => void;

/** A service that answers with one reply after the other, and the last one from then on. */
interface Service {
  readonly url: string;
  readonly seen: readonly Seen[];
  client(over?: Partial<ClientOptions>): Client;
}

async function serviceOf(...replies: Reply[]): Promise<Service> {
  const seen: Seen[] = [];
  const listener: RequestListener = ({ url = '', headers }, response) => {
    seen.push({ path: url, headers });
    const reply = replies[Math.min(seen.length, replies.length) - 1];
    reply?.(response);
  };
  const server = await strangerServer(listener);
  open.push(server);
  const url = `http://127.0.0.1:${server.port}`;
  return { url, seen, client: (over: Partial<ClientOptions> = {}) => createClient({ url, ...over }) };
}

const FLOWS = { flows: [], next_before: null, meta: {} };

function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  const type = status < 400 ? 'application/json' : 'application/problem+json; charset=utf-8';
  return (response) =>
    void response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body));
}

const served = json(200, FLOWS);

function refusal(status: number, code: string, headers: Record<string, string> = {}): Reply {
  return json(status, { code, detail: `about ${code}`, status }, { 'x-request-id': 'r-1', ...headers });
}

const busy = refusal(429, 'rate_limited', { 'retry-after': '0' });
const away = refusal(503, 'upstream_unavailable', { 'retry-after': '0' });

async function failureOf(work: PromiseLike<unknown>): Promise<SettlementIndexError> {
  const error: unknown = await Promise.resolve(work).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SettlementIndexError);
  return error as SettlementIndexError;
}

describe('a refusal that charged nothing', () => {
  test('is retried, three requests in all', async () => {
    const service = await serviceOf(busy, away, served);
    expect(await service.client().listFlows()).toEqual(FLOWS);
    const firm = await serviceOf(busy);
    const error = await failureOf(firm.client().listFlows());
    expect(error).toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryAfterSeconds: 0,
      requestId: 'r-1',
    });
    expect([service.seen.length, firm.seen.length]).toEqual([3, 3]);
  });

  test.each([
    ['asks for a longer wait than is allowed', refusal(429, 'rate_limited', { 'retry-after': '61' }), {}],
    ['does not say when', refusal(503, 'upstream_unavailable'), {}],
    ['names a date', refusal(503, 'upstream_unavailable', { 'retry-after': new Date().toUTCString() }), {}],
    ['is no refusal but a fault', refusal(500, 'internal_error', { 'retry-after': '0' }), {}],
    ['comes where nothing is to be repeated', busy, { retry: false }],
  ] as const)('is reported without a retry when it %s', async (_why, reply, options) => {
    const service = await serviceOf(reply);
    await failureOf(service.client(options).listFlows());
    expect(service.seen).toHaveLength(1);
  });

  test('an abort ends the wait', async () => {
    const service = await serviceOf(refusal(503, 'upstream_unavailable', { 'retry-after': '50' }));
    const leaving = new AbortController();
    const call = service.client().listFlows({}, { signal: leaving.signal }).withReply();
    call.catch(() => undefined);
    setTimeout(() => leaving.abort(new Error('enough')), 50);
    await expect(call).rejects.toThrow('enough');
  });
});

describe('an answer that is not of the service', () => {
  test('is distinguished: no service, another service, half an answer', async () => {
    const gone = await serviceOf(served);
    await open.pop()?.close();
    expect(await failureOf(gone.client().listFlows())).toMatchObject({
      code: 'connection_failed',
      status: 0,
    });
    const page = await serviceOf((response) => void response.writeHead(404).end('<html>'));
    expect(await failureOf(page.client().listFlows())).toMatchObject({
      code: 'unexpected_answer',
      status: 404,
    });
    const html = await serviceOf((response) => void response.end('<html>'));
    expect(await failureOf(html.client().listFlows())).toMatchObject({
      code: 'unexpected_answer',
      status: 200,
    });
    const cut = await serviceOf((response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"flows":[');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await failureOf(cut.client().listFlows())).toMatchObject({ code: 'connection_lost', status: 200 });
    expect(cut.seen).toHaveLength(1);
  });

  test('a redirect does not get the key', async () => {
    const other = await serviceOf(served);
    const service = await serviceOf(
      (response) => void response.writeHead(307, { location: other.url }).end(),
    );
    const error = await failureOf(service.client({ key: 'six_live_mine' }).listFlows());
    expect([error.code, other.seen]).toEqual(['connection_failed', []]);
    expect(inspect(error)).not.toContain('six_live_mine');
  });

  test('a page that names itself as the next one does not hold a walk forever', async () => {
    const service = await serviceOf(json(200, { ...FLOWS, next_before: 'same' }));
    const walk = async () => {
      for await (const _page of service.client().listFlows().pages());
    };
    expect(await failureOf(walk())).toMatchObject({ code: 'unexpected_answer' });
    expect(service.seen).toHaveLength(2);
  });
});

describe('rows that break off', () => {
  const rowsOf = async (reply: Reply): Promise<unknown[]> => {
    const service = await serviceOf(reply);
    const rows: unknown[] = [];
    try {
      for await (const row of service.client().sqlRows('SELECT 1')) rows.push(row);
    } catch (error) {
      rows.push((error as SettlementIndexError).code);
    }
    return rows;
  };
  const lines =
    (text: string, headers: Record<string, string> = {}): Reply =>
    (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', ...headers }).write(text);
      setTimeout(() => response.destroy(), 20);
    };

  const breaks: readonly (readonly [string, Reply])[] = [
    ['between rows', lines('{"n":1}\n{"n":2}\n')],
    ['within a row', lines('{"n":1}\n{"n":2}\n{"n":')],
    ['before the length that was promised', lines('{"n":1}\n{"n":2}\n', { 'content-length': '100' })],
    [
      'and look whole, but are fewer than the service counted',
      (response) =>
        void response
          .writeHead(200, { 'x-row-count': '3', 'x-truncated': 'false' })
          .end('{"n":1}\n{"n":2}\n'),
    ],
    [
      'in a last line without its end',
      (response) => void response.writeHead(200).end('{"n":1}\n{"n":2}\n{"n":3'),
    ],
  ];

  test.each(breaks)('%s are an error after those that came', async (_where, reply) => {
    expect(await rowsOf(reply)).toEqual([{ n: 1 }, { n: 2 }, 'connection_lost']);
  });

  /** An answer whose body arrives in exactly these pieces, each when it is asked for. */
  const clientOf = (pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void) => {
    const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    return createClient({ url: 'http://127.0.0.1', fetch: async () => new Response(body) });
  };

  test('rows are complete whatever chunks they arrive in', async () => {
    const bytes = [...Buffer.from('{"n":"ä€😀"}\n{"n":2}\n')];
    const client = clientOf((controller) => {
      const next = bytes.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(Uint8Array.of(next));
    });
    const rows = [];
    for await (const row of client.sqlRows('SELECT 1')) rows.push(row);
    expect(rows).toEqual([{ n: 'ä€😀' }, { n: 2 }]);
  });

  test('nothing is read ahead of the loop but the current chunk', async () => {
    let pulled = 0;
    const client = clientOf((controller) => {
      pulled += 1;
      controller.enqueue(Buffer.from('{"n":1}\n'));
    });
    for await (const _row of client.sqlRows('SELECT 1')) if (pulled === 3) break;
    expect(pulled).toBe(3);
  });
});

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const terms = (amount: string, over: object = {}) => ({
  scheme: 'exact',
  network: 'eip155:8453',
  asset: USDC,
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  amount,
  maxTimeoutSeconds: 60,
  extra: {},
  ...over,
});
const offering = (...accepts: object[]): Reply =>
  refusal(402, 'payment_required', {
    'payment-required': encodeBase64Json({ x402Version: 2, resource: { url: 'http://x' }, accepts }),
  });
const RECEIPT = { success: true, transaction: '0xabc', network: 'eip155:8453', payer: '0x1' };
const paid = json(200, FLOWS, { 'payment-response': encodeBase64Json(RECEIPT) });

/** Signs everything, and remembers what it was asked to sign. */
function signer() {
  const offers: PaymentOffer[] = [];
  const payer = async (offer: PaymentOffer) => {
    offers.push(offer);
    return `signed-${offers.length}`;
  };
  return { offers, payer };
}

describe('a call that requires a payment', () => {
  test('is an error without a payer', async () => {
    const service = await serviceOf(offering(terms('1000')));
    expect(await failureOf(service.client().listFlows())).toMatchObject({
      code: 'payment_required',
      status: 402,
    });
  });

  test('is paid once, and the receipt comes with the answer', async () => {
    const service = await serviceOf(offering(terms('1000')), paid);
    const { offers, payer } = signer();
    const receipts: unknown[] = [];
    const client = service.client({ payer, onReceipt: (receipt) => receipts.push(receipt) });
    const { body, receipt } = await client.listFlows({ limit: 3 }).withReply();
    expect([body, receipt, receipts]).toEqual([FLOWS, RECEIPT, [RECEIPT]]);
    expect(offers).toMatchObject([{ method: 'GET', url: `${service.url}/v0/flows?limit=3`, usd: '0.001' }]);
    expect(service.seen.map(({ headers }) => headers['x-payment'])).toEqual([undefined, 'signed-1']);
    expect(client.signedUsd()).toBe('0.001');
  });

  const losses: readonly (readonly [string, Reply])[] = [
    ['the service fails', refusal(500, 'internal_error')],
    ['it is not there for the moment', away],
    ['it does not know whether the payment settled', refusal(502, 'settlement_unknown')],
    ['the payment is still in use', refusal(409, 'payment_in_progress', { 'retry-after': '0' })],
    ['the connection breaks', (response) => void response.destroy()],
    [
      'the answer breaks off',
      (response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{');
        setTimeout(() => response.destroy(), 20);
      },
    ],
  ];

  test.concurrent.each(losses)('is repeated with the same payment when %s', async (_why, reply) => {
    const service = await serviceOf(offering(terms('1000')), reply, paid);
    const { offers, payer } = signer();
    expect(await service.client({ payer }).listFlows()).toEqual(FLOWS);
    expect(service.seen.map(({ headers }) => headers['x-payment'])).toEqual([
      undefined,
      'signed-1',
      'signed-1',
    ]);
    expect(offers).toHaveLength(1);
  });

  test('is not paid again when the payment is refused; the error holds the payment, but does not print it', async () => {
    const service = await serviceOf(offering(terms('1000')), refusal(402, 'payment_invalid'));
    const { offers, payer } = signer();
    const error = await failureOf(service.client({ payer }).listFlows());
    expect([error.code, error.payment, offers.length]).toEqual(['payment_invalid', 'signed-1', 1]);
    expect(`${inspect(error, { showHidden: true })}${JSON.stringify(error)}`).not.toContain('signed-1');
  });

  test('accepts a payment that was signed before', async () => {
    const service = await serviceOf(paid);
    await service.client().listFlows({}, { payment: 'kept' });
    expect(service.seen[0]?.headers['x-payment']).toBe('kept');
  });
});

describe('the caps', () => {
  test('what costs more than maxUsd is not signed', async () => {
    const service = await serviceOf(offering(terms('100001')));
    const { offers, payer } = signer();
    const error = await failureOf(service.client({ payer }).listFlows());
    expect(error).toMatchObject({ code: 'payment_over_cap', status: 402 });
    expect(error.detail).toContain('0.100001 USD, more than maxUsd (0.1 USD)');
    expect(offers).toEqual([]);
  });

  test('terms beyond the cap, and in tokens of unknown value, are kept from the payer', async () => {
    const unknown = terms('1', { asset: `0x${'9'.repeat(40)}` });
    const elsewhere = terms('1', { network: 'eip155:1' });
    const service = await serviceOf(offering(terms('20000'), unknown, elsewhere, terms('10000')), paid);
    const { offers, payer } = signer();
    await service.client({ payer, maxUsd: '0.01' }).listFlows();
    expect(offers[0]?.required.accepts).toEqual([terms('10000')]);
    const odd = await serviceOf(offering(unknown), paid);
    expect((await failureOf(odd.client({ payer }).listFlows())).detail).toContain('offerTokens');
    const named = { [`eip155:8453/${unknown.asset}`]: 18 };
    expect(await odd.client({ payer, offerTokens: named }).listFlows()).toEqual(FLOWS);
  });

  test('tokens of Solana are known by their address, whose case counts', async () => {
    const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
    const asset = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    const onSolana = terms('1000', { network, asset });
    const other = terms('1', { network, asset: asset.toLowerCase() });
    const { offers, payer } = signer();
    await (await serviceOf(offering(other, onSolana), paid)).client({ payer }).listFlows();
    expect(offers[0]?.required.accepts).toEqual([onSolana]);
    const own = terms('1', { network, asset: 'So11111111111111111111111111111111111111112' });
    const service = await serviceOf(offering(own), paid);
    const named = { [`${network}/${own.asset}`]: 9 };
    expect(await service.client({ payer, offerTokens: named }).listFlows()).toEqual(FLOWS);
  });

  test('concurrent calls do not spend the same rest of maxTotalUsd', async () => {
    const service: Service = await serviceOf((response) => {
      const payment = service.seen.at(-1)?.headers['x-payment'];
      (payment === undefined ? offering(terms('1000')) : paid)(response);
    });
    const { offers, payer } = signer();
    const client = service.client({ payer, maxTotalUsd: '0.0025' });
    const calls = await Promise.allSettled([1, 2, 3].map((limit) => client.listFlows({ limit })));
    expect(calls.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect([offers.length, client.signedUsd()]).toEqual([2, '0.002']);
    expect(calls.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { detail: expect.stringContaining('the rest of maxTotalUsd (0.0005 USD)') },
    });
  });

  test('a payer that fails has signed for nothing', async () => {
    const service = await serviceOf(offering(terms('1000')));
    const client = service.client({ payer: () => Promise.reject(new Error('locked')) });
    await expect(client.listFlows()).rejects.toThrow('locked');
    expect(client.signedUsd()).toBe('0');
  });

  test.each(['1,5', '-1', '', '0.0000001', '1e3'])('%j is no cap', (maxUsd) => {
    expect(() => createClient({ url: 'http://127.0.0.1', payer: signer().payer, maxUsd })).toThrow(/maxUsd/);
  });
});

test('a key that no header can hold is refused without being shown', () => {
  const make = () => createClient({ url: 'http://127.0.0.1', key: 'six_live_ключ' });
  expect(make).toThrow(TypeError);
  expect(make).not.toThrow(/ключ/);
});
