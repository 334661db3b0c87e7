import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../../core/errors.ts';
import { documentSchemas, type JsonObject } from '../../kit/document-schemas.ts';

/** The golden OpenAPI document as its readers use it: linters, generators of clients, people who copy examples. */

const source = readFileSync(new URL('../../../docs/reference/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(source) as JsonObject; // our own file
const { resolve, complaintsAt } = documentSchemas(document);

/** Every object of the document, with the place where it stands. */
function* objects(value: unknown, at = '#'): Generator<{ readonly at: string; readonly object: JsonObject }> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { at, object: value as JsonObject };
  for (const [name, inner] of Object.entries(value)) {
    // The values of an example are no part of the description.
    if (/\/(?:example|examples\/[^/]+\/value)$/.test(at)) return;
    yield* objects(inner, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

const all = [...objects(document)];
const operations = all.filter(({ object }) => typeof object['operationId'] === 'string');
const parameters = all.filter(({ object }) => typeof object['in'] === 'string' && 'schema' in object);

test('the linter of Redocly has nothing to say, by its strictest recommended rules', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source, config });
  expect(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
  ).toEqual([]);
});

describe('examples', () => {
  const examples = all.flatMap(({ at, object }) => {
    if (!('schema' in object)) return [];
    const named = Object.entries((object['examples'] ?? {}) as Record<string, { value: unknown }>);
    return [
      ...('example' in object ? [{ at, name: 'example', value: object['example'] }] : []),
      ...named.map(([name, { value }]) => ({ at, name, value })),
    ];
  });

  test('are true: each fits its schema, with nothing that the schema does not have', () => {
    const wrong = examples.flatMap(({ at, name, value }) =>
      complaintsAt(`${at}/schema`)(value).map((complaint) => `${at} ${name}: ${complaint}`),
    );
    expect(wrong).toEqual([]);
    expect(examples.length).toBeGreaterThan(100);
  });

  test('stand at every body that is described by a schema of JSON or text', () => {
    const bodies = all.filter(({ at }) => /\/content\/[^/]+$/.test(at));
    const bare = bodies.filter(({ object }) => !('example' in object || 'examples' in object));
    expect(
      bare.map(({ at }) => at.split('/').at(-1)).filter((type) => !/arrow|parquet/.test(type ?? '')),
    ).toEqual([]);
  });

  test('of failures are there for every code that HTTP can answer with', () => {
    const codes = new Set(
      examples
        .filter(({ at }) => at.endsWith('problem+json'))
        .map(({ value }) => (value as { code: string }).code),
    );
    // Only the MCP surface has an origin that it refuses.
    expect(ERROR_CODES.filter((code) => !codes.has(code))).toEqual(['forbidden_origin']);
  });
});

describe('generated types', () => {
  test('have a name: no schema of an object stands where it is used', () => {
    const unnamed = all.filter(
      ({ at, object }) => 'properties' in object && !/^#\/components\/schemas\/[^/]+$/.test(at),
    );
    expect(unnamed.map(({ at }) => at)).toEqual([]);
  });

  test('know every value of a closed list by its name', () => {
    const lists = all.filter(({ at, object }) => 'enum' in object && at.startsWith('#/components/schemas/'));
    for (const { object } of lists) expect(object['type']).toBe('string');
  });
});

describe('operations', () => {
  test('are named, grouped and explained', () => {
    const tags = (document['tags'] as readonly { name: string }[]).map(({ name }) => name);
    for (const { at, object } of operations) {
      expect([at, object['tags']]).toEqual([
        at,
        [expect.stringMatching(new RegExp(`^(${tags.join('|')})$`))],
      ]);
      for (const field of ['summary', 'description'])
        expect([at, object[field]]).toEqual([at, expect.stringMatching(/.{8}/)]);
    }
    const ids = operations.map(({ object }) => object['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('say of each parameter what it means and what it takes', () => {
    for (const { at, object } of parameters) {
      expect([at, object['description']]).toEqual([at, expect.stringMatching(/.{8}/)]);
      const { type, enum: choices, pattern, maxLength } = resolve(`${at}/schema`).target as JsonObject;
      const isBounded =
        type !== 'string' || [choices, pattern, maxLength].some((bound) => bound !== undefined);
      expect([at, isBounded || object['in'] === 'header']).toEqual([at, true]);
    }
  });

  test('show a value of each parameter, but of those that only an answer can give', () => {
    const shown = (at: string, object: JsonObject): boolean => {
      const { enum: choices, default: standard } = resolve(`${at}/schema`).target as JsonObject;
      return 'example' in object || choices !== undefined || standard !== undefined;
    };
    const bare = parameters
      .filter(({ at, object }) => !shown(at, object))
      .map(({ object }) => object['name']);
    // Opaque, signed, or the one of two that is left out.
    expect(bare.sort()).toEqual([
      'PAYMENT-SIGNATURE',
      'X-PAYMENT',
      'after',
      'as_of',
      'before',
      'days',
      // Of a result, and of a dashboard.
      'token',
      'token',
    ]);
  });

  test('have the headers of every answer on each of their answers', () => {
    for (const { at, object } of operations) {
      for (const status of Object.keys(object['responses'] as JsonObject)) {
        const { target } = resolve(`${at}/responses/${status}`);
        expect([at, status, Object.keys((target as { headers: JsonObject }).headers)]).toEqual([
          at,
          status,
          expect.arrayContaining(['X-Request-Id', 'Cache-Control', 'Server-Timing']),
        ]);
      }
    }
  });

  test('with a price say so in the words that crawlers of payable APIs read', () => {
    const priced = operations.filter(
      ({ object }) => 'price' in ((object['x-payment-info'] ?? {}) as JsonObject),
    );
    expect(priced.length).toBe(24);
    for (const { object } of priced)
      expect(object['x-payment-info']).toMatchObject({
        protocols: [{ x402: {} }],
        price: { currency: 'USD', mode: expect.stringMatching(/^(fixed|dynamic)$/) },
      });
    const dynamic = priced.filter(({ object }) =>
      JSON.stringify(object['x-payment-info']).includes('"dynamic"'),
    );
    expect(dynamic.map(({ object }) => object['x-payment-info'])).toMatchObject([
      {
        range: {
          qu: { min: 1, max: 60, per_unit: 1 },
          x402_usd: { min: 0.01, max: 0.03, per_unit: 0.01 },
        },
        price: { mode: 'dynamic', min: '0.01', max: '0.03' },
      },
      // A saved query: the longest run, and the highest price of an author.
      {
        range: {
          qu: { min: 1, max: 10_060, per_unit: 1 },
          x402_usd: { min: 0.01, max: 100.6, per_unit: 0.01 },
        },
        price: { mode: 'dynamic', min: '0.01', max: '100.6' },
      },
    ]);
  });
});
