import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { BridgeProblem } from './bridge-problem.ts';
import { createForwarder } from './forwarder.ts';
import { greet } from './greet.ts';
import { serviceUrls } from './service-url.ts';

export interface BridgeArguments {
  readonly url: string;
  readonly key?: string;
  readonly wait: number;
}

/** Runs until the client closes our standard input. */
export async function runBridge({ url, key: given, wait }: BridgeArguments): Promise<void> {
  const urls = serviceUrls(url);
  const key = keyOf(given);
  const tell = (line: string): void => void process.stderr.write(`settlement-index mcp: ${line}\n`);
  const transport = new StdioServerTransport();
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
  transport.onmessage = (message) =>
    void forwarder.forward(message).catch(() => tell('the client does not take our messages any more'));
  transport.onerror = () => tell('a message of the client could not be read');
  const leaving = new AbortController();
  await transport.start();
  void greet(urls, key, leaving.signal).then((line) => void (leaving.signal.aborted || tell(line)));
  await ended;
  leaving.abort();
  await forwarder.close();
}

/** What a header can hold. */
const KEY = /^[\x21-\x7e]+$/;

/** An empty one is none: desktop clients have forms. */
function keyOf(given: string | undefined): string | undefined {
  const key = given?.trim() ?? '';
  if (key === '') return undefined;
  if (!KEY.test(key))
    throw new BridgeProblem('the key holds characters that no key has, such as white space');
  return key;
}
