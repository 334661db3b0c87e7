/**
 * Pays one call of a running service with x402-fetch 1.2.0, the deprecated client that most integrations still use:
 *
 *   npm run demo                                        (elsewhere; its API sells single calls)
 *   npm install --prefix test/peers/x402-fetch          (once, 470 MB)
 *   node test/peers/x402-fetch/run.mjs 'http://127.0.0.1:8402/v0/flows?limit=3'
 *
 * Pays as an agent of the demo, or with PAYER_KEY (0x and 64 hex digits). Exits with 0 when the call was paid and served.
 */
import { keccak256, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';

const [url] = process.argv.slice(2);
if (url === undefined) {
  process.stderr.write('usage: node test/peers/x402-fetch/run.mjs <url>\n');
  process.exit(2);
}
/** The first agent of the demo's default seed (demo/actors.ts, demo/chain/sender.ts). */
const DEMO_AGENT = keccak256(stringToHex('settlement-index local world: 1/x402-agent-0'));
const payer = privateKeyToAccount(process.env['PAYER_KEY'] ?? DEMO_AGENT);

try {
  const response = await wrapFetchWithPayment(fetch, payer)(url);
  const receipt = response.headers.get('x-payment-response');
  const settled = receipt === null ? null : decodeXPaymentResponse(receipt);
  process.stdout.write(`${response.status} ${JSON.stringify(settled)}\n`);
  process.exitCode = response.ok && settled?.success === true ? 0 : 1;
} catch (error) {
  // Its name only: texts of this package can hold the signed authorization.
  process.stderr.write(`x402-fetch could not pay: ${error instanceof Error ? error.name : 'no error'}\n`);
  process.exitCode = 1;
}
