import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import type { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator';

/** What the facilitator process needs to settle payments on Solana as well. */
export interface SolanaFacilitatorBootstrap {
  readonly rpcUrl: string;
  readonly network: `solana:${string}`;
  /** 32 bytes as hex: the key that pays the fees. */
  readonly secret: string;
}

/** Lets a facilitator verify and settle x402's scheme `exact` on Solana, versions 1 and 2. */
export async function registerSolana(
  facilitator: x402Facilitator,
  { rpcUrl, network, secret }: SolanaFacilitatorBootstrap,
): Promise<void> {
  const feePayer = await createKeyPairSignerFromPrivateKeyBytes(Buffer.from(secret, 'hex'));
  const signer = toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: rpcUrl });
  registerExactSvmScheme(facilitator, { signer, networks: network });
}
