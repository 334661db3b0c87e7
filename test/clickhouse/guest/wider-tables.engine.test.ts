import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';
import { publicViewStatements } from '../../../clickhouse/guest/public-views.ts';
import { publicFacts } from '../../../clickhouse/guest/views/facts.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { ensureWalletIdKey } from '../../../clickhouse/tables/wallet-ids.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { address } from '../../../core/domain/account.ts';
import { REASONS, reasonsOf } from '../../../core/domain/evidence.ts';
import { emptyTables } from '../../kit/empty-tables.ts';
import { fillEndpoints, fillIdentities, LISTED, SHOP, SHOP_AGENT } from '../../kit/market.ts';
import { rollUp } from '../../kit/roll-up.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../kit/rows.ts';
import { type SandboxEngine, sandboxEngine } from '../../kit/sandbox-engine.ts';

/** The columns and tables that say more than a settlement's own fields. Truth: the rows and the declared tables. */

const USDC_OF_BASE = address('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');
const DAY = 86_400;

let engine: SandboxEngine;

beforeAll(async () => {
  engine = await sandboxEngine();
});
afterAll(() => engine?.close());
beforeEach(async () => {
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE, { finalized_block: '1000' });
});

const asGuest = (text: string) => engine.guest.explain({ name: 'view', text, maxSeconds: 10 });
const run = (text: string) =>
  engine.writer.run({ name: 'fill', sql: trustedText(text), maxSeconds: 10, kind: 'other' });

describe('settlements', () => {
  test('say the facilitator’s name, the token’s decimals and what was seen, in both tables', async () => {
    const rows = REASONS.map((_, at) =>
      settlement({
        blockNumber: 100 + at,
        asset: at === 0 ? USDC_OF_BASE : wallet(0xee),
        facilitator: ['coinbase', '', 'its-own'][at % 3] ?? '',
        seen: (1 << at) | 1,
        builderApps: at === 0 ? 'one,two' : '',
        builderFacilitator: at === 0 ? 'cdp_facil1' : '',
        payee: at === 0 ? wallet(0xa1) : wallet(0xb2),
      }),
    );
    await insertSettlements(engine.writer, rows);
    const facts = (row: Settlement) => [
      { coinbase: 'Coinbase', 'its-own': 'its-own' }[row.facilitator] ?? null,
      row.asset === USDC_OF_BASE ? 6 : null,
      reasonsOf(row.seen),
    ];
    expect(
      await asGuest(
        'SELECT facilitator_name, asset_decimals, evidence_reasons, builder_facilitator, builder_apps FROM settlements ORDER BY block_number',
      ),
    ).toEqual(
      rows.map((row, at) => [...facts(row), at === 0 ? 'cdp_facil1' : null, at === 0 ? ['one', 'two'] : []]),
    );
    expect(
      await asGuest(
        "SELECT facilitator_name, asset_decimals, evidence_reasons, asset_symbol, relayer, evidence_method, is_self_payment FROM wallet_settlements WHERE role = 'payer' ORDER BY block_number",
      ),
    ).toEqual(rows.map((row, at) => [...facts(row), row.assetSymbol, row.relayer, row.method, at === 0]));
  });

  test('names and decimals are looked up in no table, selected or not', async () => {
    const rows = Array.from({ length: 2_000 }, (_, at) =>
      settlement({ blockNumber: at, facilitator: 'coinbase' }),
    );
    await insertSettlements(engine.writer, rows);
    await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
    const reader = createReader(engine.access);
    const view = `${engine.access.database}_public.settlements`;
    const read = async (columns: string) => {
      const text = trustedText(`SELECT ${columns} FROM ${view}`);
      return reader.rows({ name: 'read', sql: text, maxSeconds: 10, maxRows: 10 });
    };
    try {
      // The rows, and one each of chain_status, of hour_ver and of the list of open hours.
      for (const columns of ['sum(amount_usd)', 'uniq(facilitator_name)', 'uniq(asset_decimals)'])
        expect((await read(columns)).readRows, columns).toBe(rows.length + 3);
      const plan = await asGuest('EXPLAIN SELECT sum(amount_usd) FROM settlements');
      const lines = plan.map(([line]) => String(line));
      expect(lines.filter((line) => line.includes('ReadFrom'))).toHaveLength(1);
      expect(lines.some((line) => /Join|facilitator|asset/.test(line))).toBe(false);
      // A column that is not selected costs no bytes: the amount and whether it is known, the mark of a tombstone and the time, and the rows of the small tables.
      expect((await read('sum(amount_usd)')).readBytes).toBeLessThan(rows.length * (8 + 1 + 1 + 4) + 200);
    } finally {
      await reader.close();
    }
  });
});

