import { base58 } from '@scure/base';
import {
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import type { StoredAccount } from './accounts.ts';
import { LOOKUP_TABLE_PROGRAM } from './programs.ts';

/** A signed transaction as it was sent. */
export interface SentTransaction {
  readonly wire: Uint8Array;
  readonly transaction: Transaction;
  readonly message: CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;
  /** Base58, in the order of the signers; that of a signer who has not signed is 64 zero bytes. The first is the transaction's id. */
  readonly signatures: readonly string[];
}

const NOT_SIGNED = new Uint8Array(64);

/** Reads the wire format. Throws on bytes that are no transaction. */
export function readTransaction(wire: Uint8Array): SentTransaction {
  const transaction = getTransactionDecoder().decode(wire);
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  const signatures = Object.values(transaction.signatures).map((bytes) => base58.encode(bytes ?? NOT_SIGNED));
  return { wire, transaction, message, signatures };
}

/** Accounts that a transaction names by their place in lookup tables. */
export interface LoadedAddresses {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

/** Layout of a lookup table: 56 bytes of its own, then 32 bytes an address. */
const TABLE_HEADER_BYTES = 56;
const ADDRESS_BYTES = 32;

/** The addresses behind the lookups of a message; undefined where a table, or a place in it, does not exist. */
export function loadAddresses(
  message: CompiledTransactionMessage,
  read: (at: string) => StoredAccount | undefined,
): LoadedAddresses | undefined {
  const lookups = message.version === 'legacy' ? [] : (message.addressTableLookups ?? []);
  const loaded = { writable: [] as string[], readonly: [] as string[] };
  for (const { lookupTableAddress, writableIndexes, readonlyIndexes } of lookups) {
    const table = read(lookupTableAddress);
    if (table?.owner !== LOOKUP_TABLE_PROGRAM) return undefined;
    for (const [into, places] of [
      [loaded.writable, writableIndexes],
      [loaded.readonly, readonlyIndexes],
    ] as const) {
      for (const place of places) {
        const at = TABLE_HEADER_BYTES + place * ADDRESS_BYTES;
        if (at + ADDRESS_BYTES > table.data.length) return undefined;
        into.push(base58.encode(table.data.subarray(at, at + ADDRESS_BYTES)));
      }
    }
  }
  return loaded;
}

/** True for the accounts of a message that it may write, by their index; those from lookup tables come after the static ones. */
export function isWritable(
  { header, staticAccounts }: CompiledTransactionMessage,
  loaded: LoadedAddresses,
  index: number,
): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  if (index >= staticAccounts.length) return index < staticAccounts.length + loaded.writable.length;
  if (index < numSignerAccounts) return index < numSignerAccounts - numReadonlySignerAccounts;
  return index < staticAccounts.length - numReadonlyNonSignerAccounts;
}

/** The message as `getBlock` shows it with encoding json. */
export function messageJson(message: SentTransaction['message']): object {
  const { header, staticAccounts, instructions, lifetimeToken } = message;
  return {
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    accountKeys: staticAccounts,
    recentBlockhash: lifetimeToken,
    instructions: instructions.map(({ programAddressIndex, accountIndices = [], data = NO_DATA }) => ({
      programIdIndex: programAddressIndex,
      accounts: accountIndices,
      data: base58.encode(Uint8Array.from(data)),
      stackHeight: 1,
    })),
    ...(message.version !== 'legacy' && {
      addressTableLookups: (message.addressTableLookups ?? []).map((lookup) => ({
        accountKey: lookup.lookupTableAddress,
        writableIndexes: lookup.writableIndexes,
        readonlyIndexes: lookup.readonlyIndexes,
      })),
    }),
  };
}

const NO_DATA = new Uint8Array();
