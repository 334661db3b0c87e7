import type { Client, ErrorCode, SettlementIndexError, SqlRow } from '../../client/index.ts';
import type { Assert, Fits, Has, HasNot, Includes, Same } from './assert.ts';

/** What the compiler knows of the client, for users who write TypeScript. */

type AnswerOf<Method extends keyof Client> = Client[Method] extends (...args: never[]) => infer Call
  ? Awaited<Call>
  : never;

type Page = AnswerOf<'listFlows'>;
/** Answers have the types of the document. */
export type Answers = [
  Assert<Same<Page['next_before'], string | null>>,
  Assert<Same<Page['flows'][number]['amount'], string>>,
  Assert<Same<Page['flows'][number]['amount_usd'], number | null>>,
  Assert<Same<Page['flows'][number]['evidence']['verified'], boolean | null>>,
  Assert<Same<AnswerOf<'mintTrialKey'>['tier'], 'trial'>>,
];

type Walk = ReturnType<ReturnType<Client['listEntitySettlements']>['items']>;
type Row = Walk extends AsyncGenerator<infer One> ? One : never;
/** Walks give the rows of their lists; others have no walk. */
export type Rows = [
  Assert<Has<Row, 'tx_hash'>>,
  Assert<HasNot<Row, 'hash'>>,
  Assert<HasNot<ReturnType<Client['getAccount']>, 'items'>>,
];

type Merchant = Parameters<Client['getMerchant']>[0];
export type RequiredParameters = Assert<Same<Merchant['address'], string>>;

/** Parameters know which are required, and their values. Never called. */
export function parameters(client: Client): unknown[] {
  return [
    client.getAccount(),
    client.listTransactions({ exclude_self_payments: true, tier: 'proven', chain: undefined }),
    // @ts-expect-error: the wallet is missing
    client.listEntitySettlements(),
    // @ts-expect-error: a tier that does not exist
    client.listTransactions({ tier: 'sure' }),
    // @ts-expect-error: a parameter that does not exist
    client.listFlows({ limt: 3 }),
  ];
}

/** The rows of a query have the type that its caller says, or that of the format. Never called. */
export async function queries(client: Client) {
  const { rows } = await client.sql<{ payee: string }>('SELECT payee FROM settlements');
  const compact = await client.sql('SELECT 1', { format: 'json_compact' });
  // @ts-expect-error: parquet is bytes, not rows
  await client.sql('SELECT 1', { format: 'parquet' });
  return { rows, compactRows: compact.rows, stream: client.sqlRows('SELECT 1') };
}

type Queries = Awaited<ReturnType<typeof queries>>;
export type QueryRows = [
  Assert<Same<Queries['rows'], { payee: string }[]>>,
  Assert<Same<Queries['compactRows'], unknown[][]>>,
  Assert<Fits<Queries['stream'], AsyncIterable<SqlRow>>>,
];

/** Codes of errors are a closed list. */
export type Errors = [
  Assert<Includes<ErrorCode, 'invalid_query'>>,
  Assert<Includes<SettlementIndexError['code'], 'connection_lost'>>,
];
