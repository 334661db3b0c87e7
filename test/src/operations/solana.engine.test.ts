import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { address, type Signature } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import { closeDays } from '../../kit/close-days.ts';
import { rankWallets } from '../../kit/rank-wallets.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../../kit/rows.ts';
import { type Customer, type SqlApi, sqlApi } from '../../kit/sql-api.ts';

/** A wallet of Solana on every surface that answers about wallets, beside one of an EVM chain. */

const SOLANA: Chain = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const USDC = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const BUYER = address('9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM');
const SELLER = address('2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4');
const RELAYER = address('CjNFTjvBhbJJd2B5ePPMHRLx1ELZpa8dwQgGL727eKww');
const SIGNATURE =
  '5j7s6NiJS3JAkvgkoc18WVAsiSaci2pxB2A6ueCJP4tprA2TFg9wSyTLeYouxPBJEMzJinENTkpA52YStRW5Dia7' as Signature;

/** The same seller on the EVM chain. */
const ON_BASE = wallet(0xb2);
const RESOURCE = 'https://one.example/api';

let service: SqlApi;
let customer: Customer;

const paid = (fields: Parameters<typeof settlement>[0]) =>
  settlement({ chain: SOLANA, asset: USDC, payer: BUYER, payee: SELLER, relayer: RELAYER, ...fields });

beforeAll(async () => {
  service = await sqlApi({ config: { chains: loadConfig({ env: { CHAINS: 'base,solana' } }).chains } });
  const { writer } = service.engine;
  await reportChain(writer, SOLANA);
  await reportChain(writer, BASE);
  await insertSettlements(writer, [
    paid({ blockNumber: 391_000_001, logIndex: 5_122, txHash: SIGNATURE, memo: 'Order 7, Ü' }),
    paid({ blockNumber: 391_000_002, payer: RELAYER, blockTime: NOON + 1 }),
    settlement({ payer: wallet(0xa1), payee: ON_BASE }),
  ]);
  await writer.run({
    name: 'test-payees',
    maxSeconds: 10,
    sql: sql`INSERT INTO catalogued_payees (chain, address, resource, source, ver)
      SELECT ${text(BASE)}, unhex(${text(ON_BASE.slice(2))}), ${text(RESOURCE)}, 'configured', 1
      UNION ALL SELECT ${text(SOLANA)}, tryBase58Decode(${text(SELLER)}), ${text(RESOURCE)}, 'configured', 1`,
  });
  const named = { version: '', skills: [], domains: [], name: 'agentWallet' };
  const services = [{ ...named, endpoint: `${SOLANA}:${SELLER}` }];
  await registerAgent(writer, { owner: ON_BASE, card: { name: 'One seller', services } });
  await deriveAll(writer);
  await closeDays(writer, [NOON]);
  customer = await service.customer();
});
afterAll(() => service.close());

const get = (path: string) => service.api.get(path);

describe('a seller that is paid on an EVM chain and on Solana', () => {
  test.each([
    [ON_BASE, { chain: SOLANA, wallet: SELLER, settlement_count: 2 }],
    [SELLER, { chain: BASE, wallet: ON_BASE, settlement_count: 1 }],
  ])('has one page with both: %s', async (of, other) => {
    const { body } = await get(`/v0/merchants/${of}`);
    const said = { basis: 'catalogue', by: RESOURCE, last_seen: expect.stringMatching(/^20/) };
    expect(body.linked_wallets).toEqual([{ ...other, ...said, usd: expect.any(Number) }]);
    // The card of its agent names both; only the wallet that the registry has gets the agent's name.
    expect(body.erc8004_agents).toMatchObject([{ name: 'One seller', wallet: ON_BASE }]);
    expect([body.erc8004_agents_total, body.name]).toEqual(of === ON_BASE ? [1, 'One seller'] : [0, null]);
  });

  test('is not said of a wallet that nobody names with another', async () => {
    expect((await get(`/v0/merchants/${BUYER}`)).body.linked_wallets).toEqual([]);
  });
});

