import { type DestinationStream, type Logger, pino } from 'pino';
import pinoPretty from 'pino-pretty';

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

/** One line per event on stderr: for people on a terminal, of JSON elsewhere. stdout is reserved for a command's output. */
export function createLog(
  level: LogLevel,
  name: string,
  destination: DestinationStream = standardError(process.stderr.isTTY === true),
): Log {
  return pino({ level, name, redact: { paths: SECRET_PATHS, censor: '[secret]' } }, destination);
}

const STANDARD_ERROR = 2;

/** On a terminal: `12:00:00 INFO: serving {"url":"http://127.0.0.1:8402/v0/flows"}`. Secrets are censored before, as everywhere. */
function standardError(isTerminal: boolean): DestinationStream {
  if (!isTerminal) return pino.destination(STANDARD_ERROR);
  return pinoPretty({
    destination: STANDARD_ERROR,
    sync: true,
    ignore: 'pid,hostname,name',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
  });
}

/** The host of an RPC URL: it identifies the provider without path keys or credentials. */
export function providerName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unreadable-url';
}
