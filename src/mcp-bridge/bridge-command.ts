import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { BridgeProblem } from './bridge-problem.ts';
import { createForwarder } from './forwarder.ts';
import { greet } from './greet.ts';
import { serviceUrls } from './service-url.ts';

/** `mcp`: for desktop clients that start a program and talk to it over its standard input and output. */

const HELP = `
Passes MCP messages between a desktop client, which starts this program, and the service at --url. Standard output holds messages only;
what there is to say stands on standard error. The service may be away for a while: the bridge stays.

Give the key by the environment: an argument can be read by everybody on the machine, in the list of processes.

  { "mcpServers": { "settlement-index": {
      "command": "npx",
      "args": ["settlement-index", "mcp", "--url", "https://index.example"],
      "env": { "SETTLEMENT_INDEX_KEY": "six_live_…" } } } }`;

interface BridgeArguments {
  readonly url: string;
  readonly key?: string;
  readonly wait: number;
}

/** For as long a service may be away while it is started again. */
const WAIT_SECONDS_DEFAULT = 8;
const WAIT_SECONDS_MAX = 600;

function readSeconds(text: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : WAIT_SECONDS_MAX + 1;
  if (seconds > WAIT_SECONDS_MAX)
    throw new InvalidArgumentError(`Not a number of seconds up to ${WAIT_SECONDS_MAX}.`);
  return seconds;
}

export function addBridgeCommand(program: Command): void {
  program
    .command('mcp')
    .description('speak MCP over standard input and output for a service elsewhere')
    .addOption(
      new Option('--url <url>', 'address of the service, such as https://index.example')
        .env('SETTLEMENT_INDEX_URL')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--key <key>', 'API key; better given by the environment').env('SETTLEMENT_INDEX_KEY'),
    )
    .addOption(
      new Option('--wait <seconds>', 'how long a request waits for a service that is away')
        .default(WAIT_SECONDS_DEFAULT)
        .argParser(readSeconds),
    )
    .addHelpText('after', HELP)
    .action((given: BridgeArguments) => runBridge(given));
}

/** Runs until the client closes our standard input. */
async function runBridge({ url, key: given, wait }: BridgeArguments): Promise<void> {
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
