import { base58 } from '@scure/base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { SolanaKind } from '../../../../demo/solana/random-transactions.ts';
import { WrongChain } from '../../../../ingest/chain/rpc/failure.ts';
import type { SolanaBatch } from '../../../../ingest/chain/solana/block.ts';
import type { SolanaSource } from '../../../../ingest/chain/solana/source.ts';
import { type SolanaChain, solanaSource, startSolanaChain } from '../../../kit/solana-chain.ts';
import { type Call, type Reply, type RewritingNode, startRewritingNode } from '../rewriting-node.ts';

/** The source over a real runtime: right, and through a node that lies. */

const BLOCKS = 30;
let world: SolanaChain;
let source: SolanaSource;
let final: number;
const FROM = 0;
const nodes: RewritingNode[] = [];

beforeAll(async () => {
  world = await startSolanaChain(7);
  await world.grow(BLOCKS);
  final = world.node.ledger.slot('finalized');
  source = solanaSource(world.chain, [world.node.url]);
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
});
afterAll(() => world?.node.stop());

const hex = (hash: string): string => `0x${Buffer.from(base58.decode(hash)).toString('hex')}`;

/** What a source keeps: transfers that name a listed mint in the message, and did not fail. */
const CANDIDATES: ReadonlySet<SolanaKind> = new Set([
  'sponsored',
  'memo',
  'plain',
  'several',
  'severalPayers',
  'newAccount',
  'delegate',
  'multisig',
  'withheldFee',
  'statedFee',
  'lookupTable',
]);

/** What the ledger itself has of a range. */
function truth(from: number, to: number) {
  const { ledger } = world.node;
  return ledger.producedSlots(from, to).map((slot) => {
    const block = ledger.block(slot);
    if (block === undefined) throw new Error('a produced slot has a block');
    return {
      number: slot,
      hash: hex(block.blockhash),
      parentHash: hex(block.previousBlockhash),
      time: block.blockTime,
      signatures: block.transactions
        .map(({ signature }) => signature)
        .filter((signature) => CANDIDATES.has(world.kinds.get(signature) ?? 'memoOnly')),
    };
  });
}

const shown = ({ blocks }: SolanaBatch) =>
  blocks.map(({ number, hash, parentHash, time, transactions }) => ({
    ...{ number, hash, parentHash, time },
    signatures: transactions.map(({ signature }) => signature),
  }));

/** A slot without a block before a slot with one. */
function skippedSlot(): number {
  const produced = new Set(world.node.ledger.producedSlots(FROM, final));
  for (let slot = FROM + 1; slot < final; slot++) if (!produced.has(slot)) return slot;
  throw new Error('some slots are skipped');
}

describe('a node of Solana', () => {
  test('a range reads as the chain has it', async () => {
    const batch = await source.read(FROM, final, world.filter);
    expect(shown(batch)).toEqual(truth(FROM, final));
    expect(batch.blocks.flatMap(({ transactions }) => transactions).length).toBeGreaterThan(BLOCKS / 2);
  });

  test('every single slot reads the same as within its range, and links to the one before', async () => {
    let before = (await source.blockAt(FROM))?.hash;
    for (let slot = FROM + 1; slot <= final; slot++) {
      const { blocks } = await source.read(slot, slot, world.filter);
      const [own] = truth(slot, slot);
      if (own === undefined) {
        expect(blocks).toMatchObject([{ number: slot, hash: before, parentHash: before, transactions: [] }]);
      } else expect(shown({ from: slot, to: slot, blocks })).toEqual([own]);
      expect(blocks[0]?.parentHash).toBe(before);
      expect(await source.blockAt(slot)).toMatchObject({
        number: slot,
        hash: blocks[0]?.hash,
        time: blocks[0]?.time,
      });
      before = blocks[0]?.hash;
    }
  });

  test('the tip is the newest final block, and nothing stands above it', async () => {
    const { head, finalized } = await source.tip();
    expect(head).toEqual(finalized);
    expect(head.number).toBe(final);
    expect(await source.blockAt(final)).toEqual(head);
    expect(await source.blockAt(final + 1)).toBeNull();
  });

  test('a URL of another chain is refused with both names', async () => {
    const mainnet = solanaSource('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', [world.node.url]);
    await expect(mainnet.read(FROM, final, world.filter)).rejects.toThrow(WrongChain);
    await expect(mainnet.read(FROM, final, world.filter)).rejects.toThrow(world.chain);
  });
});

