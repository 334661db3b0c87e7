import type {
  AccountMeta,
  Address,
  Instruction,
  InstructionWithAccounts,
  InstructionWithData,
  ReadonlyUint8Array,
  TransactionSigner,
} from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  getApproveInstruction,
  getBurnCheckedInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getRecoverNestedAssociatedTokenInstructionAsync,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import { getTransferCheckedWithFeeInstruction } from '@solana-program/token-2022';
import { paymentAmount, type Random } from '../random.ts';
import type { SolanaLedger } from './ledger.ts';
import { fundTokens } from './mints.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './programs.ts';
import { type RandomWorld, TRANSFER_FEE } from './random-world.ts';
import { payFromVault } from './smart-wallets.ts';
import { signTransaction, sponsoredPayment, type UnsignedTransaction } from './transactions.ts';
import { solanaWallet, tokenAccountOf } from './wallets.ts';

/**
 * Random transactions of a local Solana, of every kind that a reader of payments meets. In none does an owner both pay and get the same
 * token, so that balances before and after say who paid whom.
 */

export const SOLANA_KINDS = {
  /** x402's shape: a facilitator pays the fee. */
  sponsored: 8,
  /** The same with a memo. */
  memo: 2,
  /** The owner of the tokens pays the fee too. */
  plain: 2,
  /** `Transfer`, whose instruction names no mint. */
  unchecked: 1,
  /** One payer, two or three payees. */
  several: 2,
  /** Two payers, one payee. */
  severalPayers: 1,
  /** One instruction of the token program holds two transfers: no instruction, outer or inner, is either of them. */
  batch: 1,
  /** The payee's token account is made in the same transaction. */
  newAccount: 2,
  /** The owner approves, and a delegate moves the tokens, in one transaction. */
  delegate: 1,
  /** The owner is a multisig of the token program. */
  multisig: 1,
  /** Token-2022 withholds a fee from what the payee gets. */
  withheldFee: 2,
  /** The same with an instruction that states the fee. */
  statedFee: 1,
  /** Mint and destination come from a lookup table. */
  lookupTable: 2,
  /**
   * An instruction of the associated token program calls the token program, and the owner of the source is an address without a key:
   * tokens that lie in an account of an associated account are recovered.
   */
  inner: 1,
  /** A smart wallet's program pays from its vault. Only where it is asked for, as the next one. */
  smartWallet: 0,
  /** Those of two owners, and one payee. */
  smartWallets: 0,
  /** The second transfer has no cover, so neither happens. */
  failed: 1,
  /** Another token. */
  otherMint: 1,
  /** Tokens are burnt: no owner gets them. */
  burn: 1,
  /** No token at all. */
  memoOnly: 1,
  /** Lamports, which are no token. */
  lamports: 1,
} as const;

export type SolanaKind = keyof typeof SOLANA_KINDS;

/**
 * Balances show payments in these as well, but they are none of x402's: no instruction of the message names mint and transfer, as
 * `TransferChecked` does, or another program than a smart wallet's made the transfer.
 */
export const NOT_OF_THE_SCHEME: ReadonlySet<SolanaKind> = new Set(['unchecked', 'batch', 'inner']);

export interface RandomTransaction {
  readonly kind: SolanaKind;
  readonly wire: Uint8Array;
}

export interface RandomTransactions {
  /** Signs the next one for the ledger's newest block. */
  next(kind?: SolanaKind): Promise<RandomTransaction>;
}

const DECIMALS = 6;
/** Above what anyone owns. */
const UNCOVERED_ATOMS = 10n ** 17n;
const PAYEES_MAX = 3;
/** Below the smallest step between drawn amounts, and more than a block has transactions. */
const DISTINCT_AMOUNTS = 499;
const BASIS_POINTS = 10_000n;

export function createRandomTransactions(
  ledger: SolanaLedger,
  world: RandomWorld,
  random: Random,
): RandomTransactions {
  const kinds = Object.entries(SOLANA_KINDS).flatMap(([kind, weight]) =>
    Array.from({ length: weight }, () => kind as SolanaKind),
  ); // of the table above
  const builders = buildersOf({ ledger, world, random });
  return {
    async next(kind = random.pick(kinds)) {
      return { kind, wire: await signTransaction(ledger, await builders[kind]()) };
    },
  };
}

interface Scene {
  readonly ledger: SolanaLedger;
  readonly world: RandomWorld;
  readonly random: Random;
}

type Builder = () => Promise<UnsignedTransaction>;

