import type { Address, KeyPairSigner } from '@solana/kit';
import type { Merchant, NamedFacilitator } from '../actors.ts';
import { paymentAmount, seededRandom } from '../random.ts';
import type { SolanaFacilitatorBootstrap } from './facilitator-scheme.ts';
import { fundTokens } from './mints.ts';
import { type NaivePayment, type NaiveReading, readSolanaNaively } from './naive-reader.ts';
import { produceEvery, type SolanaNode, startSolana } from './node.ts';
import { caip2Of, SOLANA_DEVNET } from './programs.ts';
import { buyCall, buyOnSolana } from './purchase.ts';
import { createRandomTransactions, NOT_OF_THE_SCHEME } from './random-transactions.ts';
import { installRandomWorld, type RandomWorld, sellersOfSeed } from './random-world.ts';
import { fundLamports, solanaSecret, solanaWallet } from './wallets.ts';

/** Solana's part of the demo: a local chain, agents that pay there, and sellers that are paid there as well as on the EVM chain. */
export interface SolanaMarket {
  readonly node: SolanaNode;
  readonly network: `solana:${string}`;
  readonly sellers: readonly SolanaSeller[];
  /** Where the index itself is paid for calls. */
  readonly api: Address;
  /** Accounts that pay fees for others, with the facilitator that they belong to; null: no catalogue names it. */
  readonly feePayers: readonly { readonly address: Address; readonly facilitator: string | null }[];
  /** What the local facilitator needs to settle here. */
  readonly facilitator: SolanaFacilitatorBootstrap;
  /** Executes so many random transactions; they wait for the next block. */
  send(transactions: number): Promise<void>;
  /** Makes so many blocks, with some transactions for each settlement that the EVM chain has of history. */
  history(settlements: number, blocks: number): Promise<void>;
  /** From now on, makes a block every so often; by default as Solana does. */
  run(everyMs?: number): void;
  /** An agent buys from the first seller over x402. Blocks must be made meanwhile. */
  buy(facilitatorUrl: string): Promise<string>;
  /** An agent buys a call of the index. Blocks must be made meanwhile. */
  buyCall(serviceUrl: string): Promise<string>;
  /** Replaces the newest block, which is not final yet. Transactions that name a block of before come again, the others are lost. */
  fork(): void;
  /** What was paid, by balances, in final blocks. */
  truth(): Promise<NaiveReading>;
  /** Whether an index that knows the catalogued sellers serves a payment: it is of x402's scheme, or a plain one to such a seller. */
  isServed(payment: NaivePayment): boolean;
  stop(): Promise<void>;
}

/** A seller with an account here. One that the EVM chain has too has the same name and resource there. */
export interface SolanaSeller {
  readonly name: string;
  readonly resource: string;
  readonly catalogued: boolean;
  readonly address: Address;
}

export interface MarketOptions {
  readonly seed: number;
  /** Unix seconds of the first block. */
  readonly genesisTime: number;
  /** The first of them sell here as well. */
  readonly merchants: readonly Merchant[];
  /** The first of them pay fees here as well. The last is the local one, which has a fee payer of its own. */
  readonly facilitators: readonly NamedFacilitator[];
}

/** As often as slots of Solana stay without a block, and more: a demo is short. */
const SKIPPED_SHARE = 0.08;
/** Transactions for each settlement of history, and at most: a run of a million settlements is about the EVM chain. */
const HISTORY_SHARE = 0.2;
const HISTORY_MAX = 2_000;
/** As on Solana. */
const BLOCK_EVERY_MS = 400;
const FACILITATOR_LAMPORTS = 1_000_000_000_000n;
const CALL = '/v0/flows?limit=5';

/** By the names of merchants that sell on Solana too: their accounts there, as CAIP-10 writes them. */
export async function solanaAccounts(
  seed: number,
  merchants: readonly Pick<Merchant, 'name'>[],
): Promise<ReadonlyMap<string, string>> {
  const sellers = await sellersOfSeed(seed);
  const chain = caip2Of(SOLANA_DEVNET);
  return new Map(sellers.map((address, at) => [merchants[at]?.name ?? '', `${chain}:${address}`]));
}

