import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSync } from 'esbuild';
import { startBrowser } from './browser.ts';

/** A page of another origin that pays with the official client, in a real Chromium. */
export interface PayingPage {
  /** Fetches a URL and pays what it asks for. */
  pay(url: string, privateKey: `0x${string}`): Promise<PaidAnswer>;
  close(): Promise<void>;
}

export interface PaidAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The header that scripts can read only where the answer exposes it. */
  readonly receipt: string | null;
}

/** As the README of @x402/fetch has it. */
const SCRIPT = `
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

globalThis.pay = async (url, privateKey) => {
  const client = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(privateKey) });
  const answer = await wrapFetchWithPayment(fetch, client)(url);
  return { status: answer.status, body: await answer.json(), receipt: answer.headers.get('PAYMENT-RESPONSE') };
};
`;

export async function openPayingPage(): Promise<PayingPage> {
  const [built] = buildSync({
    stdin: { contents: SCRIPT, resolveDir: process.cwd(), loader: 'js' },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  }).outputFiles;
  const script = built?.text ?? '';
  const server = createServer((request, response) => {
    const isScript = request.url === '/pay.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript ? script : '<!doctype html><title>A shop window</title><script src="/pay.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // of a TCP server that listens
  const browser = await startBrowser();
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  return {
    pay: (url, privateKey) =>
      page.evaluate(
        ([at, key]) =>
          (globalThis as unknown as { pay(url: string, key: string): Promise<PaidAnswer> }).pay(at, key), // of SCRIPT
        [url, privateKey] as const,
      ),
    async close() {
      await browser.close();
      await new Promise((closed) => server.close(closed));
    },
  };
}
