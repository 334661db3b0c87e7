import { address } from '../../core/domain/address.ts';

/** The contracts through which a ceiling is settled, the same on every chain. */
export const PERMIT2 = address('0x000000000022D473030F116dDEE9F6B43aC78BA3');
export const UPTO_PROXY = address('0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002');

const NONCE_ID = /^permit2:(0x[0-9a-f]{64})$/;

/**
 * How a Permit2 nonce is written in an `AuthorizationId`. Marked, because a payer may use the same 32 bytes as the nonce of an
 * EIP-3009 authorization, which is another thing and looked up elsewhere on the chain.
 */
export function permit2NonceId(nonce: bigint): string {
  return `permit2:0x${nonce.toString(16).padStart(64, '0')}`;
}

/** The nonce behind such an id; null for that of an EIP-3009 authorization. */
export function permit2NonceOf(nonceId: string): bigint | null {
  const hex = NONCE_ID.exec(nonceId)?.[1];
  return hex === undefined ? null : BigInt(hex);
}

/** The nonce alone, as the payer finds it on the chain: 32 bytes of hex for either kind. */
export function nonceHex(nonceId: string): string {
  return NONCE_ID.exec(nonceId)?.[1] ?? nonceId;
}
