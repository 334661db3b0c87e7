import { type Readable, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { UserError } from '../../core/user-error.ts';
import { createForwarder } from './forwarder.ts';
import { greet } from './greet.ts';
import { serviceUrls } from './service-url.ts';

export interface BridgeArguments {
  readonly url: string;
  readonly key?: string;
  readonly wait: number;
}

/** Of a client that has sent all it had and still reads: a script that pipes its messages in. Calls may cost units, so their answers come. */
const LAST_ANSWERS_MS = 10_000;

/** Runs until the client closes our standard input, and what it asked before is answered. */
export async function runBridge({ url, key: given, wait }: BridgeArguments): Promise<void> {
  const urls = serviceUrls(url);
  const key = keyOf(given);
  const tell = (line: string): void => void process.stderr.write(`settlement-index mcp: ${line}\n`);
  const underWay = new Set<Promise<void>>();
  const answered = () =>
    Promise.race([Promise.all(underWay), sleep(LAST_ANSWERS_MS, undefined, { ref: false })]);
  const transport = new StdioServerTransport(endingAfter(process.stdin, answered));
  const forwarder = createForwarder({
    urls,
    key,
    waitMs: wait * 1_000,
    deliver: (message) => transport.send(message),
    tell,
  });
  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (message) => {
    const forwarding = forwarder
      .forward(message)
      .catch(() => tell('the client does not take our messages any more'))
      .finally(() => underWay.delete(forwarding));
    underWay.add(forwarding);
  };
  transport.onerror = () => tell('a message of the client could not be read');
  const leaving = new AbortController();
  await transport.start();
  void greet(urls, key, leaving.signal).then((line) => void (leaving.signal.aborted || tell(line)));
  await ended;
  leaving.abort();
  await forwarder.close();
}

/** The same input, which ends when that did and `settled` has. */
function endingAfter(input: Readable, settled: () => Promise<unknown>): Readable {
  const through = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => {
      // What was read last is handed on first.
      setImmediate(() => void settled().then(() => done(), done));
    },
  });
  input.once('close', () => through.end());
  return input.pipe(through);
}

/** What a header can hold. */
const KEY = /^[\x21-\x7e]+$/;

/** An empty one is none: desktop clients have forms. */
function keyOf(given: string | undefined): string | undefined {
  const key = given?.trim() ?? '';
  if (key === '') return undefined;
  if (!KEY.test(key)) throw new UserError('the key holds characters that no key has, such as white space');
  return key;
}
