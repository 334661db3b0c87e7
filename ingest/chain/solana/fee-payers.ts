import { list, record } from '../read-answers.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import type { Question, RpcPool } from '../rpc/pool.ts';
import type { SolanaBatch, SolanaBlock, SolanaFilter, SolanaTransaction } from './block.ts';
import {
  blockQuestion,
  COMMITMENT,
  firstFrom,
  headerQuestion,
  standingAt,
  timeOf,
  trusting,
} from './questions.ts';
import { blockOf, type HeaderAnswer, malformed, readPlaces, readTransactions, slot } from './read-block.ts';
import { checkFirst } from './slots.ts';

/**
 * Reads the transactions that named fee payers paid for, and nothing else of the blocks: for chains of which whole blocks are too dear. Rows
 * are the same as those of whole blocks, in the same places. Payments of other fee payers are missing, and so is whatever the node
 * leaves out of its lists: no block proves them. Hence ranges that are read so are recorded as partial (write/checkpoints.ts).
 *
 * A list of signatures says in which slots the transactions are; getBlock with the signatures alone says where they stand in them;
 * getTransaction gives them, in the form of getBlock. Each is checked by its balances and its signature, as those of whole blocks are.
 *
 * Cost of a range: one getSignaturesForAddress for each fee payer and 1,000 transactions that name it, one getBlock (some 100 kB) for each
 * slot with one that did not fail, one getTransaction for each of these, and four small calls for the ends.
 */
export type FeePayerReader = (range: FeePayerRange) => Promise<SolanaBatch>;

export interface FeePayerRange {
  readonly from: number;
  readonly to: number;
  readonly filter: Pick<SolanaFilter, 'mints' | 'isCandidate'>;
  readonly feePayers: ReadonlySet<string>;
}

export function createFeePayerReader(pool: RpcPool): FeePayerReader {
  const signatures = createSignatureLists(pool);
  return async (range) => {
    const { from, to, feePayers } = range;
    const first = await firstOf(pool, range);
    const last = { ...(await standingAt(pool, to)), parentNumber: to - 1, transactions: [] };
    const listed = await Promise.all([...feePayers].map((feePayer) => signatures(feePayer, from, to)));
    const heads = await headsOf(pool, listed.flat());
    const ends = byNumber(first === null ? [last] : [first, last]);
    trusting(pool, heads, () => checkForks(heads, ends));
    const paid = await readPayments(pool, range, heads);
    const blocks = [...byNumber([...ends.values(), ...paid]).values()];
    return { from, to, blocks: blocks.sort((a, b) => a.number - b.number) };
  };
}

/** The last one of each number. */
function byNumber(blocks: readonly SolanaBlock[]): Map<number, SolanaBlock> {
  return new Map(blocks.map((block) => [block.number, block]));
}

function checkForks(heads: readonly HeaderAnswer[], ends: ReadonlyMap<number, SolanaBlock>): void {
  for (const { number, hash } of heads)
    if ((ends.get(number)?.hash ?? hash) !== hash)
      throw new ProviderContradiction('wrong-fork', `two answers name two blocks at slot ${number}`);
}

/** The first block of the range, by which ranges link; null where all of its slots were skipped. */
async function firstOf(pool: RpcPool, { from, to }: FeePayerRange): Promise<SolanaBlock | null> {
  const number = await firstFrom(pool, from);
  if (number > to) return null;
  const header = await pool.ask(headerQuestion(number));
  trusting(pool, [header], () => checkFirst(from, header));
  return withTime(pool, header, []);
}

type Head = ReturnType<typeof readPlaces>;

/** Then the list is asked for anew, which may be what was wrong. */
const HEAD_ATTEMPTS_MAX = 3;

/** The slots of these transactions, and where they stand in them. */
function headsOf(pool: RpcPool, listed: readonly Listed[]): Promise<Head[]> {
  const bySlot = new Map<number, Set<string>>();
  for (const { slot: number, signature } of listed)
    bySlot.set(number, (bySlot.get(number) ?? new Set<string>()).add(signature));
  const questions = [...bySlot].map(([number, wanted]) => ({
    ...blockQuestion(number, 'signatures', (result) => readPlaces(result, number, wanted)),
    givesUp: (_trouble: unknown, attempts: number) => attempts >= HEAD_ATTEMPTS_MAX,
  }));
  return pool.askAll(questions, 1);
}

/** Of these, the candidates whose fee one of the fee payers paid. */
async function readPayments(
  pool: RpcPool,
  { filter, feePayers }: FeePayerRange,
  heads: readonly Head[],
): Promise<SolanaBlock[]> {
  const answers = await pool.askAll(
    heads.flatMap((head) => [...head.places].map((place) => transactionQuestion(head, place, filter))),
  );
  const paid = new Map<number, SolanaTransaction[]>(heads.map(({ number }) => [number, []]));
  for (const { number, transactions } of answers)
    paid
      .get(number)
      ?.push(...transactions.filter(({ accounts: [feePayer = ''] }) => feePayers.has(feePayer)));
  return Promise.all(
    heads.map((head) => {
      const transactions = paid.get(head.number) ?? [];
      return withTime(
        pool,
        head,
        transactions.sort((a, b) => a.index - b.index),
      );
    }),
  );
}

