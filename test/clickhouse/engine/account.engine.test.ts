import fc from 'fast-check';
import { expect } from 'vitest';
import {
  accountBytes,
  accountText,
  addressBytes,
  addressesBytes,
  isAccountText,
  lowestAccount,
  NO_ACCOUNT,
  NO_TRANSACTION,
  transactionBytes,
  transactionIdBytes,
  transactionText,
} from '../../../clickhouse/engine/account.ts';
import { type Sql, sql, text, texts } from '../../../clickhouse/engine/sql.ts';
import {
  addressOfBytes,
  hexOf,
  transactionOfBytes,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../../core/domain/account.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';

/** Rows of one round of random values: enough for zeros at both ends. */
const VALUES = 500;

const bytesOf = (length: number) =>
  fc
    .tuple(fc.nat(3), fc.nat(3), fc.uint8Array({ minLength: length, maxLength: length }))
    .map(([front, back, bytes]) => bytes.fill(0, 0, front).fill(0, length - back));
const sample = (length: number) => fc.sample(bytesOf(length), VALUES);

const rowsOf = async ({ writer }: TestEngine, statement: Sql) =>
  (await writer.rows({ name: 'accounts', sql: statement, maxSeconds: 20, maxRows: 10_000 })).rows;

test.for([
  { of: 'EVM chains', account: 20, transaction: 32 },
  { of: 'Solana', account: 32, transaction: 64 },
])(
  'the engine reads texts of accounts and transactions of $of into bytes and prints them again',
  async (bytes, { engine }) => {
    const addresses = sample(bytes.account).map(addressOfBytes);
    const transactions = sample(bytes.transaction).map(transactionOfBytes);
    const read = sql`SELECT given.1 AS account_text, given.2 AS transaction_text, ${accountBytes(sql`given.1`)} AS account,
      ${transactionBytes(sql`given.2`)} AS transaction
    FROM (SELECT arrayJoin(arrayZip(${texts(addresses)}, ${texts(transactions)})) AS given)`;
    const rows = await rowsOf(
      engine,
      sql`SELECT account_text, ${accountText('account')}, lower(hex(account)), transaction_text, ${transactionText('transaction')},
      lower(hex(transaction)), ${isAccountText(sql`account_text`)} FROM (${read})`,
    );
    expect(rows).toHaveLength(VALUES);
    expect(rows).toEqual(
      rows.map(([account, , , transaction]) => [
        account,
        account,
        hexOf(String(account) as never),
        transaction,
        transaction,
        hexOf(String(transaction) as never),
        1,
      ]),
    );
  },
);

test('values of our own are the bytes that columns hold', async ({ engine }) => {
  const [one = ZERO_ADDRESS] = sample(20).map(addressOfBytes);
  const [other = ZERO_ADDRESS] = sample(32).map(addressOfBytes);
  const [transaction = ZERO_HASH] = sample(64).map(transactionOfBytes);
  const rows = await rowsOf(
    engine,
    sql`SELECT toTypeName(${addressBytes(one)}), ${addressBytes(one)} IN ${addressesBytes([other, one])},
      ${addressBytes(ZERO_ADDRESS)} = ${NO_ACCOUNT}, toTypeName(${transactionIdBytes(transaction)}),
      ${transactionIdBytes(ZERO_HASH)} = ${NO_TRANSACTION}, ${lowestAccount(hexOf(one).slice(0, 4))} <= ${addressBytes(one)}`,
  );
  expect(rows).toEqual([['String', 1, 1, 'String', 1, 1]]);
});

test('a listed text that is no account is none that columns hold', async ({ engine }) => {
  const foreign = [
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt',
    '0PjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    '',
    '0x12',
    `0x${'AB'.repeat(20)}`,
  ];
  for (const value of foreign)
    expect(await rowsOf(engine, sql`SELECT ${isAccountText(sql`${text(value)}`)}`)).toEqual([[0]]);
});
