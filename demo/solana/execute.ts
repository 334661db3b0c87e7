import { base58 } from '@scure/base';
import { FailedTransactionMetadata, type LiteSVM, type TransactionMetadata } from 'litesvm';
import type { Accounts, AccountsBefore, StoredAccount } from './accounts.ts';
import { writeJson } from './json.ts';
import { isWritable, loadAddresses, messageJson, type SentTransaction } from './message.ts';
import { readDecimals, readTokenAccount, type UiTokenAmount, uiTokenAmount } from './token-accounts.ts';
import { type TransactionError, transactionErrorOf } from './transaction-errors.ts';

/** A transaction that is in a block: it was executed, or it failed and paid its fee. */
export interface ExecutedTransaction {
  readonly signature: string;
  readonly version: 'legacy' | 0;
  readonly err: TransactionError | null;
  /** Every account it names, those of lookup tables included. */
  readonly accounts: readonly string[];
  /** What `getBlock` shows of it, as JSON text. */
  readonly json: string;
  readonly wire: Uint8Array;
}

/** A transaction that no block takes. */
export interface RefusedTransaction {
  readonly refused: TransactionError;
}

export interface Machine {
  readonly vm: LiteSVM;
  readonly accounts: Accounts;
}

interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly uiTokenAmount: UiTokenAmount;
}

type VmTransaction = Parameters<LiteSVM['sendTransaction']>[0];

/** litesvm brings a newer @solana/kit, whose type of a transaction has the same members under another brand. */
export function vmTransaction({ transaction }: SentTransaction): VmTransaction {
  return transaction as unknown as VmTransaction;
}

/**
 * Executes a transaction and records what a block shows of it. `before` gets what the written accounts were. The fee is what the accounts
 * have less in sum: a transaction can move lamports and cannot destroy them otherwise. One that failed without paying is in no block.
 */
export function executeTransaction(
  { vm, accounts }: Machine,
  sent: SentTransaction,
  before: AccountsBefore,
): ExecutedTransaction | RefusedTransaction {
  const { message } = sent;
  const loaded = loadAddresses(message, accounts.read);
  if (loaded === undefined) return { refused: 'AddressLookupTableNotFound' };
  const keys: readonly string[] = [...message.staticAccounts, ...loaded.writable, ...loaded.readonly];
  const statesBefore = keys.map(accounts.read);
  const outcome = vm.sendTransaction(vmTransaction(sent));
  accounts.refresh(
    keys.filter((_, index) => isWritable(message, loaded, index)),
    before,
  );
  const statesAfter = keys.map(accounts.read);
  const isFailed = outcome instanceof FailedTransactionMetadata;
  const err = isFailed ? transactionErrorOf(outcome) : null;
  const fee = sum(statesBefore) - sum(statesAfter);
  if (err !== null && fee === 0n) return { refused: err };
  const meta = {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee,
    preBalances: statesBefore.map(lamportsOf),
    postBalances: statesAfter.map(lamportsOf),
    preTokenBalances: tokenBalances(statesBefore, accounts),
    postTokenBalances: tokenBalances(statesAfter, accounts),
    ...executionJson(isFailed ? outcome.meta() : outcome),
    rewards: [],
    loadedAddresses: loaded,
  };
  const [signature = ''] = sent.signatures;
  const transaction = { signatures: sent.signatures, message: messageJson(message) };
  return {
    signature,
    version: message.version,
    err,
    accounts: keys,
    json: writeJson({ meta, transaction, version: message.version }),
    wire: sent.wire,
  };
}

/** What `simulateTransaction` shows, and what becomes of the accounts that the caller names. */
export interface Simulation {
  readonly err: TransactionError | null;
  readonly meta: TransactionMetadata | undefined;
  readonly after: ReadonlyMap<string, StoredAccount>;
}

export function simulate({ vm }: Machine, sent: SentTransaction, sigVerify: boolean): Simulation {
  vm.withSigverify(sigVerify);
  try {
    const outcome = vm.simulateTransaction(vmTransaction(sent));
    const meta = outcome.meta();
    if (outcome instanceof FailedTransactionMetadata)
      return { err: transactionErrorOf(outcome), meta, after: new Map() };
    const after = outcome
      .postAccounts()
      .map(({ address, programAddress: owner, lamports, data, executable }): [string, StoredAccount] => [
        address,
        { owner, lamports: BigInt(lamports), data: Uint8Array.from(data), executable },
      ]);
    return { err: null, meta, after: new Map(after) };
  } finally {
    vm.withSigverify(true);
  }
}

/** What the execution itself left: inner instructions by the instruction that called them, logs, units, and data returned. */
export function executionJson(meta: TransactionMetadata): object {
  const returned = meta.returnData();
  const data = returned.data();
  const innerInstructions = meta.innerInstructions().map((called, index) => ({
    index,
    instructions: called.map((inner) => {
      const instruction = inner.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: base58.encode(instruction.data()),
        stackHeight: inner.stackHeight(),
      };
    }),
  }));
  return {
    innerInstructions: innerInstructions.filter(({ instructions }) => instructions.length > 0),
    logMessages: meta.logs(),
    computeUnitsConsumed: meta.computeUnitsConsumed(),
    ...(data.length > 0 && {
      returnData: {
        programId: base58.encode(returned.programId()),
        data: [Buffer.from(data).toString('base64'), 'base64'],
      },
    }),
  };
}

function tokenBalances(states: readonly (StoredAccount | undefined)[], accounts: Accounts): TokenBalance[] {
  return states.flatMap((state, accountIndex) => {
    const token = readTokenAccount(state);
    const decimals = token && readDecimals(accounts.read(token.mint));
    if (state === undefined || token === undefined || decimals === undefined) return [];
    const { mint, owner, amount } = token;
    return {
      accountIndex,
      mint,
      owner,
      programId: state.owner,
      uiTokenAmount: uiTokenAmount(amount, decimals),
    };
  });
}

function lamportsOf(state: StoredAccount | undefined): bigint {
  return state?.lamports ?? 0n;
}

function sum(states: readonly (StoredAccount | undefined)[]): bigint {
  return states.reduce((total, state) => total + lamportsOf(state), 0n);
}
