import type { AddressInfo } from 'node:net';
import { decodePaymentResponseHeader } from '@x402/core/http';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../../core/config/load.ts';
import { connect } from '../../../kit/mcp-speakers.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../../kit/rows.ts';
import { type SavedCalls, savedOf } from '../../../kit/saved.ts';
import { type SqlApi, sqlApi } from '../../../kit/sql-api.ts';
import { startX402World, type X402World } from '../../../kit/x402-world.ts';

/**
 * The path of a first-time reader (docs/saved-queries.md): a query, a job, a saved query, an endpoint, an MCP tool, bought over x402 by
 * another wallet through the real client, on a real chain with a real facilitator, and the author's units.
 */

let world: X402World;
let sql: SqlApi;
let author: SavedCalls;
let url: string;

/** 1 unit for the run, 2 for the author, 0.01 USD each, in atomic units of USDC. */
const PRICE_ATOMS = 30_000n;
const GRANT_ATOMS = 1_000_000n;
const TEXT =
  'SELECT payer, sum(amount_usd) AS usd FROM settlements WHERE payer = {payer:String} GROUP BY payer LIMIT 10';

beforeAll(async () => {
  world = await startX402World();
  const { payment } = loadConfig({ env: {} });
  sql = await sqlApi({
    config: { payment: { ...payment, facilitatorUrl: world.facilitator.url, accept: [world.accepted] } },
  });
  // Authorizations are signed and settled in the time of the chain, which is that of the machine.
  sql.api.clock.advanceSeconds(Math.floor(Date.now() / 1_000) - NOON);
  await insertSettlements(sql.engine.writer, [settlement({ payer: wallet(7) })]);
  await reportChain(sql.engine.writer, BASE);
  await sql.api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(sql.api.app.server.address() as AddressInfo).port}`;
  author = await savedOf(sql);
});
afterAll(async () => {
  await sql?.close();
  await world?.stop();
});

const payingFetch = ({ privateKey }: { readonly privateKey: `0x${string}` }) =>
  wrapFetchWithPayment(
    fetch,
    registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(privateKey) }),
  );

test('a query becomes a job, an endpoint, a tool, and is sold to a wallet whose payment earns its author units once', async () => {
  // A query, then the same as a job.
  const asked = await author.customer.ask({ sql: TEXT, params: { payer: wallet(7) } });
  expect(asked.body.row_count).toBe(1);
  const job = await author.jobs.succeeded({ sql: TEXT, params: { payer: wallet(7) } });
  expect((await author.jobs.result(job.result.id, {})).body.rows).toEqual(asked.body.rows);
  // Saved, and called by its author.
  await author.saved('paid-by', {
    sql: TEXT,
    title: 'Paid by a wallet',
    parameters: { payer: { description: 'The wallet.', example: wallet(7) } },
    visibility: 'public',
    price_qu: 2,
  });
  const own = await author.call('paid-by', { payer: wallet(7) });
  expect(own.body.rows).toEqual(asked.body.rows);
  // Found by another, in the list and in the document of its owner.
  const found = await sql.api.get('/v0/q?search=paid', { 'x-api-key': '' });
  expect(found.body.queries).toMatchObject([
    { owner: author.owner, slug: 'paid-by', price: { x402_usd: 0.03 } },
  ]);
  const document = await sql.api.get(`/v0/q/${author.owner}/openapi.json`, { 'x-api-key': '' });
  expect(document.body.paths[`/q/${author.owner}/paid-by`].get).toMatchObject({
    operationId: 'paid_by',
    summary: 'Paid by a wallet',
    'x-payment-info': { amount: '0.03' },
  });
  // An agent finds and calls it by tools.
  const agent = await sql.customer();
  const client = await connect(`${url}/mcp`, agent.headers);
  const listed = await client.callTool({ name: 'list_public_queries', arguments: { search: 'wallet' } });
  expect(listed.structuredContent).toMatchObject({ queries: [{ owner: author.owner, slug: 'paid-by' }] });
  const called = await client.callTool({
    name: 'call_saved_query',
    arguments: { owner: author.owner, slug: 'paid-by', arguments: { payer: wallet(7) } },
  });
  expect(called.structuredContent).toMatchObject({ rows: asked.body.rows, row_count: 1 });
  const wrong = await client.callTool({
    name: 'call_saved_query',
    arguments: { owner: author.owner, slug: 'paid-by' },
  });
  expect([wrong.isError, wrong.structuredContent]).toEqual([
    true,
    expect.objectContaining({ code: 'invalid_parameter', parameter: 'payer' }),
  ]);
  await client.close();
  // Or as a tool of its own, for an agent that is connected to this owner's queries.
  const named = await connect(`${url}/mcp?queries=${author.owner}`, agent.headers);
  const { tools } = await named.listTools();
  expect(tools).toMatchObject([
    {
      name: 'q_paid_by',
      description: expect.stringContaining('Paid by a wallet'),
      inputSchema: {
        required: ['payer'],
        properties: { payer: { type: 'string', description: expect.stringContaining('The wallet.') } },
      },
    },
  ]);
  const again = await named.callTool({ name: 'q_paid_by', arguments: { payer: wallet(7), limit: 5 } });
  expect(again.structuredContent).toMatchObject({ rows: asked.body.rows, row_count: 1 });
  const odd = await named.callTool({ name: 'q_paid_by', arguments: { payer: wallet(7), sql: 'SELECT 1' } });
  expect([odd.isError, odd.structuredContent]).toEqual([true, expect.objectContaining({ parameter: 'sql' })]);
  await named.close();
  const unknownOwner = await connect(`${url}/mcp?queries=unknown-owner`, agent.headers);
  await expect(unknownOwner.listTools()).rejects.toThrow(/no saved query of this owner/);
  await unknownOwner.close();
  const { granted, spent } = await author.customer.units();
  expect((await agent.units()).spent).toBe(6);
  // Another wallet buys it, without a key.
  const payer = await world.payer();
  const address = `${url}/v0/q/${author.owner}/paid-by?payer=${wallet(7)}`;
  const bought = await payingFetch(payer)(address);
  expect([bought.status, (await bought.json()).rows]).toEqual([200, asked.body.rows]);
  const receipt = decodePaymentResponseHeader(bought.headers.get('payment-response') ?? '');
  expect(receipt).toMatchObject({ success: true, payer: payer.address });
  expect(await world.balance(payer.address)).toBe(GRANT_ATOMS - PRICE_ATOMS);
  // The author's units: once for the payment.
  const after = await author.customer.units();
  expect([after.granted - granted, after.spent]).toEqual([2, spent]);
  const { store } = sql.api.access.access;
  const ledger = await store.units.ledger({
    organizationId: author.customer.organizationId,
    after: 0,
    limit: 100,
  });
  expect(ledger.at(-1)).toMatchObject({ kind: 'grant', units: 2, note: `sold: ${author.owner}/paid-by` });
  expect(ledger.at(-1)?.subject).toContain(payer.address.toLowerCase());
  const { body: usage } = await author.send('GET', '/v0/account/usage?group=lane');
  expect(usage.rows).toContainEqual(
    expect.objectContaining({ lane: 'earned', calls: 0, units: 0, sold_calls: 3, earned_units: 6 }),
  );
});

test('a payment whose answer is lost is answered again and earns once; one for a wrong value settles nothing', async () => {
  const payer = await world.payer();
  const { granted } = await author.customer.units();
  const address = `${url}/v0/q/${author.owner}/paid-by?payer=${wallet(7)}`;
  let header: string | undefined;
  const keeping: typeof fetch = async (input, init) => {
    const sent = new Request(input, init);
    header = sent.headers.get('payment-signature') ?? sent.headers.get('x-payment') ?? header;
    return fetch(sent);
  };
  const paying = wrapFetchWithPayment(
    keeping,
    registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(payer.privateKey) }),
  );
  expect((await paying(address)).status).toBe(200);
  expect(header).toBeDefined();
  const again = await fetch(address, { headers: { 'payment-signature': header ?? '' } });
  expect([402, 409]).toContain(again.status);
  expect((await author.customer.units()).granted - granted).toBe(2);
  const other = await world.payer();
  const refused = await payingFetch(other)(`${address}&wrong=1`);
  expect(refused.status).toBe(400);
  expect(await world.balance(other.address)).toBe(GRANT_ATOMS);
});
