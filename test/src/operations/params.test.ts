import { describe, expect, test } from 'vitest';
import { nearest } from '../../../core/command-text.ts';
import { Failure } from '../../../core/errors.ts';
import {
  beforeParam,
  chainParam,
  counterpartyParam,
  excludeSelfPaymentsParam,
  facilitatorParam,
  finalityParam,
  limitParam,
  minProbabilityParam,
  offsetParam,
  roleParam,
  tierParam,
  walletParam,
} from '../../../src/operations/common-params.ts';
import type { Param } from '../../../src/operations/params.ts';
import { readInput } from '../../../src/operations/read-input.ts';
import { FEED_FILTERS } from '../../../src/operations/settlements/filters.ts';

const { since, min_usd, asset } = FEED_FILTERS;
const facts = { chains: ['eip155:8453', 'eip155:137'] as const };

function problemOf(read: () => unknown): { code: string; parameter: string | undefined; detail: string } {
  try {
    read();
  } catch (error) {
    if (error instanceof Failure) {
      return { code: error.code, parameter: error.context.parameter, detail: error.context.detail };
    }
    throw error;
  }
  throw new Error('nothing was refused');
}

const CHECKSUMMED = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

describe('values that are read', () => {
  test.each<[string, Param, unknown, unknown]>([
    ['limit absent', limitParam, undefined, 50],
    ['limit below', limitParam, '0', 1],
    ['limit negative', limitParam, '-7', 1],
    ['limit above', limitParam, '1000000', 100],
    ['limit as JSON', limitParam, 7, 7],
    ['probability zero', minProbabilityParam, '0', 0],
    ['probability one', minProbabilityParam, '1.0', 1],
    ['probability as JSON', minProbabilityParam, 0.3, 0.3],
    ['self-payments true', excludeSelfPaymentsParam, 'true', true],
    ['self-payments 1', excludeSelfPaymentsParam, '1', true],
    ['self-payments false', excludeSelfPaymentsParam, 'false', false],
    ['self-payments 0', excludeSelfPaymentsParam, '0', false],
    ['self-payments as JSON', excludeSelfPaymentsParam, true, true],
    ['address in lower case', walletParam, CHECKSUMMED.toLowerCase(), CHECKSUMMED.toLowerCase()],
    ['address with checksum', walletParam, CHECKSUMMED, CHECKSUMMED.toLowerCase()],
    [
      'address in upper case',
      walletParam,
      `0x${CHECKSUMMED.slice(2).toUpperCase()}`,
      CHECKSUMMED.toLowerCase(),
    ],
    ['chain', chainParam, 'eip155:137', 'eip155:137'],
    ['chain absent', chainParam, undefined, undefined],
    ['every chain by name', chainParam, 'all', undefined],
    ['role absent', roleParam, undefined, 'any'],
    ['tier', tierParam, 'not_x402', 'not_x402'],
    ['finality absent', finalityParam, undefined, 'any'],
    ['finality', finalityParam, 'finalized', 'finalized'],
    ['offset absent', offsetParam, undefined, 0],
    ['offset', offsetParam, '050', 50],
    ['offset as JSON', offsetParam, 10_000, 10_000],
    ['time absent', since, undefined, undefined],
    ['time', since, '2026-11-20T12:00:00Z', 1_795_176_000],
    ['time in another zone', since, '2026-11-20T14:30:00+02:30', 1_795_176_000],
    ['time with a fraction: the next whole second', since, '2026-11-20T11:59:59.001Z', 1_795_176_000],
    ['day', since, '2026-11-20', 1_795_132_800],
    ['Unix seconds', since, '1795176000', 1_795_176_000],
    ['Unix seconds as JSON', since, 1_795_176_000, 1_795_176_000],
    ['dollars', min_usd, '12.5', 12_500_000n],
    ['dollars as JSON', min_usd, 0.000001, 1n],
    ['dollars as JSON, whole', min_usd, 100, 100_000_000n],
    ['no dollars', min_usd, '0', 0n],
    ['asset', asset, CHECKSUMMED, CHECKSUMMED.toLowerCase()],
  ])('%s', (_what, param, raw, value) => {
    expect(param.read(raw, 'p', facts)).toEqual(value);
  });
});

