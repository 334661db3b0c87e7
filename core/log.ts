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

/** One line per event on stderr: for people on a terminal, of JSON elsewhere. stdout is reserved for a command's output. */
export function createLog(
  level: LogLevel,
  name: string,
  destination: DestinationStream = standardError(process.stderr.isTTY === true),
): Log {
  return pino({ level, name, redact: { paths: SECRET_PATHS, censor: '[secret]' } }, destination);
}

const STANDARD_ERROR = 2;

/** For people where `isTerminal`: of a child process, whether its parent has one. */
export function standardError(isTerminal: boolean): DestinationStream {
  const destination = pino.destination(STANDARD_ERROR);
  return isTerminal ? { write: (line) => void destination.write(readableLine(line)) } : destination;
}

/** Facts of the process, which a person at its terminal knows. */
const LEFT_OUT: readonly string[] = ['level', 'time', 'pid', 'hostname', 'name', 'msg'];

/**
 * A line for people: `12:00:00 info  serving url=http://127.0.0.1:8402/v0/flows`. Values are as they were logged, so secrets are censored
 * already; a stack is left to the lines of JSON.
 */
export function readableLine(line: string): string {
  const { time, level, msg, ...event } = JSON.parse(line) as Record<string, unknown>; // printed by pino from an object
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const facts = Object.entries(event)
    .filter(([name]) => !LEFT_OUT.includes(name))
    .map(([name, value]) => `${name}=${name === 'err' ? messageOf(value) : textOf(value)}`);
  return `${[at, (pino.levels.labels[Number(level)] ?? '').padEnd(5), String(msg ?? ''), ...facts].join(' ')}\n`;
}

function messageOf(error: unknown): string {
  const message: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : error;
  return textOf(message);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The host of an RPC URL: it identifies the provider without path keys or credentials. */
export function providerName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unreadable-url';
}
