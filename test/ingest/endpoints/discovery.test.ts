import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDiscovery } from '../../../ingest/endpoints/discovery.ts';

const MAX_CHARS = 6_000;
const read = (item: unknown, entry?: unknown): unknown => JSON.parse(readDiscovery(item, entry) || 'null');

test('version 1 says it in outputSchema of an entry or of the item', () => {
  const outputSchema = {
    input: {
      type: 'http',
      method: 'GET',
      queryParams: { city: { type: 'string', required: true, description: 'A town.' } },
    },
    output: { type: 'object', properties: { celsius: { type: 'number' } } },
  };
  expect(read({}, { outputSchema })).toEqual({ ...outputSchema, schema: null });
  expect(read({ outputSchema })).toEqual({ ...outputSchema, schema: null });
});

test('version 2 says it in the extension bazaar, with a schema', () => {
  const info = { input: { type: 'http', method: 'POST', bodyType: 'json', body: { city: 'Rome' } } };
  const schema = { properties: { input: { properties: { body: { required: ['city'] } } } } };
  expect(read({ extensions: { bazaar: { info, schema } } })).toEqual({ ...info, output: null, schema });
});

test('an item without an input says nothing', () => {
  for (const item of [{}, null, 'text', { outputSchema: { output: {} } }, { metadata: { input: 'GET' } }])
    expect(readDiscovery(item, undefined)).toBe('');
});

test('texts are safe to show, and no field takes the place of a prototype', () => {
  const input = JSON.parse('{"a\\u202e\\u0000b":"x\\u202ey\\u0007","__proto__":{"polluted":1}}');
  expect(read({ outputSchema: { input } })).toEqual({ input: { ab: 'xy' }, output: null, schema: null });
});

test('what is too long loses its output first, then its schema, and what is too deep ends', () => {
  const long = Array.from({ length: 50 }, () => 'x'.repeat(300));
  const bazaar = (info: object, schema: object) => ({ extensions: { bazaar: { info, schema } } });
  expect(read(bazaar({ input: { type: 'http' }, output: { example: long } }, { type: 'object' }))).toEqual({
    input: { type: 'http' },
    schema: { type: 'object' },
  });
  expect(read(bazaar({ input: { type: 'http' }, output: { type: 'json' } }, { long }))).toEqual({
    input: { type: 'http' },
    output: { type: 'json' },
  });
  expect(readDiscovery(bazaar({ input: { long } }, {}), undefined)).toBe('');
  const nested = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`);
  expect(JSON.stringify(read({ outputSchema: { input: nested } })).match(/"a"/g)).toHaveLength(10);
});

test('whatever a listing says is bounded JSON of an object', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 6 }), fc.jsonValue(), fc.jsonValue(), (input, output, schema) => {
      const json = readDiscovery({ extensions: { bazaar: { info: { input, output }, schema } } }, undefined);
      expect(json.length).toBeLessThanOrEqual(MAX_CHARS);
      expect(json === '' || 'input' in JSON.parse(json)).toBe(true);
    }),
    { numRuns: 200 },
  );
});
