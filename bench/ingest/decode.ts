import { decodeEventLog, parseAbi } from 'viem';
import { type Hash, address as toAddress } from '../../core/domain/account.ts';
import { chainOf } from '../../core/domain/chains.ts';
import { KNOWN_CHAINS } from '../../core/domain/known-chains.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../../ingest/chain/block-source.ts';
import { rowsOfBatch } from '../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../ingest/decode/context.ts';
import { TOPIC } from '../../ingest/decode/log-kind.ts';
import { buildCatalogue } from '../../ingest/grading/catalogue.ts';
import { inTurn, judged, median, shown } from '../lab/measure.ts';
import type { BenchPart } from '../lab/run.ts';

/**
 * Decoding and grading against a generic ABI decode of the same logs in the same run. The peer only decodes; our side also
 * pairs logs, checks calldata, reads builder codes and grades.
 */

const BASE = chainOf(8453);
const { tokens: BASE_TOKENS = [], registries = {} } = KNOWN_CHAINS.find(({ chain }) => chain === BASE) ?? {};
const RATIO_GOAL = 50;
const SETTLEMENTS_PER_BLOCK = 50;
/** About as many as a window of a busy chain holds; its rows are written and released before the next window. */
const SETTLEMENTS_PER_BATCH = 500;
const BATCHES = { full: 500, quick: 100 };
/** Logs that the generic decoder is timed over at once: a few milliseconds, enough to run warm. */
const GENERIC_LOGS = 50;
const WARM_UP_BATCHES = 100;
/** Every fifth settlement has a named relayer and a builder code, as a mixed day on Base does. */
const NAMED_EVERY = 5;
const NAMED_RELAYER = toAddress('0x8f5cb67b49555e614892b7233cfddebfb746e531');
const BUILDER_SUFFIX = 'a161776a6364705f666163696c31000e0280218021802180218021802180218021';

const digits = (value: number, chars: number) => value.toString(16).padStart(chars, '0');
/** Spread over all digits, so that strings do not share long prefixes that a comparison could skip. */
const scrambled = (value: number, chars: number) =>
  Array.from({ length: Math.ceil(chars / 8) }, (_, part) =>
    digits(Math.imul(value + 1, 0x9e3779b1 + 2 * part) >>> 0, 8),
  )
    .join('')
    .slice(0, chars);

function blockRef(number: number): BlockRef {
  const [hash, parentHash] = [number, number - 1].map((n): Hash => `0x${scrambled(n, 64)}`) as [Hash, Hash];
  return { number, hash, parentHash, time: 1_780_000_000 + 2 * number };
}

/** A batch as JSON.parse would build it from a node's answer: no string is shared between logs. */
function makeBatch(first: number): BlockBatch {
  const address = BASE_TOKENS[0]?.address ?? NAMED_RELAYER;
  const made = { logs: [] as object[], transactions: [] as TransactionFacts[], blocks: [] as BlockRef[] };
  for (let index = first; index < first + SETTLEMENTS_PER_BATCH; index++) {
    const inBlock = index % SETTLEMENTS_PER_BLOCK;
    if (inBlock === 0) made.blocks.push(blockRef(index / SETTLEMENTS_PER_BLOCK + 1));
    const block = made.blocks.at(-1) ?? blockRef(0);
    const hash: Hash = `0x${scrambled(index, 64)}`;
    const payer = scrambled(index % 20_011, 40).padStart(64, '0');
    const payee = scrambled(index % 997, 40).padStart(64, '0');
    const amount = digits(1_000 + index, 64);
    const place = { address, blockNumber: block.number, blockHash: block.hash, transactionHash: hash };
    const authorized = [TOPIC.authorizationUsed, `0x${payer}`, `0x${scrambled(index + 7, 64)}`];
    const transferred = [TOPIC.transfer, `0x${payer}`, `0x${payee}`];
    made.logs.push(
      { ...place, topics: authorized, data: '0x', logIndex: 2 * inBlock },
      { ...place, topics: transferred, data: `0x${amount}`, logIndex: 2 * inBlock + 1 },
    );
    const named = index % NAMED_EVERY === 0;
    const input = `0xe3ee160e${payer}${payee}${amount}${scrambled(index, 320)}${named ? BUILDER_SUFFIX : ''}`;
    const from = named ? NAMED_RELAYER : toAddress(`0x${scrambled(index % 31, 40)}`);
    made.transactions.push({ hash, from, to: address, input });
  }
  const { logs, transactions, blocks } = JSON.parse(JSON.stringify(made)) as Omit<typeof made, 'logs'> & {
    logs: RawLog[];
  }; // what was just written
  return {
    ...{ from: blocks[0]?.number ?? 0, to: blocks.at(-1)?.number ?? 0, blocks, logs },
    transactions: new Map(transactions.map((tx) => [tx.hash, tx])),
  };
}

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
]);

function decodeGenerically(logs: readonly RawLog[]): void {
  for (const { topics, data } of logs)
    decodeEventLog({ abi: ABI, topics: topics as [Hash, ...Hash[]], data: data as Hash });
}

function logsPerSecond(logCount: number, decode: () => void): number {
  const start = performance.now();
  decode();
  return logCount / ((performance.now() - start) / 1_000);
}

function ourDecoder(): (batch: BlockBatch) => void {
  const catalogue = buildCatalogue({ facilitators: [], payees: [] });
  const context = decodeContextOf({ chain: BASE, tokens: BASE_TOKENS, registries }, catalogue);
  return (batch) => {
    const { settlements, deadLetters } = rowsOfBatch(batch, context, catalogue);
    if (settlements.length !== SETTLEMENTS_PER_BATCH || deadLetters.length > 0)
      throw new Error(`the bench decoded ${settlements.length} of ${SETTLEMENTS_PER_BATCH} settlements`);
  };
}

/**
 * Both decoders in turn, over strings that were parsed a moment ago, as in the pipeline: nothing was hashed or flattened
 * before. Medians over pieces of a few milliseconds at most: on a busy machine most pieces run undisturbed, and the disturbed ones
 * of either side do not count. The first batches only warm up: an indexer runs for months.
 */
export const decode: BenchPart = {
  name: 'decode',
  summary: 'decode and grade against a generic ABI decode of the same logs',
  async run({ sized }) {
    const decodeOurs = ourDecoder();
    let batch = makeBatch(0);
    const race = await inTurn(
      {
        ours(round) {
          batch = makeBatch(round * SETTLEMENTS_PER_BATCH);
          return logsPerSecond(batch.logs.length, () => decodeOurs(batch));
        },
        generic() {
          const few = batch.logs.slice(0, GENERIC_LOGS);
          return logsPerSecond(few.length, () => decodeGenerically(few));
        },
      },
      { rounds: sized(BATCHES), warmUp: WARM_UP_BATCHES },
    );
    const [ours, generic] = [median(race.ours), median(race.generic)];
    return [
      shown('decode-generic-abi', generic, 'logs/s'),
      shown('decode-and-grade', ours, 'logs/s'),
      judged('decode-and-grade-vs-generic', ours / generic, 'x', '>=', RATIO_GOAL),
    ];
  },
};
