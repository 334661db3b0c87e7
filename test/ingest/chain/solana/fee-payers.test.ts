import { getAddMemoInstruction } from '@solana-program/memo';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sellersOfSeed } from '../../../../demo/solana/random-world.ts';
import { signTransaction, sponsoredPayment } from '../../../../demo/solana/transactions.ts';
import { solanaWallet } from '../../../../demo/solana/wallets.ts';
import type { SolanaBatch } from '../../../../ingest/chain/solana/block.ts';
import type { SolanaSource } from '../../../../ingest/chain/solana/source.ts';
import { type SolanaChain, solanaSource, startSolanaChain } from '../../../kit/solana-chain.ts';
import { type Call, type Reply, type RewritingNode, startRewritingNode } from '../rewriting-node.ts';

/** The transactions of named fee payers alone, beside the same range read whole. */

const SEED = 23;
const BLOCKS = 140;
let world: SolanaChain;
let source: SolanaSource;
let final: number;
let whole: SolanaBatch;
/** A payment that names a named fee payer, and whose fee another one paid. */
let mentioned: string;
const nodes: RewritingNode[] = [];

beforeAll(async () => {
  world = await startSolanaChain(SEED);
  await world.grow(BLOCKS);
  mentioned = await payWithNote();
  await world.grow(5);
  final = world.node.ledger.slot('finalized');
  source = solanaSource(world.chain, [world.node.url]);
  whole = await source.read(0, final, world.filter);
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
});
afterAll(() => world?.node.stop());

const named = () => new Set<string>(world.feePayers.slice(0, 2));
const filter = () => ({ ...world.filter, feePayers: named() });

/** What is read of the payments: where they are, and all that a decoder reads of them. */
const paymentsOf = ({ blocks }: SolanaBatch) =>
  blocks.flatMap(({ number, hash, time, transactions }) =>
    transactions.map((transaction) => ({ number, hash, time, transaction })),
  );
const owed = () =>
  paymentsOf(whole).filter(({ transaction: { accounts } }) => named().has(accounts[0] ?? ''));

async function payWithNote(): Promise<string> {
  const { ledger, network } = world.node;
  const wallet = (name: string) => solanaWallet(`${SEED}/${name}`);
  const [named, other, payer] = await Promise.all([
    wallet('fee-payer/0'),
    wallet('fee-payer/2'),
    wallet('agent/0'),
  ]);
  const [payee] = await sellersOfSeed(SEED);
  if (payee === undefined) throw new Error('there are sellers');
  const payment = await sponsoredPayment({
    feePayer: other,
    payer,
    payee,
    mint: network.usdc,
    amount: 1_234n,
  });
  const note = getAddMemoInstruction({ memo: 'a note', signers: [named] });
  const wire = await signTransaction(ledger, { ...payment, instructions: [...payment.instructions, note] });
  const outcome = ledger.submit(wire);
  if ('refused' in outcome) throw new Error('the chain takes it');
  return outcome.signature;
}

async function through(rewrite: (call: Call, reply: Reply) => Reply): Promise<RewritingNode> {
  const node = await startRewritingNode(world.node.url, rewrite);
  nodes.push(node);
  return node;
}

test('are those of whole blocks, each in its place, and none of another fee payer', async () => {
  const batch = await source.read(0, final, filter());
  expect(paymentsOf(batch)).toEqual(owed());
  expect(owed().length).toBeGreaterThan(50);
  const isMentioned = ({ transaction }: ReturnType<typeof owed>[number]) =>
    transaction.signature === mentioned;
  expect([paymentsOf(whole).some(isMentioned), paymentsOf(batch).some(isMentioned)]).toEqual([true, false]);
  expect(owed().length).toBeLessThan(paymentsOf(whole).length);
  expect(batch.blocks.at(-1)?.hash).toBe(whole.blocks.at(-1)?.hash);
});

test('link from window to window, newest first, and no page is asked for twice', async () => {
  const node = await through((_call, reply) => reply);
  const own = solanaSource(world.chain, [node.url]);
  const found: SolanaBatch[] = [];
  for (let to = final; to >= 0; to -= 7) found.unshift(await own.read(Math.max(0, to - 6), to, filter()));
  expect(found.flatMap(paymentsOf)).toEqual(owed());
  for (const [at, { blocks, to }] of found.entries()) {
    expect(blocks.at(-1)).toMatchObject({ number: to, hash: (await own.blockAt(to))?.hash });
    if (at > 0) expect(blocks[0]?.parentHash).toBe(found[at - 1]?.blocks.at(-1)?.hash);
  }
  const pages = node.calls.filter(({ method }) => method === 'getSignaturesForAddress');
  expect(pages.length).toBeLessThan(3 * named().size * found.length);
});

type Json = Record<string, unknown>;
const of =
  (method: string, change: (result: never) => unknown) =>
  (call: Call, reply: Reply): Reply =>
    call.method === method && reply.result ? { result: change(reply.result as never) } : reply;

const LIES: Readonly<Record<string, (call: Call, reply: Reply) => Reply>> = {
  'a list out of order': of('getSignaturesForAddress', (page: Json[]) => page.toReversed()),
  'a list of another slot': of('getSignaturesForAddress', (page: Json[]) =>
    page.map((entry, at) => (at === 0 ? { ...entry, slot: Number(entry['slot']) + 1 } : entry)),
  ),
  'a transaction that is not there': (call, reply) =>
    call.method === 'getTransaction' ? { result: null } : reply,
  'a transaction of another slot': of('getTransaction', (one: Json) => ({
    ...one,
    slot: Number(one['slot']) + 1,
  })),
  'a transaction without its balances': of('getTransaction', (one: { meta: Json }) => ({
    ...one,
    meta: { ...one.meta, preTokenBalances: one.meta['postTokenBalances'] },
  })),
  'a block without the listed transaction': of('getBlock', (block: Json) =>
    Array.isArray(block['signatures']) ? { ...block, signatures: block['signatures'].slice(0, -1) } : block,
  ),
  'a node that is behind': (call, reply) =>
    call.method === 'getSignaturesForAddress'
      ? { error: { code: -32_016, message: 'Minimum context slot has not been reached' } }
      : reply,
};

test.each(Object.keys(LIES))('%s, told for ever by one URL, is not believed', async (name) => {
  const liar = await through(LIES[name] as (typeof LIES)[string]);
  const both = solanaSource(world.chain, [liar.url, world.node.url]);
  expect(paymentsOf(await both.read(0, final, filter()))).toEqual(owed());
  const { retries, contradictions } = both.counters();
  expect(retries + contradictions).toBeGreaterThan(0);
});

test('what a node leaves out of its list is missing: no block proves it', async () => {
  const last = owed().at(-1)?.transaction.signature;
  const liar = await through(
    of('getSignaturesForAddress', (page: Json[]) => page.filter(({ signature }) => signature !== last)),
  );
  const read = await solanaSource(world.chain, [liar.url]).read(0, final, filter());
  expect(paymentsOf(read)).toEqual(owed().slice(0, -1));
});