test('configured tokens and names replace and extend the built-in ones, whatever they are spelled like', async () => {
  const own = {
    address: wallet(0xee),
    symbol: "O'X\\",
    decimals: 18,
    currency: 'USD',
    paidBy: 'eip3009' as const,
    domain: { name: "It's", version: '1' },
  };
  const facts = publicFacts({
    catalogue: { facilitators: [{ id: 'its-own', name: "Its ' Own \\" }] },
    chains: [{ chain: POLYGON, tokens: [own] }],
  });
  try {
    for (const statement of publicViewStatements(
      engine.access.database,
      await ensureWalletIdKey(engine.writer),
      facts,
    ))
      await run(statement);
    await insertSettlements(engine.writer, [
      settlement({ chain: POLYGON, asset: own.address, facilitator: 'its-own' }),
    ]);
    expect(await asGuest('SELECT facilitator_name, asset_decimals FROM settlements')).toEqual([
      ["Its ' Own \\", 18],
    ]);
    expect(await asGuest(`SELECT * FROM tokens WHERE address = '${own.address}'`)).toEqual([
      [POLYGON, own.address, own.symbol, 18, 'eip3009', "It's", '1', 'USD', '1', null],
    ]);
    expect(await asGuest('SELECT count(), uniqExact(chain, address) FROM tokens')).toEqual([
      [String(facts.tokens.length), String(facts.tokens.length)],
    ]);
  } finally {
    for (const statement of publicViewStatements(
      engine.access.database,
      await ensureWalletIdKey(engine.writer),
    ))
      await run(statement);
  }
});

test('a loaded configuration is what the views are made from', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-facts-'));
  const [file, catalogue] = [join(directory, 'config.json'), join(directory, 'catalogue.json')];
  const facilitator = (id: string, name: string) => ({ id, name, relayers: [] });
  writeFileSync(
    catalogue,
    JSON.stringify({ facilitators: [facilitator('own', 'Listed'), facilitator('listed', 'Of the file')] }),
  );
  const token = { address: wallet(0xdd), symbol: 'EURC', decimals: 6 };
  const domain = { name: 'EURC', version: '2' };
  writeFileSync(
    file,
    JSON.stringify({
      chains: [{ chain: 'base', tokens: [{ ...token, ...domain }] }],
      catalogue: { file: catalogue, facilitators: [facilitator('own', 'Our own')] },
    }),
  );
  const facts = publicFacts(loadConfig({ file, env: {} }));
  expect(facts.facilitatorNames.get('own')).toBe('Our own');
  expect(facts.facilitatorNames.get('listed')).toBe('Of the file');
  expect(facts.facilitatorNames.get('coinbase')).toBe('Coinbase');
  expect(facts.tokens).toContainEqual({
    ...token,
    currency: 'USD',
    paidBy: 'eip3009',
    domain,
    chain: BASE,
  });
  rmSync(directory, { recursive: true });
});

