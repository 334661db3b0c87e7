import { type Hex, keccak256, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Address, address } from '../../core/domain/address.ts';

/** A key pair of the local world. Worthless by construction: anybody can derive it from its label. */
export interface Wallet {
  readonly address: Address;
  readonly privateKey: Hex;
}

/** The same label always gives the same wallet, so that runs can be compared. */
export function walletOf(label: string): Wallet {
  const privateKey = keccak256(stringToHex(`settlement-index local world: ${label}`));
  return { privateKey, address: address(privateKeyToAccount(privateKey).address.toLowerCase()) };
}