/** The JSON of a block, as far as lies change it. */
interface Json {
  blockhash: string;
  previousBlockhash: string;
  parentSlot: number;
  blockTime: number | null;
  transactions: {
    meta: { preTokenBalances: JsonBalance[]; postTokenBalances: JsonBalance[] } | null;
    transaction: {
      signatures: string[];
      message: { accountKeys: string[]; instructions: { data: string; accounts: number[] }[] };
    };
  }[];
}

interface JsonBalance {
  accountIndex: number;
  mint: string;
  owner: string;
  uiTokenAmount: { amount: string };
}

const AMOUNT_AT = 1;
/** The transfer is the third instruction of a payment. */
const TRANSFER_AT = 2;

const isFull = ({ method, params }: Call): boolean =>
  method === 'getBlock' && (params[1] as { transactionDetails: string }).transactionDetails === 'full';

/** A plain payment in the middle of the range: its accounts move before it and after it. */
const victimOf = ({ transactions, parentSlot }: Json): number =>
  parentSlot < final / 3 || parentSlot > (2 * final) / 3
    ? -1
    : transactions.findIndex(({ transaction: { signatures } }) =>
        ['sponsored', 'memo'].includes(world.kinds.get(signatures[0] ?? '') ?? ''),
      );

/** A lie about a block that has such a payment, at `at`. */
const inBlock =
  (change: (block: Json, at: number) => void, isVictim: (block: Json) => boolean = () => true) =>
  (call: Call, reply: Reply): Reply => {
    const block = reply.result as Json | null | undefined;
    if (!isFull(call) || !block || victimOf(block) < 0 || !isVictim(block)) return reply;
    change(block, victimOf(block));
    return { result: block };
  };
const inPayment = (change: (payment: Json['transactions'][number]) => void) =>
  inBlock(({ transactions }, at) => {
    const payment = transactions[at];
    if (payment !== undefined) change(payment);
  });
const ofBlock =
  (lie: Reply) =>
  (call: Call, reply: Reply): Reply =>
    isFull(call) ? lie : reply;
const codeOf = (code: number): ((call: Call, reply: Reply) => Reply) =>
  ofBlock({ error: { code, message: 'Block not here' } });
const inList =
  (change: (slots: number[]) => number[]) =>
  (call: Call, reply: Reply): Reply =>
    call.method === 'getBlocks' && Array.isArray(reply.result) ? { result: change(reply.result) } : reply;

const LIES: Readonly<Record<string, (call: Call, reply: Reply) => Reply>> = {
  'a block left out of the list': inList((slots) => slots.toSpliced(3, 1)),
  'the first block left out of the list': inList((slots) => slots.slice(1)),
  'an empty list': inList(() => []),
  'a block that is null': ofBlock({ result: null }),
  'a block that was cleaned up': codeOf(-32_001),
  'a block that is not available yet': codeOf(-32_004),
  'a block called skipped': codeOf(-32_007),
  'a block missing in long-term storage': codeOf(-32_009),
  'a node that is behind': codeOf(-32_016),
  'a block of another fork': inBlock((block) => {
    block.blockhash = base58.encode(new Uint8Array(32).fill(7));
  }),
  'another parent': inBlock((block) => {
    block.previousBlockhash = base58.encode(new Uint8Array(32).fill(8));
  }),
  'a parent that is earlier': inBlock((block) => {
    block.parentSlot -= 1;
  }),
  'a payment left out': inBlock(({ transactions }, at) => void transactions.splice(at, 1)),
  'a payment twice': inBlock(
    ({ transactions }, at) => void transactions.splice(at, 0, ...transactions.slice(at, at + 1)),
  ),
  'a payment without its status': inPayment((payment) => {
    payment.meta = null;
  }),
  'another signature': inPayment(({ transaction: { signatures } }) => {
    signatures[0] = base58.encode(new Uint8Array(64).fill(9));
  }),
  'another fee payer': inPayment(({ transaction: { message } }) => {
    message.accountKeys[0] = base58.encode(new Uint8Array(32).fill(9));
  }),
  'another amount, in instruction and balances alike': inPayment(({ meta, transaction: { message } }) => {
    const transfer = message.instructions[TRANSFER_AT];
    if (transfer === undefined || meta === null) return;
    const data = base58.decode(transfer.data);
    data[AMOUNT_AT] = (data[AMOUNT_AT] ?? 0) ^ 1;
    transfer.data = base58.encode(data);
    const sign = (data[AMOUNT_AT] ?? 0) & 1 ? 1n : -1n;
    const [source] = transfer.accounts;
    for (const balance of meta.postTokenBalances) {
      const more = balance.accountIndex === source ? -sign : sign;
      balance.uiTokenAmount.amount = String(BigInt(balance.uiTokenAmount.amount) + more);
    }
  }),
  'another amount in the instruction': inPayment(({ transaction: { message } }) => {
    const transfer = message.instructions[TRANSFER_AT];
    if (transfer === undefined) return;
    const data = base58.decode(transfer.data);
    data[AMOUNT_AT] = (data[AMOUNT_AT] ?? 0) ^ 0xff;
    transfer.data = base58.encode(data);
  }),
  'another balance afterwards': inPayment(({ meta }) => {
    for (const { uiTokenAmount } of meta?.postTokenBalances ?? []) uiTokenAmount.amount += '1';
  }),
  'another owner': inPayment(({ meta }) => {
    for (const list of [meta?.preTokenBalances, meta?.postTokenBalances])
      for (const balance of list ?? []) balance.owner = base58.encode(new Uint8Array(32).fill(9));
  }),
  'balances left out': inPayment(({ meta }) => {
    meta?.preTokenBalances.pop();
  }),
  'no time': inBlock((block) => {
    block.blockTime = null;
  }),
};

