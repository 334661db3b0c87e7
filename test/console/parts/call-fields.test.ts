import { expect, it } from 'vitest';
import { callFields, firstCall } from '../../../console/parts/call-fields.ts';
import { askedOffers } from '../../../console/parts/call-offers.ts';
import { ENDPOINT_EXAMPLE } from '../../../src/operations/endpoints/shape.ts';

const PAYEE = ENDPOINT_EXAMPLE.pay_to;
const USDC = ENDPOINT_EXAMPLE.accepts[0]?.asset;

it('version 1 describes each field itself', () => {
  const queryParams = {
    city: { type: 'string', required: true, description: 'A town.' },
    days: { type: 'number', required: false },
  };
  expect(callFields({ input: { type: 'http', method: 'GET', queryParams } })).toEqual([
    { place: 'query', name: 'city', type: 'string', isRequired: true, description: 'A town.', example: '' },
    { place: 'query', name: 'days', type: 'number', isRequired: false, description: '', example: '' },
  ]);
});

it('version 2 gives examples, and a schema beside them', () => {
  const body = { city: 'Rome', days: 3 };
  const properties = {
    city: { type: 'string', description: 'A town.' },
    days: { type: 'integer' },
    unit: { type: 'string' },
  };
  const schema = { properties: { input: { properties: { body: { properties, required: ['city'] } } } } };
  const call = {
    input: { type: 'http', method: 'POST', body },
    output: { example: { celsius: 21 } },
    schema,
  };
  expect(
    callFields(call).map(({ place, name, type, isRequired }) => [place, name, type, isRequired]),
  ).toEqual([
    ['body', 'city', 'string', true],
    ['body', 'days', 'integer', false],
    ['body', 'unit', 'string', false],
    ['answer', 'celsius', 'number', null],
  ]);
  const { url, body: first } = firstCall({ resource: 'https://a.example/x', method: 'POST', call });
  expect([url, JSON.parse(first ?? '')]).toEqual(['https://a.example/x', { city: 'Rome', days: '3' }]);
});

it('the first call has the example values of its query', () => {
  const call = { input: { type: 'http', method: 'GET', queryParams: { city: 'Rome' } } };
  expect(firstCall({ resource: 'https://a.example/x', method: 'GET', call })).toEqual({
    url: 'https://a.example/x?city=Rome',
    body: null,
  });
});

it('nonsense of a listing is no field, and fails nothing', () => {
  for (const input of [null, 'text', 7, [], { queryParams: null }, { body: ['x'] }, { queryParams: 'city' }])
    expect(callFields({ input })).toEqual([]);
});

const offer = (over: object) => ({
  scheme: 'exact',
  network: 'eip155:8453',
  asset: USDC,
  payTo: PAYEE,
  amount: '10000',
  ...over,
});
const asked = (accepts: readonly object[], isHeader: boolean) => {
  const json = JSON.stringify({ accepts });
  return askedOffers(
    { status: 402, required: isHeader ? btoa(json) : null, text: isHeader ? '{}' : json },
    ENDPOINT_EXAMPLE,
  );
};

it('an offer is told in dollars, from the header or the body, with what is known of its payee', () => {
  const told = { amount: '$0.01', scheme: 'exact', network: 'Base', payTo: PAYEE, payee: 'observed' };
  expect(asked([offer({})], true)).toEqual([told]);
  expect(asked([offer({ network: 'base', maxAmountRequired: '10000', amount: undefined })], false)).toEqual([
    told,
  ]);
  expect(asked([offer({ payTo: `0x${'9'.repeat(40)}` })], true)).toMatchObject([{ payee: 'other' }]);
});

it('an amount of an unknown asset stays in its own units', () => {
  expect(asked([offer({ asset: 'SOMETHING', amount: '1234567' })], true)).toMatchObject([
    { amount: '1,234,567 atomic units of SOMETHING' },
  ]);
});

it('an answer without readable offers says nothing', () => {
  for (const [required, text] of [
    [null, ''],
    ['no base64 !', 'no json'],
    [null, '{"accepts":[]}'],
    [null, '{"accepts":{}}'],
  ] as const)
    expect(askedOffers({ status: 402, required, text }, ENDPOINT_EXAMPLE)).toBeNull();
});
