import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { x402Facilitator } from '@x402/core/facilitator';
import { parsePaymentPayload, parsePaymentRequirements } from '@x402/core/schemas';
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator';
import { UptoEvmScheme } from '@x402/evm/upto/facilitator';
import { BuilderCodeFacilitatorExtension } from '@x402/extensions/builder-code';
import {
  createWalletClient,
  custom,
  type EIP1193RequestFn,
  type Hex,
  http,
  parseTransaction,
  publicActions,
} from 'viem';
import { createNonceManager, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { readBootstrap } from '../core/process/child-process.ts';
import type { FacilitatorBootstrap } from './facilitator.ts';

/** The transactions of one sender, by nonce, so that what a reorg took out of the chain can be sent again as it was signed. */
export interface SentTransactions {
  /** `raw` is what `eth_sendRawTransaction` was given. */
  record(raw: Hex): void;
  /** Above every nonce that was ever sent; 0 before the first. */
  readonly next: number;
  /**
   * Sends again what the node no longer knows: without it, every later transaction waits for a nonce that never comes.
   * `nextNonce` is what the node counts, its pool included.
   */
  resend(nextNonce: number, send: (raw: Hex) => Promise<unknown>): Promise<void>;
}

/** Far more than the blocks of the deepest reorg hold. */
const KEPT = 1_000;

export function createSentTransactions(): SentTransactions {
  const byNonce = new Map<number, Hex>();
  let next = 0;
  return {
    record(raw) {
      const { nonce = 0 } = parseTransaction(raw);
      byNonce.set(nonce, raw);
      next = Math.max(next, nonce + 1);
      byNonce.delete(nonce - KEPT);
    },
    get next() {
      return next;
    },
    async resend(nextNonce, send) {
      for (let nonce = nextNonce; ; nonce++) {
        const raw = byNonce.get(nonce);
        if (raw === undefined) return;
        // Refused where it has come back by itself; the next look counts again.
        await send(raw).catch(() => undefined);
      }
    },
  };
}

/**
 * A real x402 facilitator, v1 and v2, exact and upto, as a process of its own: POST /verify, POST /settle, GET /supported.
 * The first stdin line brings its key, so that the key is in no argument and no environment; when stdin closes it exits, so
 * that it never outlives the demo. The packages throw where an authorization is malformed, and put signatures into reasons: both are caught here.
 */

/** A payment is about 1 KiB; anything much larger is not one. */
const BODY_BYTES_MAX = 64 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;
const RECEIPT_POLL_MS = 100;
/** The demo mines about one block a second; a reorg can hold a receipt back for a few more. */
const CONFIRMATION_TIMEOUT_MS = 20_000;
/** The packages put whole transactions, signature included, into some reasons. Only plain codes may leave. */
const SAFE_REASON = /^[a-z0-9_]{1,80}$/;

/** How often to check that the node still knows the transactions sent. */
const RESEND_EVERY_MS = 250;

type WalletOfFacilitator = Parameters<typeof toFacilitatorEvmSigner>[0];

function buildFacilitator(boot: FacilitatorBootstrap): x402Facilitator {
  // Without viem's nonceManager, parallel settles race on the relayer's nonce: 1 of 10 succeeded.
  // Its source never falls back to a nonce that was sent: after a rollback the node counts fewer, until they are sent again.
  const sent = createSentTransactions();
  const { request, resend, count } = remembering(boot.rpcUrl, sent, walletAddress(boot.privateKey));
  const nonceManager = createNonceManager({
    source: { get: async () => Math.max(await count(), sent.next), set: () => undefined },
  });
  const account = privateKeyToAccount(boot.privateKey, { nonceManager });
  setInterval(() => void resend(), RESEND_EVERY_MS).unref();
  const client = createWalletClient({
    account,
    chain: baseSepolia,
    transport: custom({ request }),
    pollingInterval: RECEIPT_POLL_MS,
  }).extend(publicActions);
  const sendContract = inTurn(client.writeContract, resend);
  // A viem client is what the package asks for; its own declarations are looser than viem's, hence the cast.
  const wallet = {
    ...client,
    writeContract: sendContract,
    address: account.address,
  } as unknown as WalletOfFacilitator;
  const signer = toFacilitatorEvmSigner(wallet, { confirmationTimeoutMs: CONFIRMATION_TIMEOUT_MS });
  const network = `eip155:${boot.chainId}` as const;
  const facilitator = new x402Facilitator();
  registerExactEvmScheme(facilitator, { signer, networks: network });
  facilitator.register(network, new UptoEvmScheme(signer));
  facilitator.registerExtension(new BuilderCodeFacilitatorExtension({ builderCode: boot.builderCode }));
  return facilitator;
}

function walletAddress(privateKey: Hex): Hex {
  return privateKeyToAccount(privateKey).address;
}

/** Requests to the node that remember the transactions sent, and `resend` for those that a reorg made the node forget. Never rejects. */
function remembering(rpcUrl: string, sent: SentTransactions, address: Hex) {
  const node = http(rpcUrl)({ chain: baseSepolia }).request;
  const count = async (): Promise<number> =>
    Number(await node({ method: 'eth_getTransactionCount', params: [address, 'pending'] }));
  const request: EIP1193RequestFn = async (call: { method: string; params?: unknown }) => {
    const answer = await node(call as never); // any method: the packages choose it
    // By the JSON-RPC of Ethereum the one parameter is the signed transaction.
    if (call.method === 'eth_sendRawTransaction') sent.record((call.params as readonly [Hex])[0]);
    return answer as never; // as above
  };
  const resend = async (): Promise<void> => {
    try {
      await sent.resend(await count(), (raw) => node({ method: 'eth_sendRawTransaction', params: [raw] }));
    } catch {
      // The node does not answer; the next look is soon.
    }
  };
  return { request, resend, count };
}

/**
 * Sends one transaction after another, each after resending missing ones: a transaction that fails before it is sent, because its
 * authorization was used in between, gives its nonce back, and no later one may have been sent with the next nonce by then.
 */
function inTurn<Asked extends readonly unknown[], Sent>(
  send: (...asked: Asked) => Promise<Sent>,
  before: () => Promise<void>,
): (...asked: Asked) => Promise<Sent> {
  let last: Promise<unknown> = Promise.resolve();
  return (...asked) => {
    const own = last.then(before).then(() => send(...asked));
    last = own.catch(() => undefined);
    return own;
  };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > BODY_BYTES_MAX) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Question {
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
}

/** The request as the packages' own schemas accept it; undefined for anything else. */
function readQuestion(text: string): Question | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null) return undefined;
  const { paymentPayload, paymentRequirements } = body as Record<string, unknown>; // narrowed by the two schemas below
  const payload = parsePaymentPayload(paymentPayload);
  const requirements = parsePaymentRequirements(paymentRequirements);
  if (!payload.success || !requirements.success) return undefined;
  // The facilitator takes v1 and v2 through one signature that names the v2 types only; the schemas have checked which version it is.
  return {
    payload: payload.data as PaymentPayload,
    requirements: requirements.data as PaymentRequirements,
  };
}

