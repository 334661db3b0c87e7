import type { SolanaMarket } from './market.ts';
import type { NaivePayment } from './naive-reader.ts';

/** What goes on in the market on Solana while the demo runs: payments, purchases over x402, and forks below finality. */
export interface SolanaLive {
  readonly market: SolanaMarket;
  /** Executes a few transactions, and now and then begins a purchase or replaces the newest block. */
  step(): Promise<void>;
  /** Resolves when no purchase is under way and what was paid is final. */
  settleDown(): Promise<void>;
  /** Reads the chain: call it when it has settled down. */
  outcome(): Promise<SolanaOutcome>;
}

export interface SolanaOutcome {
  /** Payments in USDC that an index has to serve, as the balances of final blocks show them. */
  readonly owed: readonly NaivePayment[];
  readonly blocks: number;
  /** Purchases over x402 that are in a final block. */
  readonly purchases: number;
  /** Why purchases failed; one that no final block has is among them. */
  readonly failed: readonly string[];
}

const TRANSACTIONS_PER_STEP = 3;
const STEPS_PER_PURCHASE = 8;
/** The step of the first one: the shortest run has one as well. */
const FIRST_PURCHASE = 2;
const STEPS_PER_FORK = 13;

/** `purchases` are made in turn; each resolves with its transaction. */
export function createSolanaLive(
  market: SolanaMarket,
  purchases: readonly (() => Promise<string>)[],
): SolanaLive {
  const bought: string[] = [];
  const failed: string[] = [];
  let steps = 0;
  let begun = 0;
  let purchase: Promise<void> | undefined;

  const beginPurchase = (): void => {
    const buy = purchases[begun % purchases.length];
    if (buy === undefined) return;
    begun += 1;
    purchase = buy()
      .then(
        (transaction) => {
          bought.push(transaction);
        },
        (error: unknown) => {
          failed.push(error instanceof Error ? error.message : 'unknown');
        },
      )
      .finally(() => {
        purchase = undefined;
      });
  };
  return {
    market,
    async step() {
      steps += 1;
      await market.send(TRANSACTIONS_PER_STEP);
      if (purchase !== undefined) return;
      // A purchase that is in the newest block must not lose it: its client has been told that it is confirmed.
      if (steps % STEPS_PER_FORK === 0 && isFinal(market, bought.at(-1))) market.fork();
      if (steps % STEPS_PER_PURCHASE === FIRST_PURCHASE) beginPurchase();
    },
    async settleDown() {
      await purchase;
      const { ledger } = market.node;
      const newest = ledger.slot('processed');
      while (ledger.slot('finalized') < newest) ledger.produce();
    },
    async outcome() {
      const { payments, slots } = await market.truth();
      const paid = new Set(payments.map(({ signature }) => signature));
      const lost = bought.filter((transaction) => !paid.has(transaction));
      return {
        owed: payments.filter((payment) => market.isServed(payment)),
        blocks: slots.length,
        purchases: bought.length - lost.length,
        failed: [...failed, ...lost.map((transaction) => `${transaction} is in no final block`)],
      };
    },
  };
}

function isFinal({ node: { ledger } }: SolanaMarket, transaction: string | undefined): boolean {
  if (transaction === undefined) return true;
  const place = ledger.place(transaction);
  return place !== undefined && place.slot <= ledger.slot('finalized');
}
