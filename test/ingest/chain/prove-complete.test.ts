import { expect, test } from 'vitest';
import type { Address } from '../../../core/domain/address.ts';
import type { Hash } from '../../../core/domain/settlement.ts';
import { createLog } from '../../../core/log.ts';
import type { LogFilter, RawLog } from '../../../ingest/chain/block-source.ts';
import { createBlooms } from '../../../ingest/chain/logs-bloom.ts';
import { createProver, fingerprint } from '../../../ingest/chain/prove-complete.ts';
import type { BlockAnswer } from '../../../ingest/chain/read-answers.ts';
import type { RpcPool } from '../../../ingest/chain/rpc/pool.ts';

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

test('what is remembered of a proved block does not grow with its logs', () => {
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

/** How many of these blocks are asked for by hash: what each one's header holds, and what the range answer tells of it. */
async function proofsOfAnswer(
  blocks: readonly { readonly held: readonly RawLog[]; readonly told: readonly RawLog[] }[],
  by: LogFilter,
): Promise<number> {
  let asked = 0;
  const pool = {
    ask: () => {
      asked += 1;
      return Promise.resolve([]);
    },
  } as unknown as RpcPool; // the prover asks, and nothing else
  const answers = blocks.map(
    ({ held }, at): BlockAnswer => ({
      number: at + 1,
      hash: hashOf(`1${at}`),
      parentHash: hashOf('06'),
      time: 1,
      bloom: createBlooms().of(held),
      transactionCount: 0,
      transactions: [],
    }),
  );
  const told = blocks.flatMap((block, at) => block.told.map((one) => ({ ...one, blockNumber: at + 1 })));
  await createProver({ pool, log: createLog('silent', 'test') }).prove(answers, told, by);
  return asked;
}

test.each<[string, readonly (readonly [Address, Hash])[], number]>([
  ['a contract of ours with an event that matters from it', [[REGISTRY, RATED]], 1],
  [
    'the same beside others',
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

test('every block with logs of ours is asked for, whatever its header says', async () => {
  const [PAYER, SHOP] = [hashOf('41'), hashOf('42')];
  const bare = { ...log, address: TOKEN, topics: [TRANSFER, hashOf('45'), SHOP], logIndex: 0 };
  const paid = { ...log, address: TOKEN, topics: [TRANSFER, PAYER, SHOP], logIndex: 1 };
  const whole = { held: [bare, paid], told: [bare, paid] };
  // The bits of the second log are all set by the first and by others: its loss is in no header.
  expect(await proofsOfAnswer([whole, { held: [bare, paid, bare], told: [bare, paid] }], filter)).toBe(2);
});
