import { base58 } from '@scure/base';
import {
  isListed,
  type PortalDialect,
  type PortalWireBlock,
  type Request,
  requestsOf,
} from './portal-blocks.ts';

/** Blocks of a local Solana in the form that the SQD Portal gives them: subsquid/squid-sdk `solana-normalization`, subsquid/data `query/solana.rs`. */

interface RawBlock {
  readonly blockhash: string;
  readonly previousBlockhash: string;
  readonly parentSlot: number;
  readonly blockHeight: number;
  readonly blockTime: number | null;
  readonly transactions: readonly RawTransaction[];
}

interface RawInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: string;
  readonly stackHeight?: number;
}

interface RawBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly uiTokenAmount: { readonly amount: string };
}

interface RawTransaction {
  readonly version: 'legacy' | 0;
  readonly transaction: {
    readonly signatures: readonly string[];
    readonly message: {
      readonly accountKeys: readonly string[];
      readonly header: Readonly<Record<string, number>>;
      readonly recentBlockhash: string;
      readonly instructions: readonly RawInstruction[];
      readonly addressTableLookups?: readonly unknown[];
    };
  };
  readonly meta: {
    readonly err: unknown;
    readonly innerInstructions: readonly {
      readonly index: number;
      readonly instructions: readonly RawInstruction[];
    }[];
    readonly preTokenBalances: readonly RawBalance[];
    readonly postTokenBalances: readonly RawBalance[];
    readonly loadedAddresses: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  };
}

interface Item extends Readonly<Record<string, unknown>> {
  readonly transactionIndex: number;
}

interface SolanaWireBlock extends PortalWireBlock {
  readonly transactions: readonly Item[];
  readonly instructions: readonly Item[];
  readonly tokenBalances: readonly Item[];
}

const BLOCK_OPTIONS = { maxSupportedTransactionVersion: 0, rewards: false };

const WITH = ['transaction', 'transactionInstructions'];

export const SOLANA_DIALECT: PortalDialect = {
  type: 'solana',
  nowhere: 'BadBadBadBadBadBadBadBadBadBadBadBadBadBadB',
  fields: {
    block: ['number', 'hash', 'parentNumber', 'parentHash', 'height', 'timestamp'],
    transaction: [
      ...[
        'transactionIndex',
        'version',
        'accountKeys',
        'addressTableLookups',
        'recentBlockhash',
        'signatures',
      ],
      ...['numReadonlySignedAccounts', 'numReadonlyUnsignedAccounts', 'numRequiredSignatures'],
      ...['err', 'fee', 'loadedAddresses', 'feePayer'],
    ],
    instruction: ['transactionIndex', 'instructionAddress', 'programId', 'accounts', 'data', 'isCommitted'],
    tokenBalance: [
      ...['transactionIndex', 'account', 'preMint', 'postMint', 'preOwner', 'postOwner'],
      ...['preAmount', 'postAmount'],
    ],
  },
  requests: {
    instructions: ['programId', 'd1', 'd2', 'a1', 'isCommitted', 'transactionTokenBalances', ...WITH],
    tokenBalances: ['preMint', 'postMint', ...WITH],
  },
  async heads(rpc) {
    const slotAt = (commitment: string): Promise<number> => rpc.call('getSlot', { commitment });
    return { head: await slotAt('confirmed'), finalized: await slotAt('finalized') };
  },
  async hashAt(rpc, number) {
    const [slot] = await rpc.call<number[]>('getBlocksWithLimit', number, 1);
    return slot === number ? (await rpc.call<RawBlock>('getBlock', slot, BLOCK_OPTIONS)).blockhash : null;
  },
  async readAll(rpc, from, to, max) {
    const slots = (await rpc.call<number[]>('getBlocks', from, to)).slice(0, max);
    const blocks = await rpc.batch<RawBlock>(
      slots.map((slot) => ({ method: 'getBlock', params: [slot, BLOCK_OPTIONS] })),
    );
    return blocks.map((block, at) => wireBlock(slots[at] ?? 0, block));
  },
  choose(block, query) {
    const { transactions, instructions, tokenBalances } = block as SolanaWireBlock; // by `readAll`
    const matches = [
      ...requestsOf(query, 'instructions').flatMap((request) =>
        instructions.filter((item) => isInstruction(request, item)).map((item) => ({ request, item })),
      ),
      ...requestsOf(query, 'tokenBalances').flatMap((request) =>
        tokenBalances
          .filter(({ preMint, postMint }) => isListed(request, { preMint, postMint }))
          .map((item) => ({ request, item })),
      ),
    ];
    const matched = new Set(matches.map(({ item }) => item));
    const asked = (relation: string): ReadonlySet<number> =>
      new Set(
        matches.filter(({ request }) => request[relation] === true).map(({ item }) => item.transactionIndex),
      );
    const chosen = (items: readonly Item[], relation: string): Item[] => {
      const whole = asked(relation);
      return items.filter((item) => matched.has(item) || whole.has(item.transactionIndex));
    };
    return {
      transactions: chosen(transactions, 'transaction'),
      instructions: chosen(instructions, 'transactionInstructions'),
      tokenBalances: chosen(tokenBalances, 'transactionTokenBalances'),
    };
  },
};

