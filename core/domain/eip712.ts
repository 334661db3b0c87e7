import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Address, hexOf } from './account.ts';

/** What a wallet signs a transfer under, besides chain and contract. */
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
}

const TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';

/** The domain separator that a contract answers where this is its domain, as lower-case hex. Source: EIP-712. */
export function domainSeparator(
  { name, version }: TokenDomain,
  { chainId, contract }: { readonly chainId: number; readonly contract: Address },
): string {
  const parts = [
    hashOf(TYPE),
    hashOf(name),
    hashOf(version),
    Buffer.from(chainId.toString(16).padStart(64, '0'), 'hex'),
    Buffer.from(hexOf(contract).padStart(64, '0'), 'hex'),
  ];
  return `0x${Buffer.from(keccak_256(Buffer.concat(parts))).toString('hex')}`;
}

function hashOf(text: string): Uint8Array {
  return keccak_256(Buffer.from(text, 'utf8'));
}
