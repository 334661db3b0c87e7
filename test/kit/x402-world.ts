import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { type Logger, pino } from 'pino';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { AcceptedPayment } from '../../core/config/access.ts';
import { isPayable } from '../../core/config/access.ts';
import { type Address, toChecksum } from '../../core/domain/account.ts';
import { knownChain } from '../../core/domain/networks.ts';
import type { PaymentOffer } from '../../core/domain/payment.ts';
import { type DemoChain, startDemoChain } from '../../demo/chain/anvil.ts';
import { mintUsdc } from '../../demo/chain/deploy-usdc.ts';
import { callApprovePermit2 } from '../../demo/chain/permit2.ts';
import { requireSuccess, type Wallet, walletOf } from '../../demo/chain/sender.ts';
import type { Facilitator as FacilitatorProcess } from '../../demo/facilitator.ts';
import type { Order } from '../../src/payment/payment-lane.ts';
import { importCompiled } from './compile-sources.ts';
import { watchedLog, watchSecret } from './secrets-watch.ts';
import { waitUntil } from './wait-until.ts';

/** A chain with Circle's token that mines every transaction at once, a real facilitator on it, and payers with money. */
export interface X402World {
  readonly chain: DemoChain;
  readonly facilitator: FacilitatorProcess;
  /** What a service on this chain is paid in. */
  readonly accepted: AcceptedPayment;
  /** A new wallet with USDC and without a wei of gas money. */
  payer(): Promise<Wallet>;
  /** One that has also let Permit2 move its USDC, once, as payers of ceilings must. */
  ceilingPayer(): Promise<Wallet>;
  /** The facilitator's address on chain. */
  readonly relayer: Address;
  /** How often authorizations of this payer were used on chain. */
  settlements(payer: Address): Promise<number>;
  balance(of: Address): Promise<bigint>;
  stop(): Promise<void>;
}

const CHAIN_ID = 84_532;
const GAS_FUNDS = '0x21e19e0c9bab2400000';
const GRANT_ATOMS = 1_000_000n;
const USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';

export async function startX402World(): Promise<X402World> {
  const chain = await startDemoChain({ chainId: CHAIN_ID, mining: 'auto' });
  try {
    const relayer = walletOf('x402 world relayer');
    await chain.rpc.call('anvil_setBalance', relayer.address, GAS_FUNDS);
    const { startFacilitator } =
      await importCompiled<typeof import('../../demo/facilitator.ts')>('demo/facilitator.js');
    const facilitator = await startFacilitator({
      rpcUrl: chain.url,
      chainId: CHAIN_ID,
      privateKey: relayer.privateKey,
      builderCode: 'local_fac',
      log: watchedLog('facilitator-process'),
    });
    return worldOf(chain, facilitator, relayer.address);
  } catch (cause) {
    await chain.stop();
    throw cause;
  }
}

function worldOf(chain: DemoChain, facilitator: FacilitatorProcess, relayer: Address): X402World {
  const accepted = acceptedOf(chain.url, walletOf('x402 world merchant').address);
  const { token } = accepted;
  const balance = async (of: Address): Promise<bigint> => {
    const data = `0x70a08231${of.slice(2).padStart(64, '0')}`;
    return BigInt(await chain.rpc.call<string>('eth_call', { to: token.address, data }, 'latest'));
  };
  const payer = async (): Promise<Wallet> => {
    const wallet = walletOf(`payer ${randomBytes(8).toString('hex')}`);
    watchSecret(wallet.privateKey);
    await mintUsdc(chain.sender, [{ to: wallet.address, amount: GRANT_ATOMS }]);
    // Mining at once still takes a moment.
    await waitUntil('the payer has money', async () => (await balance(wallet.address)) === GRANT_ATOMS);
    return wallet;
  };
  return {
    chain,
    facilitator,
    relayer,
    accepted,
    payer,
    async ceilingPayer() {
      const wallet = await payer();
      const data = callApprovePermit2();
      const hash = await chain.sender.send({ from: wallet.address, to: token.address, data });
      await waitUntil('the approval is mined', async () => {
        return (await chain.rpc.call<unknown>('eth_getTransactionReceipt', hash)) !== null;
      });
      await requireSuccess(chain.rpc, [hash]);
      return wallet;
    },
    async settlements(payer) {
      const topics = [USED_TOPIC, `0x${payer.slice(2).padStart(64, '0')}`];
      const filter = { address: token.address, topics, fromBlock: '0x0', toBlock: 'latest' };
      return (await chain.rpc.call<unknown[]>('eth_getLogs', filter)).length;
    },
    balance,
    async stop() {
      await facilitator.stop();
      await chain.stop();
    },
  };
}

