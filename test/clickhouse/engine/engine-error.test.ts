import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { engineErrorOf } from '../../../clickhouse/engine/error.ts';

const signals = { either: new AbortController().signal, caller: undefined };

function problemOf(code: number, message: string): string {
  const error = new ClickHouseError({ message, code: String(code), type: 'SOME' });
  return engineErrorOf(error, 'test', signals).problem;
}

// Words and codes as the engine said them when a node was killed under reads and writes.
test.each([
  [279, 'Connection refused (10.0.0.2:9000)'],
  [210, 'Connection reset by peer, while reading from socket: while receiving packet from 10.0.0.2:9000'],
  [32, 'Attempt to read after eof: while receiving packet from 10.0.0.2:9000: While executing Remote'],
  [236, 'The server is shutting down due to a fatal error'],
  [198, 'Not found address of host: b1'],
])('code %i of a node that went away says that the engine is at fault', (code, message) => {
  expect(problemOf(code, message)).toBe('unreachable');
});

test('the same code for a text that ends too early says that the statement is', () => {
  expect(problemOf(32, 'Attempt to read after eof: while parsing a state')).toBe('engine_refused');
});
