import { randomUUID } from 'node:crypto';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { PUBLISHED_DATABASE } from '../../../clickhouse/catalogue/tables.ts';
import { CONTENT_CODINGS, type ContentCoding, type WrittenAs } from '../../../clickhouse/engine/engine.ts';
import type { Failure } from '../../../core/errors.ts';
import { firstWord } from '../../../sandbox/judge/lexer.ts';

import { clickhouseFormat } from '../../../sandbox/policy/formats.ts';
import { type SqlSetting, settingKind } from '../../../sandbox/policy/settings.ts';
import {
  SQL_PARAMETER_MAX_CHARS,
  SQL_PARAMETERS_MAX,
  SQL_TEXT_MAX_BYTES,
} from '../../operations/sql/params.ts';
import { sentText } from '../headers.ts';
import { bodyOf, JSON_BODY_MAX_BYTES } from '../request-input.ts';
import { exception, WRITES } from './exceptions.ts';

/** A request of the ClickHouse HTTP interface. Source: ClickHouse documentation, "HTTP Interface". */
export interface ClickhouseRequest {
  /** '' where the request has no query. */
  readonly text: string;
  /** As they were sent: the types of the placeholders tell what they mean (`valuesAsRead`). */
  readonly parameters: Readonly<Record<string, string>>;
  readonly settings: readonly SqlSetting[];
  readonly database: string;
  /** As the engine spells it. */
  readonly format: string;
  readonly compression: WrittenAs['compression'];
}

/** Words of the URL that are no settings. Those without a meaning here are taken and have no effect: there are no sessions. */
const WORDS: ReadonlySet<string> = new Set([
  'query',
  'database',
  'default_format',
  'user',
  'password',
  'query_id',
  'compress',
  'session_id',
  'session_check',
  'session_timeout',
  'close_session',
  'stacktrace',
  'quota_key',
  // The version of the Native format that clickhouse-connect would like; the oldest is written, which every client reads.
  'client_protocol_version',
]);
const PARAMETER = /^param_([A-Za-z_]\w{0,63})$/;
/** What a server answers in when a client names no format. */
const DEFAULT_FORMAT = 'TabSeparated';
/** Databases that clients connect to: the published one, and the databases of the catalogue. */
const DATABASES: ReadonlySet<string> = new Set([
  PUBLISHED_DATABASE,
  'system',
  'information_schema',
  'INFORMATION_SCHEMA',
]);

/** Throws a `Failure` for what cannot be read, and for settings, formats and databases that are not there. */
export async function readRequest(request: FastifyRequest): Promise<ClickhouseRequest> {
  const sentForm = await formOf(request);
  const words = wordsOf(request, sentForm);
  const { headers } = request;
  const settings: SqlSetting[] = [];
  const sent = new Map<string, string>();
  for (const [name, value] of words) {
    const parameter = PARAMETER.exec(name)?.[1];
    if (parameter !== undefined) sent.set(parameter, value);
    else if (!WORDS.has(name) && !isEmptyWord(name, value)) settings.push(checkedSetting({ name, value }));
  }
  const parameters = checkedParameters(sent);
  const text = queryOf(words.get('query') ?? '', sentForm === null ? bodyText(request) : '');
  return {
    text,
    parameters,
    settings,
    database: databaseOf(words.get('database') ?? sentText(headers['x-clickhouse-database'])),
    format: formatOf(
      sentText(headers['x-clickhouse-format']) || words.get('default_format') || DEFAULT_FORMAT,
    ),
    compression: words.get('compress') === '1' ? 'blocks' : codingOf(headers['accept-encoding'], words),
  };
}

/** By name; of a repeated one the first, as in ClickHouse. Fields of a form are words as those of the URL are. */
function wordsOf({ query }: FastifyRequest, form: FormData | null): Map<string, string> {
  const words = new Map<string, string>();
  for (const [name, value] of form ?? []) {
    if (typeof value !== 'string')
      throw exception(
        'NOT_IMPLEMENTED',
        'External data (a file in a form) is not read here. Write the values into the query, or send them as parameters.',
      );
    if (!words.has(name)) words.set(name, value);
  }
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) // texts, or lists of repeated ones
    words.set(name, typeof value === 'string' ? value : (value[0] ?? ''));
  return words;
}

