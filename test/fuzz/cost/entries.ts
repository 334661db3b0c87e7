import type { SentRequest } from '../http/send.ts';

/** Every place of a request where a text of a stranger stands. */

type Entry = (text: string) => SentRequest;

const JSON_TYPE = { 'content-type': 'application/json' };
const MCP_TYPES = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };

const latin = (text: string): string => Buffer.from(text).toString('latin1');
const get = (target: string, headers: Readonly<Record<string, string>> = {}): SentRequest => ({
  method: 'GET',
  target,
  headers,
  body: null,
});
const send = (method: string, target: string, value: unknown, headers = JSON_TYPE): SentRequest => ({
  method,
  target,
  headers,
  body: latin(typeof value === 'string' ? value : JSON.stringify(value)),
});
const inUrl = encodeURIComponent;
/** A header holds no control characters and nothing beyond Latin-1. */
const inHeader = (text: string): string => text.replace(/[^\x20-\x7e]/g, '~');
const withHeader =
  (name: string, before = '', target = '/v0/flows'): Entry =>
  (text) =>
    get(target, { [name]: `${before}${inHeader(text)}` });
const tool = (params: unknown): SentRequest =>
  send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, MCP_TYPES);

export const ENTRIES: Readonly<Record<string, Entry>> = {
  'SQL, explained': (sql) => send('POST', '/v0/sql', { sql, explain_only: true }),
  'SQL, explained with a value': (sql) =>
    send('POST', '/v0/sql', { sql, params: { a: 1 }, explain_only: true }),
  'SQL, run': (sql) => send('POST', '/v0/sql', { sql }),
  'value of a placeholder': (a) =>
    send('POST', '/v0/sql', { sql: 'SELECT {a:String}', params: { a }, explain_only: true }),
  'value of a list': (a) =>
    send('POST', '/v0/sql', { sql: 'SELECT {a:Array(UInt64)}', params: { a }, explain_only: true }),
  'name of a placeholder': (name) =>
    send('POST', '/v0/sql', { sql: 'SELECT 1', params: { [name]: 1 }, explain_only: true }),
  'body of JSON': (body) => send('POST', '/v0/sql', body),
  'name of a field': (name) => send('POST', '/v0/sql', { [name]: 1 }),
  'query of the ClickHouse interface': (sql) => get(`/clickhouse?query=${inUrl(sql)}`),
  'body of the ClickHouse interface': (sql) => send('POST', '/clickhouse', sql),
  'parameter of the ClickHouse interface': (a) =>
    get(`/clickhouse?query=SELECT%20%7Ba:String%7D&param_a=${inUrl(a)}`),
  'setting of the ClickHouse interface': (name) => get(`/clickhouse?query=SELECT%201&${inUrl(name)}=1`),
  'saved query': (sql) =>
    send('PUT', '/v0/queries/x', {
      sql,
      title: 'x',
      parameters: { a: { description: 'x', default: 1 } },
    }),
  'title of a saved query': (title) => send('PUT', '/v0/queries/x', { sql: 'SELECT 1', title }),
  'search in saved queries': (text) => get(`/v0/q?search=${inUrl(text)}`),
  'value for a saved query': (text) => get(`/v0/q/demo/x?a=${inUrl(text)}`),
  cursor: (text) => get(`/v0/flows?before=${inUrl(text)}`),
  'name of a parameter': (text) => get(`/v0/flows?${inUrl(text)}=1`),
  wallet: (text) => get(`/v0/entities/${inUrl(text)}/summary`),
  'path of no route': (text) => get(`/v0/${inUrl(text)}`),
  'search in agents': (text) => get(`/v0/agents?q=${inUrl(text)}`),
  'search in endpoints': (text) => get(`/v0/endpoints?q=${inUrl(text)}`),
  'word in saved queries': (text) => get(`/v0/q?q=${inUrl(text)}`),
  'functions of SQL': (text) => get(`/v0/sql/schema?functions=${inUrl(text)}`),
  Authorization: withHeader('authorization', 'Bearer '),
  'Authorization with a password': withHeader('authorization', 'Basic ', '/clickhouse?query=SELECT%201'),
  'X-API-Key': withHeader('x-api-key'),
  'X-PAYMENT': withHeader('x-payment'),
  'X-PAYMENT of JSON': (text) => get('/v0/flows', { 'x-payment': Buffer.from(text).toString('base64') }),
  'Idempotency-Key': withHeader('idempotency-key'),
  'X-Request-Id': withHeader('x-request-id'),
  Accept: withHeader('accept'),
  'Accept-Encoding': withHeader('accept-encoding', '', '/clickhouse?query=SELECT%201'),
  'If-None-Match': withHeader('if-none-match'),
  'Content-Type': (text) => ({ ...send('POST', '/v0/sql', {}), headers: { 'content-type': inHeader(text) } }),
  Origin: withHeader('origin', 'https://', '/mcp'),
  Host: withHeader('host', '', '/mcp'),
  'X-Forwarded-For': withHeader('x-forwarded-for'),
  traceparent: withHeader('traceparent'),
  'argument of a tool': (sql) => tool({ name: 'run_sql', arguments: { sql, explain_only: true } }),
  'name of a tool': (name) => tool({ name, arguments: {} }),
  'body of MCP': (body) => send('POST', '/mcp', body, MCP_TYPES),
};
