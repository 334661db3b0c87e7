import type { SentRequest } from '../http/send.ts';

/** Every place of a request where a text of a stranger stands. */

interface Entry {
  request(text: string): SentRequest;
  /** Whether it is sent without the key of the account. */
  readonly isAnonymous: boolean;
  /** A text, and the answer to it: its status, and words that only a reader of the text answers with. */
  readonly shown: Shown;
}

type Shown = readonly [text: string, status: number, words?: string];

const JSON_TYPE = { 'content-type': 'application/json' };
const MCP_TYPES = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };

const latin = (text: string): string => Buffer.from(text).toString('latin1');
const get = (target: string, headers: Readonly<Record<string, string>> = {}): SentRequest => ({
  method: 'GET',
  target,
  headers,
  body: null,
});
const send = (
  method: string,
  target: string,
  value: unknown,
  headers: SentRequest['headers'] = JSON_TYPE,
): SentRequest => ({
  method,
  target,
  headers,
  body: latin(typeof value === 'string' ? value : JSON.stringify(value)),
});
const inUrl = encodeURIComponent;
/** A header holds no control characters and nothing beyond Latin-1. */
const inHeader = (text: string): string => text.replace(/[^\x20-\x7e]/g, '~');
const entry = (shown: Shown, request: Entry['request']): Entry => ({ shown, request, isAnonymous: false });
const withHeader = (name: string, shown: Shown, { before = '', target = '/v0/flows' } = {}): Entry => ({
  shown,
  request: (text) => get(target, { [name]: `${before}${inHeader(text)}` }),
  isAnonymous: true,
});
const toMcp = (name: string, shown: Shown): Entry =>
  entry(shown, (text) => send('POST', '/mcp', LIST_TOOLS, { ...MCP_TYPES, [name]: inHeader(text) }));
const LIST_TOOLS = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const explained = (rest: object): SentRequest => send('POST', '/v0/sql', { explain_only: true, ...rest });
const tool = (params: unknown): SentRequest =>
  send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, MCP_TYPES);

/** Saved once, so that values for it are read. */
export const SAVED_QUERY = send('PUT', '/v0/queries/valued', {
  sql: 'SELECT {a:String}',
  title: 'x',
  visibility: 'public',
  parameters: { a: { description: 'x', default: 'x' } },
});

