import { afterEach, expect, test, vi } from 'vitest';
import { castOf } from '../../demo/actors.ts';
import { parseOptions } from '../../demo/options.ts';
import { readDocument } from '../kit/documents.ts';

afterEach(() => vi.unstubAllEnvs());

const portOf = (...args: string[]): number => parseOptions(['node', 'demo', ...args]).port;

test('the port of the demo comes from --port, else from PORT, else it is 8402', () => {
  vi.stubEnv('PORT', undefined);
  expect(portOf()).toBe(8402);
  vi.stubEnv('PORT', '8123');
  expect(portOf()).toBe(8123);
  expect(portOf('--port', '9001')).toBe(9001);
});

test('sample data lies below the live blocks unless it is left out, and never below a checked run', () => {
  const historyOf = (...args: string[]): boolean => parseOptions(['node', 'demo', ...args]).history;
  expect(historyOf()).toBe(true);
  expect(historyOf('--minutes', '5')).toBe(true);
  expect(historyOf('--no-history')).toBe(false);
  expect(historyOf('--once', '10')).toBe(false);
});

test('the seller that README asks about is one of the demo', () => {
  const [, asked] = /merchants\/(0x[0-9a-f]{40})/.exec(readDocument('README.md')) ?? [];
  expect(asked).toBe(castOf(parseOptions(['node', 'demo']).seed).merchants[0]?.address);
});
