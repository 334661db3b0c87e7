import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { Command } from 'commander';
import { privateKeyToAccount } from 'viem/accounts';
import { visitorAccount } from './actors.ts';

/** `npm run demo:pay -- <url>`: one paid GET with the test account of the demo, without an x402 client of one's own. */

const TIMEOUT_MS = 60_000;

async function main(): Promise<number> {
  const command = new Command('npm run demo:pay --')
    .description(
      'Fetches a URL and pays for it over x402 with the demo’s test account: calls of the demo’s API, and the shops of its directory.',
    )
    .argument('<url>', 'what to buy, such as http://127.0.0.1:8402/v0/flows?limit=3')
    .showHelpAfterError('(npm run demo:pay -- --help)')
    .parse();
  const [url = ''] = command.args;
  if (!URL.canParse(url)) command.error(`error: ${url} is not a URL`);
  const signer = privateKeyToAccount(visitorAccount().privateKey);
  const client = registerExactEvmScheme(new x402Client(), { signer });
  const response = await wrapFetchWithPayment(fetch, client)(url, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const receipt = response.headers.get('PAYMENT-RESPONSE');
  process.stdout.write(`${await response.text()}\n`);
  const paid = receipt === null ? 'not paid' : `paid by ${decodePaymentResponseHeader(receipt).transaction}`;
  process.stderr.write(`${response.status}, ${paid}\n`);
  return response.ok ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  // Not the error itself: the packages may put the signed payment into it.
  process.stderr.write(
    `could not pay: ${error instanceof Error ? error.name : 'unknown error'}; does the demo run?\n`,
  );
  process.exitCode = 1;
}
