import { describe, expectTypeOf, test } from 'vitest';
import type { Client, ErrorCode, SettlementIndexError, SqlRow } from '../../client/index.ts';

/** What the compiler knows of the client: checked by `tsc`, which the tests run under. */

declare const client: Client;

describe('the types', () => {
  test('of answers are those of the document', () => {
    const flows = () => client.listFlows({ limit: 1 });
    type Page = Awaited<ReturnType<typeof flows>>;
    expectTypeOf<Page['next_before']>().toEqualTypeOf<string | null>();
    expectTypeOf<Page['flows'][number]['amount']>().toEqualTypeOf<string>();
    expectTypeOf<Page['flows'][number]['amount_usd']>().toEqualTypeOf<number>();
    expectTypeOf<Page['flows'][number]['evidence']['verified']>().toEqualTypeOf<boolean | null>();
    type Key = Awaited<ReturnType<Client['mintTrialKey']>>;
    expectTypeOf<Key['tier']>().toEqualTypeOf<'trial'>();
  });

  test('of rows are those of their lists', () => {
    const walk = () => client.listEntitySettlements({ wallet: '0x' }).items();
    type Row = ReturnType<typeof walk> extends AsyncGenerator<infer One> ? One : never;
    expectTypeOf<Row>().toHaveProperty('tx_hash');
    expectTypeOf<ReturnType<Client['getAccount']>>().not.toHaveProperty('items');
  });

  test('of parameters know what is required, and what may be said', () => {
    const nothing = () => client.getAccount();
    const known = () =>
      client.listTransactions({ exclude_self_payments: true, tier: 'proven', chain: undefined });
    expectTypeOf<Parameters<Client['getMerchant']>[0]['address']>().toEqualTypeOf<string>();
    // @ts-expect-error: the wallet is missing
    const missing = () => client.listEntitySettlements();
    // @ts-expect-error: a tier that does not exist
    const unknown = () => client.listTransactions({ tier: 'sure' });
    // @ts-expect-error: a parameter that does not exist
    const mistyped = () => client.listFlows({ limt: 3 });
    expectTypeOf([nothing, known, missing, unknown, mistyped]).toBeArray();
  });

  test('of queries are the caller’s, and of errors a closed list', () => {
    const query = () => client.sql<{ payee: string }>('SELECT payee FROM settlements');
    expectTypeOf<Awaited<ReturnType<typeof query>>['rows']>().toEqualTypeOf<{ payee: string }[]>();
    const compact = () => client.sql('SELECT 1', { format: 'json_compact' });
    expectTypeOf<Awaited<ReturnType<typeof compact>>['rows']>().toEqualTypeOf<unknown[][]>();
    const stream = () => client.sqlRows('SELECT 1');
    expectTypeOf<ReturnType<typeof stream>>().toExtend<AsyncIterable<SqlRow>>();
    expectTypeOf<ErrorCode>().extract<'invalid_query'>().toEqualTypeOf<'invalid_query'>();
    expectTypeOf<SettlementIndexError['code']>()
      .extract<'connection_lost'>()
      .toEqualTypeOf<'connection_lost'>();
    // @ts-expect-error: parquet is bytes, not rows
    const bytes = () => client.sql('SELECT 1', { format: 'parquet' });
    expectTypeOf(bytes).toBeFunction();
  });
});
