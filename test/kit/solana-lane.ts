import { randomBytes } from 'node:crypto';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import type { PaymentRequirements } from '@x402/core/types';
import { toClientSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { type AcceptedPayment, isPayable } from '../../core/config/access.ts';
import { type Address, address } from '../../core/domain/account.ts';
import { knownChain } from '../../core/domain/networks.ts';
import type { PaymentOffer } from '../../core/domain/payment.ts';
import { freePort } from '../../core/process/free-port.ts';
import { walletOf } from '../../demo/chain/sender.ts';
import type { Facilitator } from '../../demo/facilitator.ts';
import { caip2Of } from '../../demo/solana/programs.ts';
import { readTokenAccount } from '../../demo/solana/token-accounts.ts';
import { solanaSecret, tokenAccountOf } from '../../demo/solana/wallets.ts';
import { importCompiled } from './compile-sources.ts';
import type { LaneWorld } from './lane-stage.ts';
import { watchedLog, watchSecret } from './secrets-watch.ts';
import { type SolanaWorld, startSolanaWorld } from './solana-world.ts';
import { signatures } from './x402-world.ts';

/** A local Solana whose official facilitator settles payments to a service. */
export interface SolanaLaneWorld extends LaneWorld {
  readonly solana: SolanaWorld;
  readonly facilitator: Facilitator;
  /** What an account has of the accepted token. */
  balance(owner: string): Promise<bigint>;
  /** `payload.transaction` as the official client signs it for the Solana entry of an offer. */
  sign(offer: PaymentOffer): Promise<string>;
  stop(): Promise<void>;
}

/** As on Solana: a block hash then counts for a minute, also on a busy machine. */
const BLOCK_EVERY_MS = 400;

export async function startSolanaLane(): Promise<SolanaLaneWorld> {
  const solana = await startSolanaWorld({ blockEveryMs: BLOCK_EVERY_MS });
  const { node } = solana;
  const { startFacilitator } =
    await importCompiled<typeof import('../../demo/facilitator.ts')>('demo/facilitator.js');
  const facilitator = await startFacilitator({
    // No EVM chain is asked for anything here.
    rpcUrl: `http://127.0.0.1:${await freePort()}`,
    chainId: 84_532,
    privateKey: walletOf('a relayer without a chain').privateKey,
    builderCode: 'none',
    solana: {
      rpcUrl: node.url,
      network: caip2Of(node.network),
      secret: Buffer.from(solanaSecret('facilitator')).toString('hex'),
    },
    log: watchedLog('facilitator-process'),
  });
  return {
    solana,
    facilitator,
    accepted: acceptedOnSolana(node.url, address(solana.payee)),
    async balance(owner) {
      const at = await tokenAccountOf(owner as typeof solana.payee, solana.usdc); // base58 of an account
      return readTokenAccount(node.ledger.accounts.read(at))?.amount ?? 0n;
    },
    async sign(offer) {
      const client = new ExactSvmScheme(toClientSvmSigner(solana.payer), { rpcUrl: node.url });
      const { payload } = await client.createPaymentPayload(2, entryOf(offer));
      return String(payload['transaction']);
    },
    async stop() {
      await facilitator.stop();
      await solana.stop();
    },
  };
}

export function acceptedOnSolana(rpcUrl: string, payTo: Address): AcceptedPayment {
  const facts = knownChain('solana-devnet');
  const token = facts?.tokens.find(isPayable);
  if (facts === undefined || token === undefined) throw new Error('Solana Devnet is built in');
  return { chain: facts.chain, slug: facts.slug, token, payTo, rpcUrls: [rpcUrl] };
}

/** The entry for Solana of an offer, version 2. */
export function entryOf({ requiredHeader }: PaymentOffer): PaymentRequirements {
  const entry = decodePaymentRequiredHeader(requiredHeader).accepts.find(({ network }) =>
    network.startsWith('solana:'),
  );
  if (entry === undefined) throw new Error('nothing is offered on Solana');
  return entry;
}

/** The header that carries a signed transaction in payment of an offer. */
export function solanaHeader(offer: PaymentOffer, transaction: string, x402Version: 1 | 2 = 2): string {
  const { resource } = decodePaymentRequiredHeader(offer.requiredHeader);
  signatures.push(transaction);
  const payload = { transaction };
  const body =
    x402Version === 1
      ? { x402Version, scheme: 'exact', network: 'solana-devnet', payload }
      : { x402Version, resource, accepted: entryOf(offer), payload };
  return watchSecret(Buffer.from(JSON.stringify(body)).toString('base64'));
}

/** A note that no other transaction has. */
export const newMemo = (): string => randomBytes(16).toString('hex');
