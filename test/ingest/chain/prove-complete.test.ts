import { expect, test } from 'vitest';
import type { Address, Hash } from '../../../core/domain/account.ts';
import { createLog } from '../../../core/log.ts';
import type { LogFilter, RawLog } from '../../../ingest/chain/block-source.ts';
import { createBlooms } from '../../../ingest/chain/logs-bloom.ts';
import { createProver, fingerprint } from '../../../ingest/chain/prove-complete.ts';
import type { BlockAnswer } from '../../../ingest/chain/read-answers.ts';
import type { Question, RpcPool } from '../../../ingest/chain/rpc/pool.ts';

const hashOf = (byte: string) => `0x${byte.repeat(32)}` as Hash; // 32 bytes
const log: RawLog = {
  address: `0x${'aa'.repeat(20)}` as Address, // 20 bytes
  topics: [hashOf('01'), hashOf('02')],
  data: '0x05',
  blockNumber: 1,
  blockHash: hashOf('03'),
  transactionHash: hashOf('04'),
  logIndex: 7,
};

test('the memory of a proved block does not grow with its logs', () => {
  const many = Array.from({ length: 1_000 }, (_, logIndex) => ({ ...log, logIndex }));
  expect(fingerprint(many)).toHaveLength(fingerprint([log]).length);
});

test.each<[string, Partial<RawLog>]>([
  ['place', { logIndex: 8 }],
  ['transaction', { transactionHash: hashOf('05') }],
  ['contract', { address: `0x${'bb'.repeat(20)}` as Address }],
  ['topics', { topics: [hashOf('01')] }],
  ['data', { data: '0x06' }],
])('a log with another %s makes another fingerprint', (_, change) => {
  expect(fingerprint([{ ...log, ...change }])).not.toBe(fingerprint([log]));
  expect(fingerprint([log, { ...log, ...change }])).not.toBe(fingerprint([log, log]));
});

const addressOf = (byte: string): Address => `0x${byte.repeat(20)}` as Address; // 20 bytes
const [TOKEN, REGISTRY, STRANGER] = [addressOf('aa'), addressOf('bb'), addressOf('cc')];
const [TRANSFER, RATED] = [hashOf('11'), hashOf('22')];
const filter: LogFilter = {
  addresses: [TOKEN, REGISTRY],
  topics: [TRANSFER, RATED],
  matters: [
    { addresses: [TOKEN], topics: [TRANSFER] },
    { addresses: [REGISTRY], topics: [RATED] },
  ],
  isCandidate: () => false,
};

/** How many blocks are asked for by hash when a block's header holds these logs and the range answer none. */
function proofsOf(held: readonly (readonly [Address, Hash])[], by: LogFilter): Promise<number> {
  return proofsOfAnswer(
    [{ held: held.map(([address, topic]) => ({ ...log, address, topics: [topic] })), told: [] }],
    by,
  );
}

/**
 * How many of these blocks are read whole: what each one's header holds, what the range answer tells of it, and what the receipt of its
 * last transaction shows of that transaction's logs (`held` too, unless it says otherwise).
 */
async function proofsOfAnswer(
  blocks: readonly {
    readonly held: readonly RawLog[];
    readonly told: readonly RawLog[];
    readonly receipt?: unknown;
  }[],
  by: LogFilter,
): Promise<number> {
  let asked = 0;
  const pool = {
    ask: () => {
      asked += 1;
      return Promise.resolve([]);
    },
    askAll: (questions: readonly Question<unknown>[]) =>
      Promise.resolve(questions.map(({ params: [transaction], read }) => read(receiptOf(transaction)))),
  } as unknown as RpcPool; // the prover asks, and nothing else
  const receiptOf = (transaction: unknown): unknown => {
    const at = blocks.findIndex(({ held }) => held.at(-1)?.transactionHash === transaction);
    const block = blocks[at];
    if (block?.receipt !== undefined) return block.receipt;
    const logs = block?.held.filter(({ transactionHash }) => transactionHash === transaction) ?? [];
    return { blockHash: hashOf(`1${at}`), logs: logs.map((one) => onWire(one, at)) };
  };
  const answers = blocks.map(
    ({ held }, at): BlockAnswer => ({
      number: at + 1,
      hash: hashOf(`1${at}`),
      parentHash: hashOf('06'),
      time: 1,
      bloom: createBlooms().of(held),
      transactionCount: 0,
      lastTransaction: held.at(-1)?.transactionHash ?? null,
      transactions: [],
    }),
  );
  const told = blocks.flatMap((block, at) =>
    block.told.map((one) => ({ ...one, blockNumber: at + 1, blockHash: hashOf(`1${at}`) })),
  );
  await createProver({ pool, log: createLog('silent', 'test') }).prove(answers, told, by);
  return asked;
}

test.each<[string, readonly (readonly [Address, Hash])[], number]>([
  ['a contract of ours with an event that matters from it', [[REGISTRY, RATED]], 1],
  [
    'the same among others',
    [
      [STRANGER, TRANSFER],
      [REGISTRY, RATED],
    ],
    1,
  ],
  [
    'another contract’s event and a log of ours that does not matter',
    [
      [STRANGER, TRANSFER],
      [REGISTRY, hashOf('33')],
    ],
    0,
  ],
  ['an event of ours from a stranger', [[STRANGER, RATED]], 0],
])('%s', async (_, held, proofs) => {
  expect(await proofsOf(held, filter)).toBe(proofs);
});

test('without groups every event matters from every contract', async () => {
  const { addresses, topics, isCandidate } = filter;
  expect(
    await proofsOf(
      [
        [STRANGER, TRANSFER],
        [REGISTRY, hashOf('33')],
      ],
      { addresses, topics, isCandidate },
    ),
  ).toBe(1);
});

function onWire(one: RawLog, at: number): object {
  const [blockNumber, logIndex] = [at + 1, one.logIndex].map((value) => `0x${value.toString(16)}`);
  return { ...one, blockNumber, logIndex, blockHash: hashOf(`1${at}`) };
}

const [PAYER, SHOP] = [hashOf('41'), hashOf('42')];
const bare = { ...log, address: TOKEN, topics: [TRANSFER, hashOf('45'), SHOP], logIndex: 0 };
const paid = {
  ...log,
  address: TOKEN,
  topics: [TRANSFER, PAYER, SHOP],
  logIndex: 1,
  transactionHash: hashOf('07'),
};
/** Its bits are all set by the logs before it: its loss is in no header. */
const last = { ...paid, logIndex: 2 };
const foreign = { ...log, address: STRANGER, logIndex: 1 };

test.each<[string, readonly RawLog[], readonly RawLog[], unknown, number]>([
  ['whose logs are all ours and end with their last receipt', [bare, paid], [bare, paid], undefined, 0],
  ['without the last log', [bare, paid, last], [bare, paid], undefined, 1],
  ['without the last transaction', [bare, paid], [bare], undefined, 1],
  ['without the first log', [bare, paid, last], [paid, last], undefined, 1],
  ['with a log at another place', [bare, paid], [bare, { ...paid, logIndex: 7 }], undefined, 1],
  ['with logs of others too', [bare, foreign, last], [bare, last], undefined, 1],
  ['whose last receipt the node has not', [bare, paid], [bare, paid], null, 1],
  [
    'whose last receipt is of another fork',
    [bare, paid],
    [bare, paid],
    { blockHash: hashOf('99'), logs: [] },
    1,
  ],
])('a block %s', async (_, held, told, receipt, proofs) => {
  expect(await proofsOfAnswer([{ held, told, ...(receipt === undefined ? {} : { receipt }) }], filter)).toBe(
    proofs,
  );
});