/** Words that clients send with the value that means nothing. */
function isEmptyWord(name: string, value: string): boolean {
  return (
    (name === 'decompress' && (value === '0' || value === '')) ||
    ((name === 'role' || name === 'profile') && value === '')
  );
}

function checkedSetting(setting: SqlSetting): SqlSetting {
  const kind = settingKind(setting);
  if (kind !== null && kind !== 'value') return setting;
  const name = setting.name.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
  if (kind === 'value')
    throw exception(
      'SETTING_CONSTRAINT_VIOLATION',
      `Setting ${name} cannot be ${setting.value.slice(0, 40).replace(/[^\x20-\x7e]/g, '?')} here. Settings may shape the answer and lower its limits.`,
    );
  if (name === 'decompress')
    throw exception(
      'NOT_IMPLEMENTED',
      'A body in compressed blocks (decompress=1) is not read here: send the query as text.',
    );
  if (/^[a-z][a-z0-9_]*$/.test(name))
    throw exception(
      'UNKNOWN_SETTING',
      `Unknown setting '${name}': it is none of the settings that can be sent here, which shape the answer or lower its limits.`,
    );
  throw exception('BAD_ARGUMENTS', `"${name}" is neither a word of this interface nor a setting.`);
}

function checkedParameters(sent: ReadonlyMap<string, string>): Record<string, string> {
  if (sent.size > SQL_PARAMETERS_MAX)
    throw exception('BAD_ARGUMENTS', `At most ${SQL_PARAMETERS_MAX} parameters are taken.`);
  const parameters = Object.fromEntries(sent);
  for (const [name, value] of sent)
    if (value.length > SQL_PARAMETER_MAX_CHARS)
      throw exception(
        'BAD_ARGUMENTS',
        `The parameter ${name} is longer than ${SQL_PARAMETER_MAX_CHARS} characters.`,
      );
  return parameters;
}

function databaseOf(name: string): string {
  if (name === '') return PUBLISHED_DATABASE;
  if (DATABASES.has(name)) return name;
  throw exception(
    'UNKNOWN_DATABASE',
    `Database ${name.slice(0, 100).replace(/[^\x20-\x7e]/g, '?')} does not exist. The public tables are in ${PUBLISHED_DATABASE}.`,
  );
}

function formatOf(name: string): string {
  const known = clickhouseFormat(name);
  if (known !== undefined) return known;
  throw exception('UNKNOWN_FORMAT', `Unknown format ${name.slice(0, 100).replace(/[^\x20-\x7e]/g, '?')}.`);
}

/** The query of the URL or the form, then the body. */
function queryOf(ofUrl: string, ofBody: string): string {
  const text = ofUrl === '' || ofBody === '' ? ofUrl + ofBody : `${ofUrl}\n${ofBody}`;
  // What stands behind that many characters begins no query: the judge refuses a longer text.
  const first = firstWord(text.slice(0, SQL_TEXT_MAX_BYTES));
  // Before the engine parses it: with data behind it, the text is none.
  if (WRITES.test(first))
    throw exception(
      'READONLY',
      `Cannot execute query in readonly mode: ${first.toUpperCase()} is not run here, the tables are read-only.`,
    );
  return text;
}

/** A body of parts, as clients send long parameters; null for any other. */
async function formOf(request: FastifyRequest): Promise<FormData | null> {
  const type = request.headers['content-type'] ?? '';
  const bytes = bodyOf(request);
  if (bytes === undefined || !/^multipart\/form-data\b/i.test(type)) return null;
  const body = decoded(bytes, request.headers['content-encoding']);
  try {
    return await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  } catch {
    throw exception('BAD_ARGUMENTS', 'The body is no form that can be read.', 'malformed_request');
  }
}

function bodyText(request: FastifyRequest): string {
  const bytes = bodyOf(request);
  if (bytes === undefined || bytes.length === 0) return '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(
      decoded(bytes, request.headers['content-encoding']),
    );
  } catch (error) {
    if (error instanceof TypeError)
      throw exception('BAD_ARGUMENTS', 'The query is not UTF-8.', 'malformed_request');
    throw error;
  }
}

