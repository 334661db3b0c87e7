import { type Abi, decodeEventLog, parseAbi } from 'viem';
import { address } from '../../core/domain/address.ts';
import { chainOf, KNOWN_CHAINS } from '../../core/domain/chains.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../../ingest/chain/block-source.ts';
import { rowsOfBatch } from '../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../ingest/decode/context.ts';
import { TOPIC } from '../../ingest/decode/log-kind.ts';
import { buildCatalogue } from '../../ingest/grading/catalogue.ts';
import type { Figure } from '../support/figure.ts';
import { median } from '../support/quantiles.ts';

/**
 * Decoding and grading against a generic ABI decode of the same logs in the same run. The peer only decodes; our side also
 * pairs logs, checks calldata, reads builder codes and grades.
 */

const BASE = chainOf(8453);
const { tokens: BASE_TOKENS = [], registries = {} } =
  KNOWN_CHAINS.find(({ chainId }) => chainId === 8453) ?? {};
const goalRatio = 50;
const settlementsPerBlock = 50;
/** About as many as a window of a busy chain holds; its rows are written and released before the next window. */
const settlementsPerBatch = 500;
const fullBatches = 500;
const quickBatches = 100;
/** Logs that the generic decoder is timed over at once: a few milliseconds, enough to run warm. */
const genericLogs = 50;
const warmUpBatches = 100;
/** Every fifth settlement has a named relayer and a builder code, as a mixed day on Base does. */
const namedEvery = 5;
const NAMED_RELAYER = address('0x8f5cb67b49555e614892b7233cfddebfb746e531');
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
  return {
    number,
    hash: `0x${scrambled(number, 64)}`,
    parentHash: `0x${scrambled(number - 1, 64)}`,
    time: 1_780_000_000 + 2 * number,
  };
}

/** A batch as JSON.parse would build it from a node's answer: no string is shared between logs. */
function makeBatch(first: number): BlockBatch {
  const token = BASE_TOKENS[0]?.address ?? '';
  const blocks: BlockRef[] = [];
  const logs: RawLog[] = [];
  const transactions: TransactionFacts[] = [];
  for (let index = first; index < first + settlementsPerBatch; index++) {
    const inBlock = index % settlementsPerBlock;
    if (inBlock === 0) blocks.push(blockRef(index / settlementsPerBlock + 1));
    const block = blocks.at(-1) ?? blockRef(0);
    const hash: Hash = `0x${scrambled(index, 64)}`;
    const payer = scrambled(index % 20_011, 40).padStart(64, '0');
    const payee = scrambled(index % 997, 40).padStart(64, '0');
    const amount = digits(1_000 + index, 64);
    const place = { address: token, blockNumber: block.number, blockHash: block.hash, transactionHash: hash };
    const nonce = scrambled(index + 7, 64);
    logs.push(
      {
        ...place,
        topics: [TOPIC.authorizationUsed, `0x${payer}`, `0x${nonce}`],
        data: '0x',
        logIndex: 2 * inBlock,
      } as RawLog,
      {
        ...place,
        topics: [TOPIC.transfer, `0x${payer}`, `0x${payee}`],
        data: `0x${amount}`,
        logIndex: 2 * inBlock + 1,
      } as RawLog,
    );
    const named = index % namedEvery === 0;
    const input = `0xe3ee160e${payer}${payee}${amount}${scrambled(index, 320)}${named ? BUILDER_SUFFIX : ''}`;
    const from = named ? NAMED_RELAYER : address(`0x${scrambled(index % 31, 40)}`);
    transactions.push({ hash, from, to: address(token), input });
  }
  const fresh = JSON.parse(JSON.stringify({ logs, transactions, blocks })) as {
    logs: RawLog[];
    transactions: TransactionFacts[];
    blocks: BlockRef[];
  }; // what was just written
  return {
    from: fresh.blocks[0]?.number ?? 0,
    to: fresh.blocks.at(-1)?.number ?? 0,
    blocks: fresh.blocks,
    logs: fresh.logs,
    transactions: new Map(fresh.transactions.map((tx) => [tx.hash, tx])),
  };
}

const ABI: Abi = parseAbi([
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
    if (settlements.length !== settlementsPerBatch || deadLetters.length > 0)
      throw new Error(`the bench decoded ${settlements.length} of ${settlementsPerBatch} settlements`);
  };
}

/**
 * Both decoders in turn, over strings that were parsed a moment ago, as in the pipeline: nothing was hashed or flattened
 * before. Medians over pieces of a few milliseconds at most: on a busy machine most pieces run undisturbed, and the disturbed ones
 * of either side do not count. The first batches only warm up: an indexer runs for months.
 */
export async function benchDecode({ quick }: { readonly quick: boolean }): Promise<Figure[]> {
  const decodeOurs = ourDecoder();
  const ours: number[] = [];
  const generic: number[] = [];
  for (let index = 0; index < warmUpBatches + (quick ? quickBatches : fullBatches); index++) {
    const batch = makeBatch(index * settlementsPerBatch);
    const few = batch.logs.slice(0, genericLogs);
    ours.push(logsPerSecond(batch.logs.length, () => decodeOurs(batch)));
    generic.push(logsPerSecond(few.length, () => decodeGenerically(few)));
  }
  const decoded = median(ours.slice(warmUpBatches));
  const peer = median(generic.slice(warmUpBatches));
  const ratio = decoded / peer;
  const shown = { unit: 'logs/s', goal: '-', ok: true };
  return [
    { name: 'decode-generic-abi', value: peer, ...shown },
    { name: 'decode-and-grade', value: decoded, ...shown },
    {
      name: 'decode-and-grade-vs-generic',
      value: ratio,
      unit: 'x',
      goal: `>=${goalRatio}`,
      ok: ratio >= goalRatio,
    },
  ];
}
