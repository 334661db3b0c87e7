import type { StoredAccount } from './accounts.ts';
import type { SolanaBlock } from './blocks.ts';
import { executionJson } from './execute.ts';
import { WrittenJson } from './json.ts';
import type { Commitment, SolanaLedger } from './ledger.ts';
import { readTransaction, type SentTransaction } from './message.ts';
import { readDecimals, readTokenAccount, uiTokenAmount } from './token-accounts.ts';

/** The methods of the local node's JSON-RPC, as the documentation of Solana's RPC describes them. */

/** An error with one of Solana's codes (agave, rpc-client-api/custom_error.rs). */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type RpcMethod = (params: readonly unknown[]) => unknown;

export const RPC_ERRORS = {
  cleanedUp: -32_001,
  preflight: -32_002,
  notAvailable: -32_004,
  skipped: -32_007,
  skippedInLongTermStorage: -32_009,
  version: -32_015,
  invalidParams: -32_602,
  methodNotFound: -32_601,
} as const;

const API_VERSION = '3.0.0';
const GET_BLOCKS_RANGE_MAX = 500_000;
const SIGNATURES_MAX = 1_000;
const MULTIPLE_ACCOUNTS_MAX = 100;
const U64_MAX = 2n ** 64n - 1n;

type Options = Readonly<Record<string, unknown>>;

export function createRpcMethods(ledger: SolanaLedger): Readonly<Record<string, RpcMethod>> {
  return { ...blockMethods(ledger), ...accountMethods(ledger), ...transactionMethods(ledger) };
}

