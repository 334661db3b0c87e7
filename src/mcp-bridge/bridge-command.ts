import { type Command, InvalidArgumentError, Option } from 'commander';
import type { BridgeArguments } from './run-bridge.ts';

/** `mcp`: for desktop clients that start a program and talk to it over its standard input and output. */

const HELP = `
Passes MCP messages between a desktop client, which starts this program, and the service at --url. Standard output holds messages only;
what there is to say stands on standard error. The service may be away for a while: the bridge stays.

Give the key by the environment: an argument can be read by everybody on the machine, in the list of processes.

  { "mcpServers": { "settlement-index": {
      "command": "npx",
      "args": ["settlement-index", "mcp", "--url", "https://index.example"],
      "env": { "SETTLEMENT_INDEX_KEY": "six_live_…" } } } }`;

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
    .action(async (given: BridgeArguments) => {
      const { runBridge } = await import('./run-bridge.ts');
      await runBridge(given);
    });
}