/** How many answers are changed; then the node tells the truth. */
const TIMES = 2;

describe('a lie is found out, and what is read in the end is the chain', () => {
  test.each(Object.keys(LIES))('%s', async (name) => {
    const lie = LIES[name] as (typeof LIES)[string];
    let left = TIMES;
    const node = await startRewritingNode(world.node.url, (call, reply) => {
      if (left === 0) return reply;
      const before = JSON.stringify(reply);
      const told = lie(call, reply);
      if (JSON.stringify(told) !== before) left -= 1;
      return told;
    });
    nodes.push(node);
    const lied = solanaSource(world.chain, [node.url]);
    expect(shown(await lied.read(FROM, final, world.filter))).toEqual(truth(FROM, final));
    expect(left).toBe(0);
    const { retries, contradictions } = lied.counters();
    expect(retries + contradictions).toBeGreaterThan(0);
  });

  test.each(['a block missing in long-term storage', 'a block left out of the list', 'a payment left out'])(
    'told for ever by one URL, %s is read from another',
    async (name) => {
      const node = await startRewritingNode(world.node.url, LIES[name] as (typeof LIES)[string]);
      nodes.push(node);
      const both = solanaSource(world.chain, [node.url, world.node.url]);
      expect(shown(await both.read(FROM, final, world.filter))).toEqual(truth(FROM, final));
    },
  );
});

/** The last payment of the chain: its accounts move no more. */
function lastPayment(): string {
  const signature = truth(FROM, final)
    .flatMap(({ signatures }) => signatures)
    .at(-1);
  if (signature === undefined) throw new Error('there are payments');
  return signature;
}

test.each([
  [1, 'is missed with one URL'],
  [2, 'is found with another URL that has it'],
])('a payment that moved its accounts last, and is left out for ever: %i, it %s', async (urls) => {
  const last = lastPayment();
  const isOther = ({ transaction: { signatures } }: Json['transactions'][number]): boolean =>
    signatures[0] !== last;
  const node = await startRewritingNode(world.node.url, (call, reply) => {
    const block = reply.result as Json | null | undefined;
    return isFull(call) && block
      ? { result: { ...block, transactions: block.transactions.filter(isOther) } }
      : reply;
  });
  nodes.push(node);
  const read = solanaSource(world.chain, [node.url, world.node.url].slice(0, urls));
  const { blocks } = await read.read(FROM, final, world.filter);
  const found = blocks.flatMap(({ transactions }) => transactions.map(({ signature }) => signature));
  const all = truth(FROM, final).flatMap(({ signatures }) => signatures);
  expect(found).toEqual(urls === 1 ? all.slice(0, -1) : all);
  expect(read.counters().contradictions).toBe(urls - 1);
});

test('a skipped slot stands for the block before it, whoever asks', async () => {
  const slot = skippedSlot();
  const [before] = truth(FROM, slot).slice(-1);
  expect(await source.blockAt(slot)).toEqual({
    number: slot,
    hash: before?.hash,
    parentHash: before?.hash,
    time: before?.time,
  });
});