async function withTime(
  pool: RpcPool,
  header: HeaderAnswer,
  transactions: readonly SolanaTransaction[],
): Promise<SolanaBlock> {
  const time = header.time ?? (await timeOf(pool, header.parentNumber));
  return blockOf({ ...header, transactions }, time);
}

/** One transaction, read as if it were the only one of its block. */
function transactionQuestion(
  head: HeaderAnswer,
  [signature, index]: readonly [string, number],
  filter: FeePayerRange['filter'],
): Question<Pick<SolanaBlock, 'number' | 'transactions'>> {
  return {
    method: 'getTransaction',
    params: [signature, { ...COMMITMENT, encoding: 'json', maxSupportedTransactionVersion: 0 }],
    read(result) {
      if (result === null) throw new RpcFailure('absent', `the node has no transaction ${signature}`);
      const answer = record(result, 'transaction');
      const signatures = list(record(answer['transaction'], 'transaction')['signatures'], 'signatures');
      if (answer['slot'] !== head.number || signatures[0] !== signature)
        throw new ProviderContradiction('wrong-block', `another transaction or slot than ${signature} has`);
      return readTransactions(head, [[index, answer]], filter, false);
    },
  };
}

/** A transaction that names an account and did not fail. */
interface Listed {
  readonly signature: string;
  readonly slot: number;
}

interface Entry extends Listed {
  readonly hasFailed: boolean;
}

/** As many as a node answers in one call. */
const PAGE_MAX = 1_000;
/** The newest page: at the head a fee payer has few new transactions. */
const NEWEST_PAGE_MAX = 50;
const SIGNATURE_MAX_CHARS = 88;

/**
 * Lists the transactions of slots [from, to] that name an account. Nodes list newest first, and know no slots to begin at: so the end of each
 * page is kept, and a range is looked for from the page that ends right above it. An unknown `until` is answered as if it were absent
 * (solana-labs/solana 24620), so pages are cut here.
 */
function createSignatureLists(pool: RpcPool) {
  /** By account, from the newest to the oldest. */
  const pageEnds = new Map<string, Listed[]>();
  return async (account: string, from: number, to: number): Promise<Listed[]> => {
    const ends = pageEnds.get(account) ?? [];
    pageEnds.set(account, ends);
    const found = new Map<string, Entry>();
    let before = ends.findLast((end) => end.slot > to);
    for (;;) {
      const page = await pool.ask(pageQuestion(account, to, before));
      for (const entry of page) found.set(entry.signature, entry);
      const next = nextEnd(page);
      if (next === undefined || (page.at(-1)?.slot ?? 0) < from) break;
      before = next;
      if (ends.every((end) => end.slot > next.slot))
        ends.push({ signature: next.signature, slot: next.slot });
    }
    const isWanted = (entry: Entry): boolean => entry.slot >= from && entry.slot <= to && !entry.hasFailed;
    return [...found.values()].filter(isWanted);
  };
}

/**
 * Where the page after this one begins; undefined where there is none. Within one slot nodes order differently (solana-labs/solana 21720): the
 * slot in which a page ends is listed once more.
 */
function nextEnd(page: readonly Entry[]): Entry | undefined {
  const oldest = page.at(-1);
  return oldest && (page.findLast((entry) => entry.slot > oldest.slot) ?? oldest);
}

function pageQuestion(account: string, to: number, before: Listed | undefined): Question<readonly Entry[]> {
  const range =
    before === undefined ? { limit: NEWEST_PAGE_MAX } : { limit: PAGE_MAX, before: before.signature };
  return {
    method: 'getSignaturesForAddress',
    // A node that has not come to the end of the range would leave its newest transactions out.
    params: [account, { ...COMMITMENT, ...range, minContextSlot: to }],
    read(result) {
      const page = list(result, 'signatures').map(readEntry);
      if (page.some((entry, at) => entry.slot > ((at === 0 ? before : page[at - 1])?.slot ?? entry.slot)))
        throw malformed(`the transactions of ${account} are not in descending order`);
      return page;
    },
  };
}

function readEntry(value: unknown): Entry {
  const { signature, slot: number, err } = record(value, 'signature') as Record<string, unknown>; // each is checked
  if (typeof signature !== 'string' || signature.length > SIGNATURE_MAX_CHARS)
    throw malformed('a listed signature is no text');
  if (err === undefined) throw malformed('a listed transaction does not say whether it failed');
  return { signature, slot: slot(number, 'slot of a transaction'), hasFailed: err !== null };
}