function blockMethods(ledger: SolanaLedger): Record<string, RpcMethod> {
  const available = (slot: number): SolanaBlock => {
    const block = ledger.block(slot);
    if (slot < ledger.firstAvailable)
      throw new RpcError(
        RPC_ERRORS.cleanedUp,
        `Block ${slot} cleaned up, does not exist on node. First available block: ${ledger.firstAvailable}`,
      );
    if (block === undefined)
      throw new RpcError(
        RPC_ERRORS.skipped,
        `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
      );
    return block;
  };
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': 0 }),
    getGenesisHash: () => ledger.genesisHash,
    getSlot: ([options]) => ledger.slot(commitmentOf(options)),
    getBlockHeight: ([options]) => blockAt(ledger, commitmentOf(options))?.blockHeight ?? 0,
    getFirstAvailableBlock: () => ledger.firstAvailable,
    getBlockTime: ([slot]) => available(numberOf(slot)).blockTime,
    getBlocks(params) {
      const from = numberOf(params[0]);
      // The upper end can be left out, by null or altogether.
      const options = typeof params[1] === 'object' && params[1] !== null ? params[1] : params[2];
      const newest = ledger.slot(blockCommitmentOf(options));
      const to = typeof params[1] === 'number' ? Math.min(params[1], newest) : newest;
      if (to - from > GET_BLOCKS_RANGE_MAX)
        throw new RpcError(RPC_ERRORS.invalidParams, `Slot range too large; max ${GET_BLOCKS_RANGE_MAX}`);
      return ledger.producedSlots(from, to);
    },
    getBlocksWithLimit([from, limit, options]) {
      const newest = ledger.slot(blockCommitmentOf(options));
      return ledger.producedSlots(numberOf(from), newest).slice(0, numberOf(limit));
    },
    getBlock([at, options]) {
      const slot = numberOf(at);
      if (slot > ledger.slot(blockCommitmentOf(options)))
        throw new RpcError(RPC_ERRORS.notAvailable, `Block not available for slot ${slot}`);
      return blockJson(available(slot), optionsOf(options));
    },
  };
}

function blockJson(block: SolanaBlock, options: Options): object {
  const {
    transactions,
    slot: _slot,
    blockHeight,
    blockTime,
    blockhash,
    parentSlot,
    previousBlockhash,
  } = block;
  const { transactionDetails: details = 'full', encoding = 'json', rewards = true } = options;
  if (encoding !== 'json') throw new RpcError(RPC_ERRORS.invalidParams, 'only encoding json is served');
  const shown = { blockHeight, blockTime, blockhash, parentSlot, previousBlockhash };
  const paid = rewards === false ? {} : { rewards: [] };
  if (details === 'none') return { ...shown, ...paid };
  if (details === 'signatures')
    return { ...shown, ...paid, signatures: transactions.map(({ signature }) => signature) };
  if (details !== 'full') throw new RpcError(RPC_ERRORS.invalidParams, `no such details: ${String(details)}`);
  for (const { version } of transactions) requireVersion(version, options);
  return { ...shown, ...paid, transactions: transactions.map(({ json }) => new WrittenJson(json)) };
}

function requireVersion(version: 'legacy' | 0, options: Options): void {
  if (version === 'legacy' || options['maxSupportedTransactionVersion'] !== undefined) return;
  throw new RpcError(
    RPC_ERRORS.version,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

function accountMethods(ledger: SolanaLedger): Record<string, RpcMethod> {
  const read = (at: unknown): StoredAccount | undefined => ledger.accounts.read(textOf(at));
  const context = () => ({ apiVersion: API_VERSION, slot: ledger.slot('processed') });
  const token = (at: unknown) => {
    const account = readTokenAccount(read(at));
    const decimals = account && readDecimals(read(account.mint));
    if (account === undefined || decimals === undefined)
      throw new RpcError(RPC_ERRORS.invalidParams, 'Invalid param: could not find account');
    return uiTokenAmount(account.amount, decimals);
  };
  return {
    getAccountInfo: ([at]) => ({ context: context(), value: accountJson(read(at)) }),
    getMultipleAccounts([list]) {
      if (!Array.isArray(list) || list.length > MULTIPLE_ACCOUNTS_MAX)
        throw new RpcError(
          RPC_ERRORS.invalidParams,
          `Too many inputs provided; max ${MULTIPLE_ACCOUNTS_MAX}`,
        );
      return { context: context(), value: list.map((at) => accountJson(read(at))) };
    },
    getBalance: ([at]) => ({ context: context(), value: read(at)?.lamports ?? 0n }),
    getTokenAccountBalance: ([at]) => ({ context: context(), value: token(at) }),
    getMinimumBalanceForRentExemption: ([bytes]) => ledger.accounts.rentExemption(numberOf(bytes)),
    getProgramAccounts: ([program]) =>
      ledger.accounts.ownedBy(textOf(program)).map(({ at, account }) => ({
        pubkey: at,
        account: accountJson(account),
      })),
  };
}

/** With encoding base64, which is all that clients of this node ask for. */
function accountJson(account: StoredAccount | undefined): object | null {
  if (account === undefined) return null;
  const { data, executable, lamports, owner } = account;
  const base64 = Buffer.from(data).toString('base64');
  return { data: [base64, 'base64'], executable, lamports, owner, rentEpoch: U64_MAX, space: data.length };
}

function transactionMethods(ledger: SolanaLedger): Record<string, RpcMethod> {
  const context = () => ({ apiVersion: API_VERSION, slot: ledger.slot('processed') });
  const simulation = (sent: SentTransaction, options: Options): object => {
    const isStale =
      options['replaceRecentBlockhash'] !== true && !ledger.isRecent(sent.message.lifetimeToken);
    if (isStale)
      return { err: 'BlockhashNotFound', logs: [], accounts: null, unitsConsumed: 0, returnData: null };
    const { err, meta, after } = ledger.simulate(sent, { sigVerify: options['sigVerify'] === true });
    const { innerInstructions, logMessages, computeUnitsConsumed, returnData } = (
      meta === undefined ? {} : executionJson(meta)
    ) as Options; // the members that it writes
    const wanted = options['accounts'] as { readonly addresses?: readonly string[] } | undefined; // by the documentation
    const accounts = wanted?.addresses?.map((at) => accountJson(after.get(at) ?? ledger.accounts.read(at)));
    return {
      err,
      logs: logMessages ?? [],
      accounts: accounts ?? null,
      unitsConsumed: computeUnitsConsumed ?? 0,
      returnData: returnData ?? null,
      ...(options['innerInstructions'] === true && { innerInstructions: innerInstructions ?? [] }),
    };
  };
  return {
    getLatestBlockhash: ([options]) => ({
      context: context(),
      value: ledger.latestBlockhash(commitmentOf(options)),
    }),
    isBlockhashValid: ([hash]) => ({ context: context(), value: ledger.isRecent(textOf(hash)) }),
    simulateTransaction: ([wire, options]) => ({
      context: context(),
      value: simulation(sentOf(wire, options), optionsOf(options)),
    }),
    sendTransaction([wire, options]) {
      const sent = sentOf(wire, options);
      if (optionsOf(options)['skipPreflight'] !== true) {
        const data = simulation(sent, { sigVerify: true });
        const { err } = data as Options; // `simulation` writes it
        if (err !== null)
          throw new RpcError(
            RPC_ERRORS.preflight,
            `Transaction simulation failed: ${JSON.stringify(err)}`,
            data,
          );
      }
      // Without preflight, a node takes what it later finds it cannot execute: its sender waits for a status in vain.
      ledger.submit(sent.wire);
      return sent.signatures[0];
    },
    getSignatureStatuses([list]) {
      if (!Array.isArray(list))
        throw new RpcError(RPC_ERRORS.invalidParams, 'Invalid params: a list is expected');
      return { context: context(), value: list.map((signature) => statusJson(ledger, textOf(signature))) };
    },
    getTransaction([signature, options]) {
      const place = ledger.place(textOf(signature));
      const block =
        place && place.slot <= ledger.slot(blockCommitmentOf(options)) && ledger.block(place.slot);
      const found = block ? block.transactions[place.index] : undefined;
      if (!block || found === undefined) return null;
      const { encoding = 'json' } = optionsOf(options);
      requireVersion(found.version, optionsOf(options));
      const wire = Buffer.from(found.wire).toString('base64');
      return {
        slot: block.slot,
        blockTime: block.blockTime,
        ...(JSON.parse(found.json) as object), // written by us
        ...(encoding === 'base64' && { transaction: [wire, encoding] }),
      };
    },
    getSignaturesForAddress: ([account, options]) =>
      signaturesOf(ledger, textOf(account), {
        ...optionsOf(options),
        newest: ledger.slot(blockCommitmentOf(options)),
      }),
  };
}

function statusJson(ledger: SolanaLedger, signature: string): object | null {
  const place = ledger.place(signature);
  if (place === undefined) return null;
  const { slot, err } = place;
  const isFinal = slot <= ledger.slot('finalized');
  const status = err === null ? { Ok: null } : { Err: err };
  const inBlock = isFinal ? 'finalized' : 'confirmed';
  return {
    slot,
    err,
    status,
    confirmations: isFinal ? null : Math.max(0, ledger.slot('confirmed') - slot),
    confirmationStatus: slot > ledger.slot('confirmed') ? 'processed' : inBlock,
  };
}

/** Newest first, of blocks up to `newest`. */
function signaturesOf(ledger: SolanaLedger, account: string, options: Options): object[] {
  const { limit = SIGNATURES_MAX, before, until, newest } = options;
  const places = [...ledger.signaturesOf(account)].flatMap((signature) => {
    const place = ledger.place(signature);
    return place === undefined || place.slot > Number(newest) ? [] : [{ signature, ...place }];
  });
  places.reverse();
  const from = before === undefined ? 0 : places.findIndex(({ signature }) => signature === before) + 1;
  const end = places.findIndex(({ signature }) => signature === until);
  const isFinal = ledger.slot('finalized');
  return places
    .slice(from, end < 0 ? undefined : end)
    .slice(0, Number(limit))
    .map(({ signature, slot, err }) => ({
      signature,
      slot,
      err,
      memo: null,
      blockTime: ledger.block(slot)?.blockTime ?? null,
      confirmationStatus: slot <= isFinal ? 'finalized' : 'confirmed',
    }));
}

function blockAt(ledger: SolanaLedger, commitment: Commitment): SolanaBlock | undefined {
  return ledger.block(ledger.slot(commitment === 'processed' ? 'confirmed' : commitment));
}

function optionsOf(value: unknown): Options {
  return typeof value === 'object' && value !== null ? (value as Options) : {}; // an object of any members
}

function commitmentOf(options: unknown): Commitment {
  const { commitment = 'finalized' } =
    typeof options === 'string' ? { commitment: options } : optionsOf(options);
  if (commitment === 'processed' || commitment === 'confirmed' || commitment === 'finalized')
    return commitment;
  throw new RpcError(RPC_ERRORS.invalidParams, `Invalid params: no commitment ${String(commitment)}`);
}

function blockCommitmentOf(options: unknown): Commitment {
  const commitment = commitmentOf(options);
  if (commitment !== 'processed') return commitment;
  throw new RpcError(RPC_ERRORS.invalidParams, 'Method does not support commitment below `confirmed`');
}

function numberOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new RpcError(RPC_ERRORS.invalidParams, `Invalid params: ${JSON.stringify(value)} is no u64`);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new RpcError(RPC_ERRORS.invalidParams, `Invalid params: ${JSON.stringify(value)} is no text`);
}

function sentOf(wire: unknown, options: unknown): SentTransaction {
  const { encoding = 'base58' } = optionsOf(options);
  if (encoding !== 'base64') throw new RpcError(RPC_ERRORS.invalidParams, 'only encoding base64 is served');
  try {
    return readTransaction(Buffer.from(textOf(wire), 'base64'));
  } catch (cause) {
    if (cause instanceof RpcError) throw cause;
    throw new RpcError(RPC_ERRORS.invalidParams, 'failed to deserialize the transaction');
  }
}
