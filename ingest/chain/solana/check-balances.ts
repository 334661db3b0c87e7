import { TOKEN_2022_PROGRAM } from '../../../core/domain/solana-programs.ts';
import { ProviderContradiction } from '../rpc/failure.ts';
import type { SolanaTransaction, TokenBalance, TokenMove } from './block.ts';

/**
 * Compares the balances that a node gives with the instructions that it gives. A token account changes by instructions of its token program
 * alone, and each of those is in the transaction, so the two are told twice: an instruction that was left out or altered, a balance that was
 * left out or altered, and an amount that is not the one that moved are all found. So is a transaction that was left out, or that stands at
 * another place, if one of its accounts moves both before and after it in the blocks that are read together: the balance before is then not
 * the balance after.
 *
 * Not found: a transaction whose accounts move no more in these blocks, or not yet; and what a node changes in instructions, balances and all
 * later ones alike. A block hash cannot be computed anew from a block's JSON, so it proves which block stands at a slot and not what is in it.
 */

type Checked = Pick<SolanaTransaction, 'signature' | 'accounts' | 'moves' | 'balances'>;

/** Throws `ProviderContradiction` where a listed token's balances are not what its instructions make of them. */
export function checkBalances(transaction: Checked, mints: ReadonlySet<string>): void {
  const flows = flowsOf(transaction, mints);
  for (const [account, { mint, before, after, isReused }] of transaction.balances) {
    if (!mints.has(mint) || isReused) continue;
    const flow = flows.get(account) ?? NO_FLOW;
    flows.delete(account);
    if (!isExplained(after - before, flow)) throw wrongBalance(transaction, account);
  }
  // An account without balances was opened and closed again, which takes an empty one.
  for (const [account, flow] of flows) if (!isExplained(0n, flow)) throw wrongBalance(transaction, account);
}

interface Flow {
  net: bigint;
  /** What transfers of Token-2022 may have withheld on the way into the account. */
  withheldMax: bigint;
  /** Something happened to the account that is not read here. */
  isOpen: boolean;
}

const NO_FLOW: Readonly<Flow> = { net: 0n, withheldMax: 0n, isOpen: false };

function isExplained(change: bigint, { net, withheldMax, isOpen }: Flow): boolean {
  return isOpen || (change <= net && change >= net - withheldMax);
}

/** What instructions did to the accounts of listed tokens. */
function flowsOf({ accounts, moves, balances }: Checked, mints: ReadonlySet<string>): Map<number, Flow> {
  const flows = new Map<number, Flow>();
  const flowOf = (account: number): Flow => {
    const flow = flows.get(account) ?? { ...NO_FLOW };
    flows.set(account, flow);
    return flow;
  };
  for (const move of moves) {
    if (move.kind === 'other' || move.kind === 'unreadable') {
      for (const account of move.touched) flowOf(account).isOpen = true;
      continue;
    }
    if (!mints.has(mintOf(move, accounts, balances) ?? '')) continue;
    const { source, destination, amount } = move;
    if (source !== null) flowOf(source).net -= amount;
    if (destination === null) continue;
    const flow = flowOf(destination);
    flow.net += amount - (move.fee ?? 0n);
    const mayWithhold = move.kind === 'transfer' && move.fee === null && move.program === TOKEN_2022_PROGRAM;
    if (mayWithhold) flow.withheldMax += amount;
  }
  return flows;
}

/** The mint of what moved: named by the instruction, or that of an account on either side. */
export function mintOf(
  { mint, source, destination }: TokenMove,
  accounts: readonly string[],
  balances: ReadonlyMap<number, TokenBalance>,
): string | undefined {
  if (mint !== null) return accounts[mint];
  return balances.get(source ?? -1)?.mint ?? balances.get(destination ?? -1)?.mint;
}

/**
 * Follows balances and owners of accounts of listed tokens from transaction to transaction: `blocks` hold all that moved one, in their order.
 * Throws `ProviderContradiction`.
 */
export function followBalances(
  blocks: readonly { readonly moving: readonly Checked[] }[],
  mints: ReadonlySet<string>,
): void {
  const last = new Map<string, { readonly amount: bigint; readonly owner: string }>();
  for (const transaction of blocks.flatMap(({ moving }) => moving))
    for (const [at, { mint, before, after, ownerBefore, ownerAfter, isReused }] of transaction.balances) {
      if (!mints.has(mint)) continue;
      const account = transaction.accounts[at] ?? '';
      const known = last.get(account);
      const isOther = (): boolean =>
        known?.amount !== before || (ownerBefore !== null && ownerBefore !== known.owner);
      if (known !== undefined && !isReused && isOther()) throw wrongBalance(transaction, at);
      // One that was closed may be opened again; another owner or mint is then no contradiction.
      if (isReused || ownerAfter === null) last.delete(account);
      else last.set(account, { amount: after, owner: ownerAfter });
    }
}

function wrongBalance({ signature, accounts }: Checked, account: number): ProviderContradiction {
  return new ProviderContradiction(
    'wrong-balance',
    `the balance of ${accounts[account]} in ${signature} does not follow from what moved`,
  );
}