function decoded(bytes: Buffer, coding = ''): Buffer {
  const limit = { maxOutputLength: JSON_BODY_MAX_BYTES };
  try {
    switch (coding.trim().toLowerCase()) {
      case '':
      case 'identity':
        return bytes;
      case 'gzip':
      case 'deflate':
        return unzipSync(bytes, limit);
      case 'br':
        return brotliDecompressSync(bytes, limit);
    }
  } catch {
    throw exception('BAD_ARGUMENTS', 'The body cannot be decoded, or is too large.', 'malformed_request');
  }
  throw exception(
    'NOT_IMPLEMENTED',
    `A body with Content-Encoding ${coding.slice(0, 40).replace(/[^\x20-\x7e]/g, '?')} is not read here: send the query as it is, or gzip.`,
    'unsupported_media_type',
  );
}

/** The fastest coding that the client takes; none where it asks for none, or names none that the engine writes. */
function codingOf(
  header: string | string[] | undefined,
  words: ReadonlyMap<string, string>,
): ContentCoding | null {
  if (header === undefined || words.get('enable_http_compression') === '0') return null;
  const accepted = new Set(
    sentText(header)
      .toLowerCase()
      .split(',')
      .map((entry) => entry.split(';').map((part) => part.trim()))
      .filter(([, quality]) => quality === undefined || !/^q=0(\.0*)?$/.test(quality))
      .map(([coding]) => coding ?? ''),
  );
  return CONTENT_CODINGS.find((coding) => accepted.has(coding)) ?? null;
}

const QUERY_ID = /^[\x21-\x7e]{1,128}$/;

/** The client's own id, which the answer repeats. The engine gets another one: two clients may choose the same. */
export function queryIdOf({ query }: FastifyRequest): string {
  const id = (query as Record<string, unknown>)['query_id']; // a text, or a list of repeated ones
  return typeof id === 'string' && QUERY_ID.test(id) ? id : randomUUID();
}

/** Who calls: the API key stands in the place of the password, the user's name is for the client's own log. */
export interface ClickhouseLogin {
  readonly user: string;
  /** '' without one. */
  readonly password: string;
  /** Of a bearer token, which is taken as everywhere. */
  readonly bearer: string | undefined;
}

/** Throws a `Failure` (AUTHENTICATION_FAILED) where two places carry different passwords: the client may mean either. */
export function readLogin({ headers, query }: FastifyRequest): ClickhouseLogin {
  const authorization = sentText(headers.authorization);
  const basic = basicOf(authorization);
  const words = query as Record<string, unknown>; // texts, or lists of repeated ones
  const users = [sentText(headers['x-clickhouse-user']), basic?.user, words['user']];
  const passwords = [
    sentText(headers['x-clickhouse-key']),
    basic?.password,
    words['password'],
    sentText(headers['x-api-key']),
  ];
  const sent = new Set(passwords.filter((one): one is string => typeof one === 'string' && one !== ''));
  if (sent.size > 1) throw twoPasswords();
  return {
    user: printable(users.find((one): one is string => typeof one === 'string' && one !== '') ?? 'default'),
    password: [...sent][0] ?? '',
    bearer: /^bearer /i.test(authorization) ? authorization : undefined,
  };
}

function twoPasswords(): Failure {
  return exception(
    'AUTHENTICATION_FAILED',
    'Different passwords were sent in several places: send one.',
    'malformed_request',
  );
}

function basicOf(authorization: string): { readonly user: string; readonly password: string } | undefined {
  const encoded = /^basic +(\S+)$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1
    ? { user: text, password: '' }
    : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

const USER_MAX_CHARS = 64;
/** A key that was sent as the name is not shown again. */
const KEY = /six_\w+/g;

function printable(user: string): string {
  return user
    .replace(KEY, '…')
    .replace(/[^\x20-\x7e…]/g, '?')
    .slice(0, USER_MAX_CHARS);
}