export async function startSolanaMarket(options: MarketOptions): Promise<SolanaMarket> {
  const { seed, genesisTime, merchants, facilitators } = options;
  const node = await startSolana({ genesisTime, seed, skippedShare: SKIPPED_SHARE });
  const { ledger } = node;
  const world = await installRandomWorld(ledger, { usdc: node.network.usdc, seed });
  const label = `${seed}/facilitator`;
  const own = await solanaWallet(label);
  fundLamports(ledger, own.address, FACILITATOR_LAMPORTS);
  const api = (await solanaWallet(`${seed}/api`)).address;
  await fundTokens(ledger, { owner: api, mint: world.mints.usdc, amount: 0n });
  const random = seededRandom(seed);
  const transactions = createRandomTransactions(ledger, world, random);
  const network = caip2Of(node.network);
  const sellers = sellersOf(world, merchants);
  const catalogued = new Set<string>(
    sellers.filter((seller) => seller.catalogued).map(({ address }) => address),
  );
  const unserved = new Set<string>();
  let stopProducing = (): void => undefined;

  const send = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent++) {
      const { kind, wire } = await transactions.next();
      const outcome = ledger.submit(wire);
      if ('refused' in outcome)
        throw new Error(`a transaction (${kind}) is refused: ${JSON.stringify(outcome.refused)}`);
      if (NOT_OF_THE_SCHEME.has(kind)) unserved.add(outcome.signature);
    }
  };
  return {
    node,
    network,
    sellers,
    api,
    feePayers: feePayersOf(world, own, facilitators),
    facilitator: { rpcUrl: node.url, network, secret: Buffer.from(solanaSecret(label)).toString('hex') },
    send,
    async history(settlements, blocks) {
      const count = Math.min(HISTORY_MAX, Math.ceil(settlements * HISTORY_SHARE));
      for (let made = 0; made < blocks; made++) {
        await send(Math.floor((count * (made + 1)) / blocks) - Math.floor((count * made) / blocks));
        ledger.produce();
      }
    },
    run(everyMs = BLOCK_EVERY_MS) {
      stopProducing();
      stopProducing = produceEvery(ledger, everyMs);
    },
    buy(facilitatorUrl) {
      const [seller] = sellers;
      if (seller === undefined) throw new Error('there is no seller on Solana');
      const lane = { rpcUrl: node.url, network, facilitatorUrl, feePayer: own.address };
      const payment = { payer: random.pick(world.agents), payTo: seller.address, resource: seller.resource };
      return buyOnSolana({ ...payment, mint: world.mints.usdc, amount: paymentAmount(random) }, lane);
    },
    buyCall: (serviceUrl) =>
      buyCall(`${serviceUrl}${CALL}`, { payer: random.pick(world.agents), rpcUrl: node.url }),
    fork() {
      for (const wire of ledger.fork(1)) ledger.submit(wire);
    },
    truth: () => readSolanaNaively(node.url, { mints: [world.mints.usdc], from: ledger.firstAvailable }),
    isServed: ({ signature, isSponsored, payee }) =>
      !unserved.has(signature) && (isSponsored || catalogued.has(payee)),
    async stop() {
      stopProducing();
      await node.stop();
    },
  };
}

function sellersOf({ sellers }: RandomWorld, merchants: readonly Merchant[]): SolanaSeller[] {
  return sellers.map((address, at) => {
    const merchant = merchants[at];
    if (merchant === undefined) throw new Error('there are fewer merchants than sellers on Solana');
    const { name, resource, catalogued } = merchant;
    return { name, resource, catalogued, address };
  });
}

function feePayersOf(
  { feePayers }: RandomWorld,
  own: KeyPairSigner,
  facilitators: readonly NamedFacilitator[],
): SolanaMarket['feePayers'] {
  const local = facilitators.at(-1)?.id ?? null;
  const named = facilitators.slice(0, -1);
  return [
    ...feePayers.map(({ address }, at) => ({ address, facilitator: named[at]?.id ?? null })),
    { address: own.address, facilitator: local },
  ];
}
