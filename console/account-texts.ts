/** Whether texts of answers and of search are accounts or transactions: hex of EVM chains, or base58 of Solana. */

const ADDRESS = /^(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/;
const TRANSACTION = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/;

/** The longest address: base58 of 32 bytes. */
export const ADDRESS_MAX_CHARS = 44;

export function isAddressText(text: string): boolean {
  return ADDRESS.test(text);
}

export function isTransactionText(text: string): boolean {
  return TRANSACTION.test(text);
}

/** Hex as lower case, in which it is kept; base58 as it is, because its case counts. */
export function keptCase(text: string): string {
  return /^0x/i.test(text) ? text.toLowerCase() : text;
}