describe('a wallet of Solana', () => {
  test('has its settlements, as both parties and by its transaction', async () => {
    const { body } = await get(`/v0/entities/${SELLER}/settlements?counterparty=${BUYER}`);
    expect(body.settlements).toMatchObject([
      { chain: SOLANA, tx_hash: SIGNATURE, payer: BUYER, payee: SELLER, asset: USDC, relayer: RELAYER },
    ]);
    expect((await get(`/v0/transactions/${SIGNATURE}`)).body).toMatchObject({
      memo: 'Order 7, Ü',
      settlements: [{ payer: BUYER }],
    });
    expect((await get(`/v0/flows?chain=${SOLANA}&asset=${USDC}`)).body.flows).toHaveLength(2);
    expect((await get('/v0/flows')).body.flows).toHaveLength(3);
  });

  test.each([
    ['?role=payee', SELLER],
    ['/summary', SELLER],
    ['/counterparties', BUYER],
    ['/channels', 'channels'],
  ])('has a page at %s', async (page, content) => {
    const answer = await get(page.startsWith('?') ? `/v0/agents/${SELLER}` : `/v0/entities/${SELLER}${page}`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain(content);
  });

  test('is found by the pair, as a merchant, and by its picture', async () => {
    expect((await get(`/v0/pairs/${BUYER}/${SELLER}`)).status).toBe(200);
    expect((await get(`/v0/merchants/${SELLER}`)).status).toBe(200);
    expect((await get(`/og/wallets/${SELLER}.png`)).status).toBe(200);
  });

  test('is told from texts that are none', async () => {
    const refusals: readonly (readonly [string, RegExp])[] = [
      [SELLER.slice(0, -1), /base58/],
      [SELLER.replace('2', '0'), /"0" is no base58 digit/],
      [`${SELLER}AA`, /base58/],
      [SIGNATURE, /base58/],
      [wallet(0xa1).slice(0, -1), /39 hex digits, not 40/],
    ];
    for (const [text, message] of refusals) {
      const { status, body } = await get(`/v0/entities/${text}/settlements`);
      expect([status, body.detail]).toEqual([400, expect.stringMatching(message)]);
    }
  });
});

describe('in SQL', () => {
  const rows = async (sql: string, params: Readonly<Record<string, unknown>> = {}) =>
    (await customer.ask({ sql, params })).body;

  test.each([
    ['a literal', `SELECT tx_hash FROM settlements WHERE payer = '${BUYER}'`, {}],
    ['a parameter', 'SELECT tx_hash FROM settlements WHERE payer = {who:String}', { who: BUYER }],
    ['a list', `SELECT tx_hash FROM settlements WHERE payer IN ('${BUYER}', '${wallet(9)}')`, {}],
    ['a wallet', `SELECT tx_hash FROM wallet_settlements WHERE wallet = '${BUYER}'`, {}],
    ['a transaction', `SELECT tx_hash FROM settlements WHERE tx_hash = '${SIGNATURE}'`, {}],
    ['a memo', "SELECT tx_hash FROM settlements WHERE memo = 'Order 7, Ü'", {}],
  ])('%s finds its rows, without a warning', async (_, sql, params) => {
    expect(await rows(sql, params)).toMatchObject({ rows: [{ tx_hash: SIGNATURE }] });
    expect((await rows(sql, params)).meta.warnings ?? []).toEqual([]);
  });

  test.each([
    ['in lower case', `SELECT count() AS n FROM settlements WHERE payer = lower('${BUYER}')`],
    [
      'as a literal in lower case',
      `SELECT count() AS n FROM settlements WHERE payer = '${BUYER.toLowerCase()}'`,
    ],
  ])('an address %s matches nothing, and a warning says why', async (_, sql) => {
    const answer = await rows(sql);
    expect(JSON.stringify(answer)).toContain('the case counts');
  });

  test('addresses of both kinds are counted and joined alike', async () => {
    const { rows: found } = await rows(
      `SELECT payee, count() AS n, any(w.address = s.payee) AS is_wallet
       FROM settlements AS s LEFT JOIN wallets AS w ON w.address = s.payee GROUP BY payee ORDER BY n DESC, payee`,
    );
    expect(found).toMatchObject([
      { payee: SELLER, is_wallet: 1 },
      { payee: wallet(0xb2), is_wallet: 1 },
    ]);
  });
});

test.each([
  ['merchants', SELLER],
  ['payers', BUYER],
])('rankings of %s have wallets of both kinds', async (of, wanted) => {
  await rankWallets(service.engine.writer, { windows: ['30d'], chains: [BASE, SOLANA] });
  const { status, text } = await get(`/v0/leaderboard?of=${of}`);
  expect(status, text).toBe(200);
  expect(text).toContain(of === 'merchants' ? wallet(0xb2) : wallet(0xa1));
  expect(text).toContain(wanted);
});
