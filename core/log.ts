import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Headers and fields that must never be written, wherever they appear: keys, payment authorizations, passwords. */
const SECRET_PATHS = [
  'authorization',
  'x-api-key',
  'x-payment',
  'payment-signature',
  'password',
  'rpcUrls',
  'cookie',
].flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);

/** One structured line per event on stderr; stdout is reserved for a command's output. */
export function createLog(
  level: LogLevel,
  name: string,
  destination: DestinationStream = pino.destination(2),
): Log {
  return pino({ level, name, redact: { paths: SECRET_PATHS, censor: '[secret]' } }, destination);
}

/** The host of an RPC URL: it identifies the provider without path keys or credentials. */
export function providerName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unreadable-url';
}
