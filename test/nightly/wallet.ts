import { setTimeout as sleep } from 'node:timers/promises';
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseSignature,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import type { Printed } from './demo-process.ts';

/** The test account of the demo in the hands of a visitor, with nothing but what the demo prints. */
export interface Wallet {
  /** Signs for what a URL asks, and keeps the signature back. */
  sign(url: string): Promise<Signed>;
  /** Sends a transaction to the token as itself; does not wait. */
  toToken(data: Hex): Promise<Hex>;
  /** A coin transfer of 1 wei to a made-up address. */
  dust(): Promise<Hex>;
  /** Calldata by which the chain voids an authorization. */
  cancellation(signed: Signed): Promise<Hex>;
  /** Whether a transaction is mined and succeeded; null while it is not mined. */
  succeeded(transaction: string): Promise<boolean | null>;
  /** Whether the authorization is used or void. */
  isUsed(signed: Signed): Promise<boolean>;
}

export interface Signed {
  readonly url: string;
  /** For `PAYMENT-SIGNATURE`. */
  readonly header: string;
  readonly nonce: Hex;
  /** Calldata with which anybody can settle it. */
  readonly settlement: Hex;
}

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const GAS = 400_000n;
const SEND_TRIES_MAX = 6;
const SEND_AGAIN_MS = 700;
const ABI = parseAbi([
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)',
  'function cancelAuthorization(address authorizer,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)',
  'function authorizationState(address authorizer,bytes32 nonce) view returns (bool)',
]);

interface ExactPayload {
  readonly signature: Hex;
  readonly authorization: Readonly<
    Record<'from' | 'to' | 'nonce', Hex> & Record<'value' | 'validAfter' | 'validBefore', string>
  >;
}

export function openWallet({ chain: rpcUrl, privateKey }: Printed): Wallet {
  const account = privateKeyToAccount(privateKey);
  const client = registerExactEvmScheme(new x402Client(), { signer: account });
  const transport = http(rpcUrl);
  const wallet = createWalletClient({ account, chain: baseSepolia, transport });
  const node = createPublicClient({ chain: baseSepolia, transport });
  let last: Promise<unknown> = Promise.resolve();
  /** One after another: two at once would take the same nonce. Again where a reorg came in between: the node then knows no newest block for a moment. */
  const send = (transaction: {
    readonly to: Hex;
    readonly data?: Hex;
    readonly value?: bigint;
  }): Promise<Hex> => {
    const own = last.then(() => tryAgain(() => wallet.sendTransaction({ ...transaction, gas: GAS })));
    last = own.catch(() => undefined);
    return own;
  };
  return {
    async sign(url) {
      const offer = await fetch(url);
      const required = offer.headers.get('PAYMENT-REQUIRED');
      if (offer.status !== 402 || required === null)
        throw new Error(`${url} answered ${offer.status}, not 402`);
      const payload = await client.createPaymentPayload(decodePaymentRequiredHeader(required));
      const { signature, authorization } = payload.payload as unknown as ExactPayload; // of the exact scheme
      const { from, to, value, validAfter, validBefore, nonce } = authorization;
      const args = [
        from,
        to,
        BigInt(value),
        BigInt(validAfter),
        BigInt(validBefore),
        nonce,
        signature,
      ] as const;
      return {
        url,
        header: encodePaymentSignatureHeader(payload),
        nonce,
        settlement: encodeFunctionData({ abi: ABI, functionName: 'transferWithAuthorization', args }),
      };
    },
    toToken: (data) => send({ to: TOKEN, data }),
    dust: () => send({ to: `0x${'5e'.repeat(20)}`, value: 1n }),
    async cancellation({ nonce }) {
      const signature = await account.signTypedData({
        domain: { name: 'USDC', version: '2', chainId: baseSepolia.id, verifyingContract: TOKEN },
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer: account.address, nonce },
      });
      const { r, s, yParity } = parseSignature(signature);
      const args = [account.address, nonce, 27 + yParity, r, s] as const;
      return encodeFunctionData({ abi: ABI, functionName: 'cancelAuthorization', args });
    },
    async succeeded(transaction) {
      const receipt = await node.request({
        method: 'eth_getTransactionReceipt',
        params: [transaction as Hex],
      }); // a hash, by its receipt
      return receipt === null ? null : receipt.status === '0x1';
    },
    isUsed: ({ nonce }) =>
      tryAgain(() =>
        node.readContract({
          address: TOKEN,
          abi: ABI,
          functionName: 'authorizationState',
          args: [account.address, nonce],
        }),
      ),
  };
}

async function tryAgain<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries >= SEND_TRIES_MAX)
        throw new Error('the chain answered no request of the visitor', { cause: error });
      await sleep(SEND_AGAIN_MS);
    }
  }
}

/** Null where the answer holds no receipt. */
export function settledBy(answer: Response): string | null {
  const receipt = answer.headers.get('PAYMENT-RESPONSE');
  return receipt === null ? null : decodePaymentResponseHeader(receipt).transaction;
}