export const ENTRIES: Readonly<Record<string, Entry>> = {
  'SQL, explained': entry(['SELECT 1', 200, 'estimate'], (sql) => explained({ sql })),
  'SQL, explained with a value': entry(['SELECT {a:UInt8}', 200, 'estimate'], (sql) =>
    explained({ sql, params: { a: 1 } }),
  ),
  'SQL, run': entry(['SELECT 1', 200, 'rows'], (sql) => send('POST', '/v0/sql', { sql })),
  'value of a placeholder': entry(['x', 200, 'estimate'], (a) =>
    explained({ sql: 'SELECT {a:String}', params: { a } }),
  ),
  'value of a list': entry(['x', 400, 'invalid_query'], (a) =>
    explained({ sql: 'SELECT {a:Array(UInt64)}', params: { a } }),
  ),
  'name of a placeholder': entry(['x', 400, 'params has x'], (name) =>
    explained({ sql: 'SELECT 1', params: { [name]: 1 } }),
  ),
  'body of JSON': entry(['{"sql":"SELECT 1"}', 200, 'rows'], (body) => send('POST', '/v0/sql', body)),
  'name of a field': entry(['x', 400, 'no parameter'], (name) => send('POST', '/v0/sql', { [name]: 1 })),
  'query of the ClickHouse interface': entry(['SELECT 77', 200, '77'], (sql) =>
    get(`/clickhouse?query=${inUrl(sql)}`),
  ),
  'body of the ClickHouse interface': entry(['SELECT 77', 200, '77'], (sql) =>
    send('POST', '/clickhouse', sql),
  ),
  'parameter of the ClickHouse interface': entry(['word', 200, 'word'], (a) =>
    get(`/clickhouse?query=SELECT%20%7Ba:String%7D&param_a=${inUrl(a)}`),
  ),
  'setting of the ClickHouse interface': entry(['word', 400, "setting 'word'"], (name) =>
    get(`/clickhouse?query=SELECT%201&${inUrl(name)}=1`),
  ),
  'saved query': entry(['SELECT {a:UInt8}', 200, 'version'], (sql) =>
    send('PUT', '/v0/queries/x', {
      sql,
      title: 'x',
      parameters: { a: { description: 'x', default: 1 } },
    }),
  ),
  'title of a saved query': entry(['word', 200, 'word'], (title) =>
    send('PUT', '/v0/queries/x', { sql: 'SELECT 1', title }),
  ),
  'search in saved queries': entry(['word', 200, 'queries'], (text) => get(`/v0/q?search=${inUrl(text)}`)),
  'value for a saved query': entry(['word', 200, 'word'], (text) =>
    get(`/v0/q/demo/valued?a=${inUrl(text)}`),
  ),
  cursor: entry(['x', 400, 'not a cursor'], (text) => get(`/v0/flows?before=${inUrl(text)}`)),
  'name of a parameter': entry(['x', 400, 'no parameter'], (text) => get(`/v0/flows?${inUrl(text)}=1`)),
  wallet: entry(['x', 400, 'must be an address'], (text) => get(`/v0/entities/${inUrl(text)}/summary`)),
  'path of no route': entry(['x', 404, 'no such route'], (text) => get(`/v0/${inUrl(text)}`)),
  'search in agents': entry(['x', 200, 'agents'], (text) => get(`/v0/agents?q=${inUrl(text)}`)),
  'search in endpoints': entry(['x', 200, 'endpoints'], (text) => get(`/v0/endpoints?q=${inUrl(text)}`)),
  'functions of SQL': entry(['x', 200], (text) => get(`/v0/sql/schema?functions=${inUrl(text)}`)),
  Authorization: withHeader('authorization', ['x', 401, 'invalid_api_key'], { before: 'Bearer ' }),
  'Authorization with a password': withHeader('authorization', ['eDp4', 403], {
    before: 'Basic ',
    target: '/clickhouse?query=SELECT%201',
  }),
  'X-API-Key': withHeader('x-api-key', ['x', 401, 'invalid_api_key']),
  'X-PAYMENT': withHeader('x-payment', ['x', 402]),
  'X-PAYMENT of JSON': {
    ...withHeader('x-payment', ['{"x402Version":1}', 402]),
    request: (text) => get('/v0/flows', { 'x-payment': Buffer.from(text).toString('base64') }),
  },
  'Idempotency-Key': entry(['x', 200, 'rows'], (text) =>
    send('POST', '/v0/sql', { sql: 'SELECT 1' }, { ...JSON_TYPE, 'idempotency-key': inHeader(text) }),
  ),
  'X-Request-Id': withHeader('x-request-id', ['x', 200], { target: '/v0/telemetry' }),
  Accept: withHeader('accept', ['text/html', 200], { target: '/v0/telemetry' }),
  'Accept-Encoding': withHeader('accept-encoding', ['gzip', 200], { target: '/v0/telemetry' }),
  'If-None-Match': withHeader('if-none-match', ['"x"', 200], { target: '/openapi.json' }),
  'Content-Type': entry(['x/x', 415], (text) => ({
    ...send('POST', '/v0/sql', {}),
    headers: { 'content-type': inHeader(text) },
  })),
  Origin: toMcp('origin', ['https://a.example', 403, 'Pages of this origin']),
  Host: toMcp('host', ['a.example', 403, 'This host name']),
  'X-Forwarded-For': withHeader('x-forwarded-for', ['x', 200], { target: '/v0/telemetry' }),
  traceparent: withHeader('traceparent', ['x', 200], { target: '/v0/telemetry' }),
  'argument of a tool': entry(['SELECT 1', 200, 'was not run'], (sql) =>
    tool({ name: 'run_sql', arguments: { sql, explain_only: true } }),
  ),
  'name of a tool': entry(['x', 200, 'no tool of that name'], (name) => tool({ name, arguments: {} })),
  'body of MCP': entry([JSON.stringify(LIST_TOOLS), 200, 'run_sql'], (body) =>
    send('POST', '/mcp', body, MCP_TYPES),
  ),
};