function buildersOf(scene: Scene): Readonly<Record<SolanaKind, Builder>> {
  const { world, random } = scene;
  let drawn = 0;
  /** Two transactions of one block that say the same are one transaction: amounts that follow each other differ. */
  const amount = () => {
    drawn += 1;
    return paymentAmount(random) + BigInt(drawn % DISTINCT_AMOUNTS);
  };
  const payer = () => random.pick(world.agents);
  const seller = () => random.pick(world.sellers);
  const feePayer = () => random.pick(world.feePayers);
  const terms = () => ({
    feePayer: feePayer(),
    payer: payer(),
    payee: seller(),
    mint: world.mints.usdc,
    amount: amount(),
  });
  return {
    sponsored: () => sponsoredPayment(terms()),
    memo: () => sponsoredPayment({ ...terms(), memo: `order ${random.below(1_000_000)}` }),
    async plain() {
      const own = terms();
      return sponsoredPayment({ ...own, feePayer: own.payer });
    },
    async unchecked() {
      const { payer: authority, payee, mint, amount: atoms } = terms();
      const accounts = {
        source: await tokenAccountOf(authority.address, mint),
        destination: await tokenAccountOf(payee, mint),
      };
      return {
        feePayer: feePayer(),
        instructions: [getTransferInstruction({ ...accounts, authority, amount: atoms })],
      };
    },
    async several() {
      const from = payer();
      const payees = world.sellers.slice(0, 2 + random.below(PAYEES_MAX - 1));
      const transfers = payees.map((to) => transfer({ from, to, mint: world.mints.usdc, amount: amount() }));
      return { feePayer: feePayer(), instructions: await Promise.all(transfers) };
    },
    async severalPayers() {
      const at = random.below(world.agents.length - 1);
      const to = seller();
      const transfers = world.agents
        .slice(at, at + 2)
        .map((from) => transfer({ from, to, mint: world.mints.usdc, amount: amount() }));
      return { feePayer: feePayer(), instructions: await Promise.all(transfers) };
    },
    async batch() {
      const { payer: authority, payee, mint, amount: atoms } = terms();
      const source = await tokenAccountOf(authority.address, mint);
      const destination = await tokenAccountOf(payee, mint);
      const one = getTransferInstruction({ source, destination, authority, amount: atoms });
      return { feePayer: feePayer(), instructions: [batchOf([one, one])] };
    },
    async otherMint() {
      return sponsoredPayment({ ...terms(), mint: world.mints.other });
    },
    async failed() {
      const { payer: from, payee: to, mint, amount: atoms } = terms();
      const transfers = [atoms, UNCOVERED_ATOMS].map((each) => transfer({ from, to, mint, amount: each }));
      return { feePayer: feePayer(), instructions: await Promise.all(transfers) };
    },
    async burn() {
      const { payer: authority, mint, amount: atoms } = terms();
      const account = await tokenAccountOf(authority.address, mint);
      const burn = getBurnCheckedInstruction({ account, mint, authority, amount: atoms, decimals: DECIMALS });
      return { feePayer: feePayer(), instructions: [burn] };
    },
    async memoOnly() {
      return {
        feePayer: feePayer(),
        instructions: [getAddMemoInstruction({ memo: `no payment of ${amount()}` })],
      };
    },
    async lamports() {
      const { payer: source, payee: destination, amount: lamports } = terms();
      return {
        feePayer: feePayer(),
        instructions: [getTransferSolInstruction({ source, destination, amount: lamports })],
      };
    },
    ...rareBuilders(scene, terms),
  };
}

interface Terms {
  readonly feePayer: TransactionSigner;
  readonly payer: TransactionSigner;
  readonly payee: Address;
  readonly mint: Address;
  readonly amount: bigint;
}