/** Payment in the USDC of a chain of ours. */
export function acceptedOf(rpcUrl: string, payTo: Address): AcceptedPayment {
  const facts = knownChain('base-sepolia');
  const token = facts?.tokens.find(isPayable);
  if (facts === undefined || token === undefined) throw new Error('Base Sepolia is built in');
  return { chain: 'eip155:84532', slug: facts.slug, token, payTo, rpcUrls: [rpcUrl] };
}

let orders = 0;

/** An order of its own: no two are the same request. */
export function orderOf(change: Partial<Order> = {}): Order {
  orders += 1;
  return {
    resource: 'GET /v0/flows',
    url: `https://api.example/v0/flows?n=${orders}`,
    description: 'Newest settlements.',
    mimeType: 'application/json',
    priceUsdMicros: 1_000n,
    settledByUse: false,
    binding: orders.toString(16).padStart(64, '0'),
    ...change,
  };
}

/** What a payer signs and sends, where that is not what it was offered. */
export interface Wish {
  readonly authorization?: Partial<Authorization>;
  /** Changes of the sent payment, after signing. */
  readonly sent?: Partial<Authorization>;
  readonly domain?: { readonly name?: string; readonly version?: string; readonly chainId?: number };
  /** Signs the JSON of the authorization as a text message instead of typed data. */
  readonly asMessage?: boolean;
  readonly signature?: string;
  readonly network?: string;
  readonly scheme?: string;
  /** Version 2 only. */
  readonly accepted?: Readonly<Record<string, unknown>>;
  readonly resourceUrl?: string;
}

interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

export interface SentPayment {
  readonly header: string;
  readonly nonce: string;
  readonly signature: string;
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Every signature made here: none may appear in a log, an answer or an error. */
export const signatures: string[] = [];

interface Entry {
  readonly network: string;
  readonly asset: Hex;
  readonly payTo: string;
  readonly extra: { readonly name: string; readonly version: string };
}

/** Pays the first entry of an offer as the real clients do, in wire version 1 or 2. */
export async function pay(
  offer: PaymentOffer,
  payer: Wallet,
  x402Version: 1 | 2 = 1,
  wish: Wish = {},
): Promise<SentPayment> {
  const required = decodePaymentRequiredHeader(offer.requiredHeader);
  const v2 = { ...required.accepts[0], ...wish.accepted } as unknown as Entry & { readonly amount: string }; // our own offer
  const v1 = offer.accepts[0] as unknown as Entry & { readonly maxAmountRequired: string }; // our own offer
  const entry: Entry = x402Version === 1 ? v1 : v2;
  const now = Math.floor(Date.now() / 1_000);
  const authorization: Authorization = {
    from: toChecksum(payer.address),
    to: entry.payTo,
    value: x402Version === 1 ? v1.maxAmountRequired : v2.amount,
    validAfter: String(now - 600),
    validBefore: String(now + 600),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...wish.authorization,
  };
  const signature = wish.signature ?? (await sign(payer, entry, authorization, wish));
  signatures.push(signature.slice(2));
  const payload = { signature, authorization: { ...authorization, ...wish.sent } };
  const scheme = wish.scheme ?? 'exact';
  const body =
    x402Version === 1
      ? { x402Version, scheme, network: wish.network ?? entry.network, payload }
      : {
          x402Version,
          resource: {
            ...required.resource,
            ...(wish.resourceUrl === undefined ? {} : { url: wish.resourceUrl }),
          },
          accepted: { ...v2, scheme, network: wish.network ?? entry.network },
          payload,
        };
  const header = Buffer.from(JSON.stringify(body)).toString('base64');
  watchSecret(header);
  return { header, nonce: authorization.nonce, signature };
}

function sign(payer: Wallet, entry: Entry, authorization: Authorization, wish: Wish): Promise<Hex> {
  const account = privateKeyToAccount(payer.privateKey);
  if (wish.asMessage === true) return account.signMessage({ message: JSON.stringify(authorization) });
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return account.signTypedData({
    domain: { ...entry.extra, chainId: CHAIN_ID, verifyingContract: entry.asset, ...wish.domain },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: from as Hex, // shaped by the caller, as below
      to: to as Hex,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as Hex,
    },
  });
}

/** A log that keeps every line, whatever its level. */
export function keepingLog(): { readonly log: Logger; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: pino({ level: 'trace' }, sink), lines };
}
