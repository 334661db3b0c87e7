import { connect as connectTcp, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { FetchFailed } from './fetch-failed.ts';

/** Before the next address of a host is tried beside it. Node's default of 250 ms gives up hosts that are merely far away. */
const NEXT_ADDRESS_AFTER_MS = 2_000;

export interface ConnectOptions {
  /** IP addresses that were found permitted; connections go to one of them and nowhere else. */
  readonly addresses: readonly string[];
  /** True for the address that a connection has reached, or it is dropped before a byte is sent. */
  readonly isPermitted: (address: string) => boolean;
  readonly signal: AbortSignal;
  /** Certificate authorities beside the usual ones, for tests. */
  readonly ca?: string;
}

/**
 * A connector for one request: no name is resolved here, so between the check of an address and the connection nothing can
 * change. The socket dies with the signal, also while it still connects.
 */
export function connectTo({ addresses, isPermitted, signal, ca }: ConnectOptions): buildConnector.connector {
  return ({ hostname, protocol, port }, callback) => {
    const isTls = protocol === 'https:';
    const socket = connectTcp({
      host: hostname,
      port: Number(port || (isTls ? 443 : 80)),
      lookup: answerWith(addresses),
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
    destroyWith(signal, socket);
    // Once, whoever is first; and whatever the socket says later is heard by someone.
    let isDone = false;
    const done = (error: Error | null, connected: Socket | null): void => {
      if (isDone) return;
      isDone = true;
      if (error === null && connected !== null) callback(null, connected);
      else callback(error ?? new FetchFailed('unreachable'), null);
    };
    const fail = (error: Error): void => done(error, null);
    socket.on('error', fail);
    socket.once('connect', () => {
      if (!isPermitted(socket.remoteAddress ?? '')) {
        socket.destroy(new FetchFailed('forbidden_address'));
        return;
      }
      socket.setNoDelay(true);
      if (!isTls) return done(null, socket);
      const secure = connectTls({
        socket,
        host: hostname,
        servername: isIP(hostname) === 0 ? hostname : '',
        ALPNProtocols: ['http/1.1'],
        ...(ca === undefined ? {} : { ca }),
      });
      secure.on('error', fail);
      secure.once('secureConnect', () => done(null, secure));
    });
    // A host that hangs up in the middle of the handshake may do so without an error.
    socket.once('close', () => fail(new FetchFailed('unreachable')));
  };
}

function destroyWith(signal: AbortSignal, socket: Socket): void {
  const destroy = (): void => {
    socket.destroy(new FetchFailed('timeout'));
  };
  if (signal.aborted) destroy();
  signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', destroy));
}

function answerWith(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = answers;
    if (options.all === true) callback(null, answers);
    else if (first) callback(null, first.address, first.family);
    else callback(new FetchFailed('name_not_found'), '', 0);
  };
}
