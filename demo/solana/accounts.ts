import { address, lamports } from '@solana/kit';
import type { LiteSVM } from 'litesvm';
import { SYSTEM_PROGRAM } from './programs.ts';

/** An account as the chain stores it. */
export interface StoredAccount {
  readonly owner: string;
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

/** What an account was before a slot; undefined: it did not exist. */
export type AccountsBefore = Map<string, StoredAccount | undefined>;

/**
 * The accounts of a virtual machine, read through a cache: reading them from the machine before and after each transaction would cost
 * more than the transaction. Everything that writes an account must go through here.
 */
export interface Accounts {
  read(at: string): StoredAccount | undefined;
  /** Writes an account without a transaction. */
  write(at: string, account: StoredAccount): void;
  /** After a transaction: reads these again, and notes in `before` what they were if it has no older note. */
  refresh(written: readonly string[], before: AccountsBefore): void;
  /** Makes the accounts what they were. */
  undo(before: AccountsBefore): void;
  /** Lamports that an account of so many bytes must hold. */
  rentExemption(bytes: number): bigint;
  ownedBy(program: string): { readonly at: string; readonly account: StoredAccount }[];
}

/** Past so many, all are read anew when they are needed. */
const CACHED_MAX = 50_000;
const NOTHING: StoredAccount = {
  owner: SYSTEM_PROGRAM,
  lamports: 0n,
  data: new Uint8Array(),
  executable: false,
};

export function createAccounts(vm: LiteSVM): Accounts {
  const cached = new Map<string, StoredAccount | undefined>();

  const load = (at: string): StoredAccount | undefined => {
    const account = vm.getAccount(address(at));
    if (!account.exists) return undefined;
    const { programAddress, data, executable } = account;
    return { owner: programAddress, lamports: BigInt(account.lamports), data, executable };
  };
  const keep = (at: string, account: StoredAccount | undefined): void => {
    if (cached.size >= CACHED_MAX) cached.clear();
    cached.set(at, account);
  };
  const read = (at: string): StoredAccount | undefined => {
    if (!cached.has(at)) keep(at, load(at));
    return cached.get(at);
  };
  const write = (at: string, account: StoredAccount): void => {
    vm.setAccount({
      address: address(at),
      programAddress: address(account.owner),
      lamports: lamports(account.lamports),
      data: account.data,
      executable: account.executable,
      space: BigInt(account.data.length),
    });
    keep(at, account);
  };
  return {
    read,
    write,
    refresh(written, before) {
      for (const at of written) {
        if (!before.has(at)) before.set(at, read(at));
        keep(at, load(at));
      }
    },
    undo(before) {
      for (const [at, account] of before) {
        // The machine removes an account without lamports.
        write(at, account ?? NOTHING);
        keep(at, account);
      }
    },
    rentExemption: (bytes) => vm.minimumBalanceForRentExemption(BigInt(bytes)),
    ownedBy: (program) =>
      vm.getProgramAccounts(address(program)).map(({ address: at, programAddress, data, ...account }) => ({
        at,
        account: {
          owner: programAddress,
          lamports: BigInt(account.lamports),
          data: Uint8Array.from(data),
          executable: account.executable,
        },
      })),
  };
}