function safeReason(reason: string | undefined, fallback: string): string {
  return reason !== undefined && SAFE_REASON.test(reason) ? reason : fallback;
}

function safeVerify(answer: VerifyResponse): object {
  const { isValid, payer } = answer;
  if (isValid) return { isValid, payer };
  return { isValid, invalidReason: safeReason(answer.invalidReason, 'unexpected_verify_error'), payer };
}

function safeSettle(answer: SettleResponse): object {
  const { success, transaction, network, payer, amount } = answer;
  if (success) return { success, transaction, network, payer, ...(amount === undefined ? {} : { amount }) };
  const errorReason = safeReason(answer.errorReason, 'unexpected_settle_error');
  return { success, errorReason, transaction, network, payer };
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(text);
}

async function answer(facilitator: x402Facilitator, request: IncomingMessage, response: ServerResponse) {
  const route = `${request.method} ${request.url}`;
  if (route === 'GET /supported') return send(response, 200, facilitator.getSupported());
  if (route !== 'POST /verify' && route !== 'POST /settle')
    return send(response, 404, { error: 'not_found' });
  const text = await readBody(request);
  if (text === undefined) return send(response, 413, { error: 'payload_too_large' });
  const question = readQuestion(text);
  if (question === undefined) return send(response, 400, { error: 'invalid_payload' });
  const { payload, requirements } = question;
  // The packages throw on a missing authorization, a value that is no number, an unknown scheme or network.
  if (route === 'POST /verify') {
    try {
      return send(response, 200, safeVerify(await facilitator.verify(payload, requirements)));
    } catch {
      return send(response, 200, { isValid: false, invalidReason: 'unexpected_verify_error' });
    }
  }
  try {
    return send(response, 200, safeSettle(await facilitator.settle(payload, requirements)));
  } catch {
    const { network } = requirements;
    return send(response, 200, {
      success: false,
      errorReason: 'unexpected_settle_error',
      transaction: '',
      network,
    });
  }
}

async function main(): Promise<void> {
  const boot = await readBootstrap((json) => json as FacilitatorBootstrap); // written by startFacilitator, same type
  const facilitator = buildFacilitator(boot);
  // Loaded only where it is used: the packages of Solana take a second.
  if (boot.solana !== undefined)
    await (await import('./solana/facilitator-scheme.ts')).registerSolana(facilitator, boot.solana);
  const server = createServer((request, response) => {
    answer(facilitator, request, response).catch(() => {
      // Never the error itself: its text can hold a signed authorization.
      if (!response.headersSent) send(response, 500, { error: 'internal_error' });
      else response.destroy();
    });
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.listen(boot.port, '127.0.0.1');
}

await main();
