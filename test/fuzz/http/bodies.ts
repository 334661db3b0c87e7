import fc from 'fast-check';
import type { JsonObject } from '../../kit/document-schemas.ts';
import { goodText, oddJson, oddText } from './values.ts';

/** Bodies of requests: objects by the schema, and bytes that are none. */

/** Bytes that no route takes, as Latin-1. */
export const rawBody: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '{',
    '[]',
    'null',
    '"sql"',
    '{"sql":"SELECT 1"',
    '{"sql":"SELECT 1"}{"sql":"SELECT 2"}',
    '{"sql":"SELECT 1","sql":"SELECT 2"}',
    '{"__proto__":{"tier":"deep"},"sql":"SELECT 1"}',
    '\xef\xbb\xbf{"sql":"SELECT 1"}',
    '{"sql":"\xff\xfe"}',
    '{"sql":"SELECT 1","max_rows":1e999}',
    `{"params":${'['.repeat(40)}${']'.repeat(40)}}`,
    `{"params":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}`,
    'sql=SELECT+1',
  ),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.constant('x'.repeat(600_000)),
);

/** Queries that are answered. */
const GOOD_TEXTS = [
  'SELECT 1',
  'SELECT count() FROM settlements',
  'SELECT * FROM settlements ORDER BY block_time DESC LIMIT 3',
  'SELECT chain, agent_id, name FROM agents',
  'SELECT payee, sum(amount) FROM settlements GROUP BY payee',
  "SELECT 'a\tb' AS `x y`, NULL, nan, inf, [1, 2], map('k', 1)",
  'SELECT toUInt256(2) * toUInt256(3), toDecimal64(1.5, 3)',
  'SELECT number FROM numbers(20000)',
  'SELECT * FROM settlements FORMAT CSV',
  'SELECT payer FROM settlements WHERE 0',
] as const;

/** Queries that run and fail; some have read rows by then. */
const FAILING_TEXTS = [
  'SELECT pajer FROM settlements',
  'SELECT intDiv(1, 0)',
  "SELECT throwIf(number = 9, 'x') FROM numbers(10)",
  "SELECT throwIf(log_index > 0, 'x') FROM settlements",
  'SELECT 1 AS a, 2 AS a',
  'SELECT {wallet:String} AS wallet',
  'SELECT {n:UInt64} + 1',
] as const;

/** Queries that are refused, and those at the limits. */
const REFUSED_TEXTS = [
  'SELECT * FROM setlements',
  'SELECT * FROM system.tables',
  "SELECT * FROM url('http://127.0.0.1/')",
  'SELECT 1 SETTINGS max_threads = 9',
  'DROP TABLE settlements',
  'SELECT 1; SELECT 2',
  'WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r',
  '',
  '-- nothing',
  `SELECT ${'('.repeat(600)}1${')'.repeat(600)}`,
  `SELECT '${'x'.repeat(65_000)}'`,
  `SELECT '${'x'.repeat(66_000)}'`,
] as const;

const TEXT = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...GOOD_TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom(...FAILING_TEXTS) },
  { weight: 2, arbitrary: fc.constantFrom(...REFUSED_TEXTS) },
  { weight: 1, arbitrary: oddText },
);

const BINDINGS = fc.oneof(
  // A value without a placeholder is refused, so that most queries go without.
  { weight: 8, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constantFrom({ wallet: '0xab' }, { n: 7 }, { n: '7', unused: null }) },
  { weight: 1, arbitrary: oddBindings() },
);

function oddBindings(): fc.Arbitrary<unknown> {
  return fc.dictionary(
    fc.oneof(fc.constantFrom('wallet', 'n'), fc.string({ maxLength: 70 })),
    fc.oneof(fc.constantFrom<unknown>('0xab', 7, '7', null, true, [1, '2', null], 2 ** 60), oddJson),
    { maxKeys: 4 },
  );
}

interface Field {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A value by its schema; of a form that no schema can tell, one that an example has. */
function goodValue(name: string, field: Field, examples: readonly JsonObject[]): fc.Arbitrary<unknown> {
  const { type, enum: choices, minimum: min = 0, maximum: max = 1_000 } = field;
  if (choices !== undefined) return fc.constantFrom(...choices);
  if (type === 'integer')
    return fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min, max }) },
      { weight: 1, arbitrary: fc.constantFrom(min, max, min - 1, max + 1, 0) },
    );
  if (type === 'boolean') return fc.boolean();
  if (name === 'sql' || name === 'query') return TEXT;
  if (name === 'params') return BINDINGS;
  const shown = examples.flatMap((example) => (name in example ? [fc.constant(example[name])] : []));
  const written = type === 'string' ? goodText({ ...field }) : fc.constant(type === 'array' ? [] : {});
  return fc.oneof(...shown, written);
}

/** An object of the body’s schema: good, with one wrong value, or with a field too many. */
export function jsonBody({
  schema,
  examples,
}: {
  readonly schema: JsonObject;
  readonly examples: readonly JsonObject[];
}): fc.Arbitrary<string> {
  const properties = Object.entries(schema['properties'] as Readonly<Record<string, Field>>);
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const fields = properties.map(([name, field]): [string, fc.Arbitrary<unknown>] => {
    const value = goodValue(name, field, examples);
    return [name, required.has(name) ? value : sometimes(value)];
  });
  const good = fc.record(Object.fromEntries(fields));
  const wrong = fc
    .tuple(good, fc.constantFrom(...properties.map(([name]) => name), 'colour', 'settings'), oddJson)
    .map(([body, name, value]) => ({ ...body, [name]: value }));
  // The two names of the text cannot both be sent, so that most bodies have but one.
  const usual = properties.some(([name]) => name === 'sql')
    ? fc.tuple(good, TEXT).map(([{ query: _alias, ...body }, sql]) => ({ ...body, sql }))
    : good;
  return fc
    .oneof(
      { weight: 5, arbitrary: usual },
      { weight: 1, arbitrary: good },
      { weight: 1, arbitrary: wrong },
      ...(examples.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...examples) }]),
    )
    .map((body) => Buffer.from(JSON.stringify(body)).toString('latin1'));
}

/** Once in four bodies; of many fields most are left out, as callers do. */
function sometimes(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
}
