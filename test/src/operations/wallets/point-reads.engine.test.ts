import { describe, expect } from 'vitest';
import type { Reader } from '../../../../clickhouse/engine/engine.ts';
import { type Sql, sql, text, trustedText, uint32 } from '../../../../clickhouse/engine/sql.ts';
import { systemClock } from '../../../../core/clock.ts';
import type { Address } from '../../../../core/domain/account.ts';
import { createNames } from '../../../../src/operations/names.ts';
import { lookUpLists } from '../../../../src/operations/wallets/owners.ts';
import { deriveAll, registerAgent } from '../../../kit/agents.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { insertSettlements, settlement, wallet } from '../../../kit/rows.ts';

/** How little a look-up of one wallet asks and reads. */

let engine: TestEngine;
const LISTED = {
  agents: wallet(0xa1),
  offers: wallet(0xa2),
  payees: wallet(0xa3),
  relayers: wallet(0xa4),
  rings: wallet(0xa5),
} as const;
type List = keyof typeof LISTED;
const LISTS = Object.keys(LISTED) as List[]; // the keys of the line above
const UNLISTED = wallet(0xa6);

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  const bytes = (of: Address): Sql => sql`unhex(${text(of.slice(2))})`;
  await run(sql`INSERT INTO agent_wallets (wallet) SELECT ${bytes(LISTED.agents)}`);
  await run(sql`INSERT INTO endpoint_offers (pay_to) SELECT ${text(LISTED.offers)}`);
  await run(sql`INSERT INTO catalogued_payees (address) SELECT ${bytes(LISTED.payees)}`);
  await run(sql`INSERT INTO facilitator_relayers (address) SELECT ${bytes(LISTED.relayers)}`);
  await run(sql`INSERT INTO wallet_rings (wallet) SELECT ${text(LISTED.rings)}`);
});

const run = (statement: Sql) => engine.writer.run({ name: 'test', maxSeconds: 30, sql: statement });

async function rowsOf(statement: Sql): Promise<readonly (readonly unknown[])[]> {
  return (await engine.writer.rows({ name: 'test', maxSeconds: 30, maxRows: 1_000, sql: statement })).rows;
}

/** The engine's reader, with the names of what it was asked. */
function watched(): { readonly reader: Reader; readonly asked: string[] } {
  const asked: string[] = [];
  const reader: Reader = {
    ...engine.reader,
    rows: (statement, signal) => {
      asked.push(statement.name);
      return engine.reader.rows(statement, signal);
    },
  };
  return { reader, asked };
}

describe('lists of wallets', () => {
  test.for(LISTS)('a wallet among %s is looked up there and in no other list', async (list) => {
    const lists = lookUpLists(engine.reader, LISTED[list]);
    const read = await Promise.all(
      LISTS.map((other) => lists.read([other], 'not read', async () => 'read' as const)),
    );
    expect(read).toEqual(LISTS.map((other) => (other === list ? 'read' : 'not read')));
    expect(await lists.read(LISTS, 'not read', async () => 'read')).toBe('read');
  });

  test('for a wallet in none of them one statement is asked', async () => {
    const { reader, asked } = watched();
    const lists = lookUpLists(reader, UNLISTED);
    for (const list of LISTS) expect(await lists.read([list], null, () => Promise.reject())).toBeNull();
    expect(asked).toEqual(['wallet-lists']);
  });

  test('an engine that fails is a 503 for every read, not an empty list', async () => {
    const reader: Reader = { ...engine.reader, rows: () => engine.reader.rows({ ...BROKEN }) };
    const lists = lookUpLists(reader, UNLISTED);
    for (const list of LISTS)
      await expect(lists.read([list], null, async () => null)).rejects.toMatchObject({
        code: 'upstream_unavailable',
      });
  });
});

const BROKEN = { name: 'broken', maxSeconds: 5, maxRows: 1, sql: sql`SELECT no_such_column` };

test('names of agents are read for wallets that have an agent', async () => {
  const owner = wallet(0xb1);
  await registerAgent(engine.writer, { agentId: 77n, owner, card: { name: 'Weather' } });
  await deriveAll(engine.writer);
  const { reader, asked } = watched();
  const names = createNames({ reader, clock: systemClock });
  const agentStatements = () => asked.filter((name) => name.startsWith('agent'));
  await names.of([UNLISTED]);
  expect(agentStatements()).toEqual(['agent-wallets']);
  const directory = await names.of([owner, UNLISTED]);
  expect(directory.walletName(owner, ['eip155:8453'])).toEqual({ name: 'Weather', source: 'agent_card' });
  expect(agentStatements()).toEqual(['agent-wallets', 'agent-wallets', 'agent-names']);
});

describe('the table of wallets', () => {
  test('keeps one file a part, also above the size at which the engine makes several, and granules of 1,024 rows', async () => {
    for (let part = 0; part < 2; part++) {
      await run(sql`INSERT INTO settlements (chain, block_number, block_time, log_index, payer, payee, ver)
        SELECT 'eip155:8453', number, 1700000000 + number, ${uint32(part)}, concat(SHA1(toString(number)), ''), concat(SHA1('payee'), ''), 1 FROM numbers(60000)`);
    }
    await run(sql`OPTIMIZE TABLE wallet_rows FINAL`);
    const parts = await rowsOf(
      sql`SELECT part_type, data_uncompressed_bytes > 10485760 FROM system.parts
        WHERE active AND database = currentDatabase() AND table = 'wallet_rows'`,
    );
    expect(parts).toEqual([['Compact', 1]]);
    const [[granules, rows] = []] = await rowsOf(
      sql`SELECT sum(marks), sum(rows) FROM system.parts WHERE active AND database = currentDatabase() AND table = 'wallet_rows'`,
    );
    expect(Number(granules)).toBeGreaterThanOrEqual(Math.ceil(Number(rows) / 1_024));
  });

  test.for([
    ['six decimals', 1_234_567n, 1_234_567n],
    ['eighteen decimals', 5_000_000_000_000_000_001n, 5_000_000n],
    ['two decimals', 123n, 1_230_000n],
    ['no dollars', 99n, 0n],
    ['the largest amount', 2n ** 256n - 1n, 1n],
  ] as const)('gives back the amount of a token of %s', async ([, amount, amountUsdMicros]) => {
    const payer = wallet(0xc000 + Number(amount % 97n));
    await insertSettlements(engine.writer, [settlement({ payer, amount, amountUsdMicros })]);
    const rows = await rowsOf(
      sql`SELECT DISTINCT toString(amount), toString(amount_usd) = toString(toDecimal64(${trustedText(String(amountUsdMicros))} / 1000000, 6))
        FROM wallet_rows FINAL WHERE wallet = ${text(payer)}`,
    );
    expect(rows).toEqual([[String(amount), 1]]);
  });
});
