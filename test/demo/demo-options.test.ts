import { afterEach, expect, test, vi } from 'vitest';
import { parseOptions } from '../../demo/options.ts';

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
