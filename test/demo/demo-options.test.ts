import { afterEach, expect, test, vi } from 'vitest';
import { castOf } from '../../demo/actors.ts';
import { parseOptions } from '../../demo/options.ts';
import { readDocument } from '../kit/documents.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

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
  expect(historyOf('--once', '100')).toBe(false);
});

test('the seller that README asks about is one of the demo', () => {
  const [, asked] = /merchants\/(0x[0-9a-f]{40})/.exec(readDocument('README.md')) ?? [];
  expect(asked).toBe(castOf(parseOptions(['node', 'demo']).seed).merchants[0]?.address);
});

test.each([
  ['--once', '99'],
  ['--once', 'many'],
  ['--seed', '-1'],
  ['--port', '65536'],
  ['--port', '80.5'],
])('says what %s takes when it gets %s', (option, value) => {
  let said = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`ended with ${code}`);
  });
  expect(() => parseOptions(['node', 'demo', `${option}=${value}`])).toThrow('ended with 1');
  expect(said).toMatch(/must be a whole number from \d+ to \d+/);
});