function isInstruction(request: Request, { programId, accounts, data, isCommitted }: Item): boolean {
  const bytes = Buffer.from(base58.decode(String(data))).toString('hex');
  return (
    (request['isCommitted'] === undefined || request['isCommitted'] === isCommitted) &&
    isListed(request, {
      ...{ programId, d1: `0x${bytes.slice(0, 2)}`, d2: `0x${bytes.slice(0, 4)}` },
      a1: (accounts as readonly string[])[1], // as it is built
    })
  );
}

function wireBlock(number: number, raw: RawBlock): SolanaWireBlock {
  const { blockhash: hash, previousBlockhash: parentHash, parentSlot: parentNumber } = raw;
  const header = { number, hash, parentNumber, parentHash, height: raw.blockHeight };
  return {
    header: { ...header, timestamp: raw.blockTime ?? 0 },
    transactions: raw.transactions.map(wireTransaction),
    instructions: raw.transactions.flatMap(wireInstructions),
    tokenBalances: raw.transactions.flatMap(wireBalances),
  };
}

function wireTransaction(raw: RawTransaction, transactionIndex: number): Item {
  const { message, signatures } = raw.transaction;
  const { accountKeys, recentBlockhash, addressTableLookups = [], header } = message;
  return {
    ...{
      transactionIndex,
      version: raw.version,
      accountKeys,
      addressTableLookups,
      recentBlockhash,
      signatures,
    },
    ...header,
    ...{ err: raw.meta.err, loadedAddresses: raw.meta.loadedAddresses, feePayer: accountKeys[0] },
  };
}

function accountsOf({
  transaction: { message },
  meta: { loadedAddresses },
}: RawTransaction): readonly string[] {
  return [...message.accountKeys, ...loadedAddresses.writable, ...loadedAddresses.readonly];
}

/** An address has one part for each call above: the number of the instruction, then that of the call in it, and so on. */
function wireInstructions(raw: RawTransaction, transactionIndex: number): Item[] {
  const accounts = accountsOf(raw);
  const items: Item[] = [];
  for (const [top, instruction] of raw.transaction.message.instructions.entries()) {
    const inner = raw.meta.innerInstructions.find(({ index }) => index === top)?.instructions ?? [];
    const address: number[] = [top];
    for (const { programIdIndex, accounts: named, data, stackHeight } of [instruction, ...inner]) {
      const depth = stackHeight ?? 1;
      if (depth > 1) {
        if (address.length < depth) address.push(0);
        else {
          address.length = depth;
          address[depth - 1] = (address[depth - 1] ?? 0) + 1;
        }
      }
      items.push({
        ...{ transactionIndex, instructionAddress: [...address], programId: accounts[programIdIndex], data },
        accounts: named.map((at) => accounts[at]),
        isCommitted: raw.meta.err === null,
      });
    }
  }
  return items;
}

function wireBalances(raw: RawTransaction, transactionIndex: number): Item[] {
  const accounts = accountsOf(raw);
  const [pre, post] = [raw.meta.preTokenBalances, raw.meta.postTokenBalances].map(
    (list) => new Map(list.map((balance) => [balance.accountIndex, balance])),
  );
  const indexes = [...new Set([...(pre?.keys() ?? []), ...(post?.keys() ?? [])])];
  const side = (name: string, balance: RawBalance | undefined): Record<string, unknown> => ({
    [`${name}Mint`]: balance?.mint,
    [`${name}Owner`]: balance?.owner,
    [`${name}Amount`]: balance?.uiTokenAmount.amount,
  });
  return indexes
    .map((at) => ({
      ...{ transactionIndex, account: accounts[at] ?? '' },
      ...side('pre', pre?.get(at)),
      ...side('post', post?.get(at)),
    }))
    .sort((one, other) => (one.account < other.account ? -1 : 1));
}