/** Those in which someone other than the owner signs, or an account is not simply there. */
function rareBuilders({ ledger, world, random }: Scene, terms: () => Terms) {
  let fresh = 0;
  const newOwner = async (): Promise<Address> => {
    fresh += 1;
    return (await solanaWallet(`fresh/${random.bytes32()}/${fresh}`)).address;
  };
  const withFee = () => ({ ...terms(), mint: world.mints.withFee, tokenProgram: TOKEN_2022_PROGRAM });
  return {
    async newAccount() {
      const { feePayer, payer: from, mint, amount } = terms();
      const owner = await newOwner();
      const ata = await tokenAccountOf(owner, mint);
      const create = getCreateAssociatedTokenIdempotentInstruction({ payer: feePayer, ata, owner, mint });
      return { feePayer, instructions: [create, await transfer({ from, to: owner, mint, amount })] };
    },
    async delegate() {
      const { feePayer, payer: owner, payee: to, mint, amount } = terms();
      const source = await tokenAccountOf(owner.address, mint);
      const approve = getApproveInstruction({ source, delegate: world.delegate.address, owner, amount });
      const move = await transfer({ from: world.delegate, source, to, mint, amount });
      return { feePayer, instructions: [approve, move] };
    },
    async multisig() {
      const { feePayer, payee, mint, amount } = terms();
      const { address, signers } = world.multisig;
      const move = getTransferCheckedInstruction({
        source: await tokenAccountOf(address, mint),
        mint,
        destination: await tokenAccountOf(payee, mint),
        authority: address,
        amount,
        decimals: DECIMALS,
        multiSigners: [...signers],
      });
      return { feePayer, instructions: [move] };
    },
    withheldFee: () => sponsoredPayment(withFee()),
    async statedFee() {
      const { feePayer, payer: authority, payee, mint, amount, tokenProgram } = withFee();
      const move = getTransferCheckedWithFeeInstruction({
        source: await tokenAccountOf(authority.address, mint, tokenProgram),
        mint,
        destination: await tokenAccountOf(payee, mint, tokenProgram),
        authority,
        amount,
        decimals: DECIMALS,
        fee: withheld(amount),
      });
      return { feePayer, instructions: [move] };
    },
    async lookupTable() {
      const { address, addresses } = world.lookupTable;
      return { ...(await sponsoredPayment(terms())), lookupTables: { [address]: [...addresses] } };
    },
    async inner() {
      const { feePayer, payer: wallet, amount } = terms();
      const { usdc, other } = world.mints;
      const middle = await tokenAccountOf(wallet.address, other);
      await fundTokens(ledger, { owner: middle, mint: usdc, amount });
      const recover = await getRecoverNestedAssociatedTokenInstructionAsync({
        walletAddress: wallet,
        ownerTokenMintAddress: other,
        nestedTokenMintAddress: usdc,
        tokenProgram: TOKEN_PROGRAM,
      });
      return { feePayer, instructions: [recover, noteOf(amount)] };
    },
    async smartWallet() {
      const { feePayer, amount } = terms();
      const pay = await payFromVault(ledger, random.pick(world.smartWallets), amount);
      return { feePayer, instructions: [pay, noteOf(amount)] };
    },
    async smartWallets() {
      const { feePayer, amount } = terms();
      const at = 2 * random.below(world.smartWallets.length / 2);
      const pair = world.smartWallets.slice(at, at + 2);
      const pay = pair.map((wallet, more) => payFromVault(ledger, wallet, amount + BigInt(more)));
      return { feePayer, instructions: [...(await Promise.all(pay)), noteOf(amount)] };
    },
  };
}

/** Of an instruction that names no amount: without it two transactions of one block would be one. */
function noteOf(amount: bigint): Instruction {
  return getAddMemoInstruction({ memo: `for ${amount}` });
}

const BATCH_TAG = 255;

/** An instruction of the token program that holds others: its tag, then of each the count of accounts, the length of its data, its data. */
function batchOf(
  parts: readonly (Instruction &
    InstructionWithAccounts<AccountMeta[]> &
    InstructionWithData<ReadonlyUint8Array>)[],
): Instruction {
  const data = parts.flatMap((part) => [part.accounts.length, part.data.length, ...part.data]);
  return {
    programAddress: TOKEN_PROGRAM,
    accounts: parts.flatMap((part) => part.accounts),
    data: Uint8Array.from([BATCH_TAG, ...data]),
  };
}

/** What Token-2022 withholds: a hundredth of a percent is rounded up. */
export function withheld(amount: bigint): bigint {
  const { basisPoints, max } = TRANSFER_FEE;
  const fee = (amount * BigInt(basisPoints) + BASIS_POINTS - 1n) / BASIS_POINTS;
  return fee > max ? max : fee;
}

interface Move {
  /** Signs: the owner of the source, or a delegate. */
  readonly from: TransactionSigner;
  /** Default: the associated account of the signer. */
  readonly source?: Address;
  readonly to: Address;
  readonly mint: Address;
  readonly amount: bigint;
}

async function transfer({ from, source, to, mint, amount }: Move): Promise<Instruction> {
  return getTransferCheckedInstruction({
    source: source ?? (await tokenAccountOf(from.address, mint)),
    mint,
    destination: await tokenAccountOf(to, mint),
    authority: from,
    amount,
    decimals: DECIMALS,
  });
}