describe('wallets', () => {
  const some = Array.from({ length: 60 }, (_, at) =>
    settlement({
      chain: at % 7 === 0 ? POLYGON : BASE,
      blockNumber: 100 + at,
      blockTime: NOON - (at % 4) * DAY + at * 60,
      payer: wallet(1 + (at % 5)),
      payee: wallet(1 + (at % 3)),
      method: at % 2 === 0 ? 'facilitator_relay' : 'channel_move',
      amountUsdMicros: BigInt(at) * 1_000_001n,
    }),
  );
  const usd = (rows: readonly Settlement[]) => {
    const micros = rows.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
    return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`.replace(/\.?0+$/, '');
  };
  const expected = (all: readonly Settlement[]) => {
    const counted = all.filter(({ kind }) => kind === 'payment');
    const wallets = [...new Set(counted.flatMap(({ payer, payee }) => [payer, payee]))].sort();
    return wallets.map((address) => {
      const paid = counted.filter(({ payer }) => payer === address);
      const received = counted.filter(({ payee }) => payee === address);
      const own = paid.filter(({ payee }) => payee === address);
      const times = [...paid, ...received].map(({ blockTime }) => blockTime);
      return [
        ...[address, Math.min(...times), Math.max(...times), String(paid.length), usd(paid)],
        ...[String(received.length), usd(received), String(own.length), usd(own), usd(paid), usd(received)],
        [...new Set([...paid, ...received].map(({ chain }) => chain))].sort(),
      ];
    });
  };
  const read = () =>
    asGuest(
      `SELECT address, toUnixTimestamp(first_settled_at), toUnixTimestamp(last_settled_at), paid_count, paid_usd, received_count,
        received_usd, self_payment_count, self_payment_usd, paid_proven_usd, received_proven_usd, chains FROM wallets ORDER BY address`,
    );

  test('have the sums of their settlements, whether days are open, closed, closed by hours, or dirty again', async () => {
    await insertSettlements(engine.writer, some);
    expect(await read()).toEqual(expected(some));
    await rollUp(engine.writer, { below: NOON - DAY });
    expect(await read()).toEqual(expected(some));
    await rollUp(engine.writer, { splitAboveRows: 10 });
    expect(await read()).toEqual(expected(some));
    await tombstone(engine.writer, some.slice(0, 20));
    expect(await read()).toEqual(expected(some.slice(20)));
  });

  test('are read by address from the rollups of one wallet', async () => {
    const rows = Array.from({ length: 60_000 }, (_, at) =>
      settlement({
        blockNumber: at,
        blockTime: NOON - 3 * DAY - (at % 30) * DAY,
        payer: wallet(1_000_000 + at),
        payee: wallet(2_000_000 + (at % 3)),
      }),
    );
    await insertSettlements(engine.writer, rows);
    await rollUp(engine.writer);
    const one = await asGuest(`SELECT paid_count FROM wallets WHERE address = '${wallet(1_030_000)}'`);
    expect(one).toEqual([['1']]);
    const reader = createReader(engine.access);
    const view = `${engine.access.database}_public.wallets`;
    const readRowsOf = async (text: string) =>
      (await reader.rows({ name: 'read', sql: trustedText(text), maxSeconds: 20, maxRows: 10 })).readRows;
    try {
      expect(
        await readRowsOf(`SELECT paid_usd FROM ${view} WHERE address = '${wallet(1_030_000)}'`),
      ).toBeLessThan(20_000);
      expect(await readRowsOf(`SELECT sum(paid_usd) FROM ${view}`)).toBeGreaterThan(60_000);
    } finally {
      await reader.close();
    }
  });

  test('say who they are, and leave the claims of others to wallet_names', async () => {
    const relayer = wallet(0xd4);
    await insertSettlements(engine.writer, [
      settlement({ payer: relayer, payee: SHOP }),
      settlement({ payer: wallet(0x77), payee: wallet(0x78), blockNumber: 2 }),
    ]);
    await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
    await fillIdentities(engine.writer);
    await fillEndpoints(engine.writer, NOON);
    await run(
      `INSERT INTO catalogued_payees SELECT '${BASE}', unhex('${wallet(0x77).slice(2)}'), 'Ours', 'https://ours.example', 'configured', 1, 0`,
    );
    await run(
      `INSERT INTO catalogued_payees SELECT '${BASE}', unhex('${wallet(0x78).slice(2)}'), 'Claimed', 'https://claimed.example', 'bazaar', 1, 0`,
    );
    const ring = (gen: number) =>
      `INSERT INTO wallet_rings SELECT '${wallet(0x77)}', 2, ['${wallet(0x77)}', '${wallet(0x78)}'], 1, 3, toDateTime(1), toDateTime(2), '1', ${gen}`;
    await run(ring(5));
    await run(`INSERT INTO ring_passes (gen) VALUES (5)`);
    await run(ring(6)); // not published
    expect(
      await asGuest(
        'SELECT address, name, name_source, is_agent, is_listed, is_relayer, in_ring FROM wallets ORDER BY address',
      ),
    ).toEqual(
      [
        [relayer, 'Coinbase', 'facilitator', false, false, true, false],
        [SHOP, null, null, true, true, false, false],
        [wallet(0x77), 'Ours', 'operator_catalogue', false, false, false, true],
        [wallet(0x78), null, null, false, false, false, false],
      ].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    );
    expect(await asGuest('SELECT member_count, members FROM wallet_rings')).toEqual([
      [2, [wallet(0x77), wallet(0x78)]],
    ]);
    const names = await asGuest(
      `SELECT address, name, name_source, toString(agent_id), resource, facilitator FROM wallet_names WHERE chain = '${BASE}' ORDER BY address, name`,
    );
    expect(names).toContainEqual([
      wallet(0x77),
      'Ours',
      'operator_catalogue',
      null,
      'https://ours.example',
      null,
    ]);
    expect(names).toContainEqual([
      ...[wallet(0x78), 'Claimed', 'endpoint_catalogue', null],
      ...['https://claimed.example', null],
    ]);
    expect(names).toContainEqual([
      SHOP,
      SHOP_AGENT.name,
      'agent_card',
      String(SHOP_AGENT.agentId),
      null,
      null,
    ]);
    expect(names).toContainEqual([relayer, 'Coinbase', 'facilitator', null, null, 'coinbase']);
    expect(names).toHaveLength(5);
  });
});

test('agents show what their cards and ratings say, and feedback its index', async () => {
  await fillIdentities(engine.writer);
  await run(`INSERT INTO agents SELECT * REPLACE(ver + 1 AS ver, 'shop.example' AS domain, 'refuted' AS domain_proof, ['weather'] AS capabilities,
    '[{"name":"MCP","endpoint":"https://shop.example/mcp","version":"1","skills":["a"],"domains":[]}]' AS services, ['reputation'] AS supported_trust)
    FROM agents FINAL WHERE agent_id = ${SHOP_AGENT.agentId}`);
  const [shop] = await asGuest(
    `SELECT services, capabilities, supported_trust, domain, domain_proof, card_status, card_problem, distinct_clients, rating_count,
      rating_clients, paid_score, tag_scores, registered_block FROM agents WHERE agent_id = ${SHOP_AGENT.agentId}`,
  );
  expect(shop).toEqual([
    [{ name: 'MCP', endpoint: 'https://shop.example/mcp', version: '1', skills: ['a'], domains: [] }],
    ['weather'],
    ['reputation'],
    ...['shop.example', 'refuted', 'good', null, '2', '3', '2', null],
    [{ tag: '', mean: 47.5, is_rating: true, feedback_count: '3', distinct_clients: '2' }],
    '1001',
  ]);
  // A name that its own domain refutes is no name of the wallet.
  expect(await asGuest(`SELECT count() FROM wallet_names WHERE address = '${SHOP}'`)).toEqual([['0']]);
  expect(
    await asGuest(
      `SELECT client = author, feedback_index, file_hash, request_hash FROM attestations WHERE agent_id = ${SHOP_AGENT.agentId} ORDER BY block_number`,
    ),
  ).toEqual([
    [1, '1', null, null],
    [1, '2', null, null],
    [1, '3', null, null],
  ]);
});

test('endpoints show where an offer is from and what was paid on its terms since it was listed', async () => {
  await fillEndpoints(engine.writer, NOON);
  const terms = (
    since: number,
    count: number,
  ) => `INSERT INTO offer_activity (pay_to, chain, asset, is_range, amount, origin, since, settlement_count, unique_payers, settled_usd, last_settled_at, ver)
    SELECT pay_to, chain, asset, 0, assumeNotNull(amount), 'https://shop.example', toDateTime(${since}), ${count}, 2, 1.5, toDateTime(${NOON}), 1
    FROM endpoint_offers FINAL WHERE pay_to = '${SHOP}'`;
  await run(terms(NOON - 10, 99)); // of an offer on the same terms that was listed before
  await run(terms(NOON, 7));
  const seen = await asGuest(
    `SELECT resource, source, published_by_domain, network, scheme, amount, settlement_count_30d, unique_payers_30d, settled_usd_30d,
      toUnixTimestamp(last_settled_at), toUnixTimestamp(first_seen) FROM endpoints ORDER BY resource DESC`,
  );
  expect(seen).toEqual([
    [
      ...[LISTED.shop.resource, 'file', false, expect.any(String), 'exact', String(LISTED.shop.micros)],
      ...['7', '2', '1.5', NOON, NOON],
    ],
    [
      ...[LISTED.rival.resource, 'file', false, expect.any(String), 'exact', String(LISTED.rival.micros)],
      ...['0', '0', '0', null, NOON],
    ],
  ]);
});

test('relayers show the account as it was last read, facilitators their names', async () => {
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await run(
    `INSERT INTO relayer_accounts SELECT '${BASE}', unhex('${wallet(0xd4).slice(2)}'), 12, toUInt256('1000000000000000000'), toDateTime(${NOON}), number + 1 FROM numbers(2)`,
  );
  expect(
    await asGuest('SELECT address, transaction_count, gas_balance, toUnixTimestamp(read_at) FROM relayers'),
  ).toEqual([[wallet(0xd4), '12', '1000000000000000000', NOON]]);
  expect(await asGuest('SELECT facilitator, name FROM facilitators')).toEqual([['coinbase', 'Coinbase']]);
});