describe('values that are refused, naming the parameter', () => {
  test.each<[string, Param, unknown]>([
    ['time of words', since, 'yesterday'],
    ['time without a zone', since, '2026-11-20T12:00:00'],
    ['day that is none', since, '2026-02-30'],
    ['time beyond 2106', since, '9999-12-31'],
    ['time before 1970', since, '1969-12-31'],
    ['time as a switch', since, true],
    ['dollars below nothing', min_usd, '-1'],
    ['dollars with seven decimals', min_usd, '0.0000001'],
    ['dollars as JSON with seven decimals', min_usd, 0.0000001],
    ['dollars with an exponent', min_usd, '1e3'],
    ['dollars of words', min_usd, 'much'],
    ['dollars beyond a trillion', min_usd, '1000000000000'],
    ['asset by symbol', asset, 'USDC'],
    ['limit of letters', limitParam, 'abc'],
    ['limit with a fraction', limitParam, '1.5'],
    ['limit with a fraction, as JSON', limitParam, 1.5],
    ['limit empty', limitParam, ''],
    ['limit in scientific form', limitParam, '1e2'],
    ['limit null', limitParam, null],
    ['probability above one', minProbabilityParam, '1.01'],
    ['probability below zero', minProbabilityParam, '-0.1'],
    ['probability NaN', minProbabilityParam, 'NaN'],
    ['probability Infinity', minProbabilityParam, 'Infinity'],
    ['probability hexadecimal', minProbabilityParam, '0x1'],
    ['probability empty', minProbabilityParam, ''],
    ['boolean yes', excludeSelfPaymentsParam, 'yes'],
    ['boolean in capitals', excludeSelfPaymentsParam, 'TRUE'],
    ['boolean empty', excludeSelfPaymentsParam, ''],
    ['boolean number', excludeSelfPaymentsParam, 1],
    ['chain not served', chainParam, 'eip155:1'],
    ['chain by short name', chainParam, 'base'],
    ['chain in capitals', chainParam, 'ALL'],
    ['chain empty', chainParam, ''],
    ['address too short', walletParam, '0x12'],
    ['address absent', walletParam, undefined],
    ['counterparty without 0x', counterpartyParam, CHECKSUMMED.slice(2)],
    ['role unknown', roleParam, 'both'],
    ['tier unknown', tierParam, 'Proven'],
    ['facilitator with a quote', facilitatorParam, "x' OR 1"],
    ['facilitator empty', facilitatorParam, ''],
    ['cursor empty', beforeParam, ''],
    ['cursor not a text', beforeParam, 5],
    ['finality of another word', finalityParam, 'head'],
    ['finality empty', finalityParam, ''],
    ['offset negative', offsetParam, '-1'],
    ['offset negative, as JSON', offsetParam, -1],
    ['offset with a fraction', offsetParam, '1.5'],
    ['offset empty', offsetParam, ''],
    ['offset beyond the end of paging', offsetParam, '10001'],
  ])('%s', (_what, param, raw) => {
    const { code, parameter } = problemOf(() => param.read(raw, 'the_name', facts));
    expect({ code, parameter }).toEqual({ code: 'invalid_parameter', parameter: 'the_name' });
  });

  test('an offset too far says how far it may go, however long it is', () => {
    for (const offset of ['10001', '9'.repeat(25)])
      expect(problemOf(() => offsetParam.read(offset, 'offset', facts)).detail).toContain('reaches to 10000');
  });

  test('a wrong checksum is called a wrong checksum', () => {
    const wrong = CHECKSUMMED.replace('fCD6', 'fcD6');
    expect(problemOf(() => walletParam.read(wrong, 'wallet', facts)).detail).toContain('EIP-55 checksum');
  });

  test('an unknown chain lists the supported ones', () => {
    expect(problemOf(() => chainParam.read('eip155:1', 'chain', facts)).detail).toContain(
      'supported: eip155:8453, eip155:137, all.',
    );
  });

  test('a refused value is quoted short and printable', () => {
    const { detail } = problemOf(() => limitParam.read(`\u0000<script>${'x'.repeat(500)}`, 'limit', facts));
    expect(detail.length).toBeLessThan(150);
    expect(detail).not.toContain('\u0000');
  });
});

describe('readInput', () => {
  const params = { limit: limitParam, chain: chainParam };

  test('reads each parameter and fills defaults', () => {
    expect(readInput({ params }, { limit: '3' }, facts).input).toEqual({ limit: 3, chain: undefined });
  });

  test('an unknown parameter is refused with the nearest known name', () => {
    const { parameter, detail } = problemOf(() => readInput({ params }, { limt: '3' }, facts));
    expect(parameter).toBe('limt');
    expect(detail).toContain('Did you mean limit?');
  });

  test('an unknown parameter that is like no other lists the known ones', () => {
    expect(problemOf(() => readInput({ params }, { zzzzzz: '3' }, facts)).detail).toContain('limit, chain');
  });

  test('a parameter given twice is refused', () => {
    const { parameter, detail } = problemOf(() => readInput({ params }, { limit: ['3', '4'] }, facts));
    expect(parameter).toBe('limit');
    expect(detail).toContain('more than once');
  });

  test.each(['__proto__', 'constructor', 'toString'])('%s is an unknown parameter like any other', (name) => {
    const raw = Object.fromEntries([[name, '1']]);
    expect(problemOf(() => readInput({ params }, raw, facts)).code).toBe('invalid_parameter');
  });
});

test('nearest prefers the fewest edits and gives up on strangers', () => {
  expect(nearest('min_probabilty', ['limit', 'min_probability'])).toBe('min_probability');
  expect(nearest('befor', ['before', 'limit'])).toBe('before');
  expect(nearest('wallet', ['limit'])).toBeUndefined();
  expect(nearest('conut', ['concat', 'count'])).toBe('count');
});
