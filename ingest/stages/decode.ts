import type { Address } from '../../src/domain/address.ts';
import { USD_MICROS_MAX, usdMicros } from '../../src/domain/amount.ts';
import type { TokenFacts } from '../../src/domain/known-chains.ts';
import type { Hash } from '../../src/domain/settlement.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../sources/block-source.ts';
import { parseBuilderCode } from './builder-code.ts';
import { callShapeOf } from './call-shape.ts';
import { type DeadLetter, type DeadLetterReason, deadLetterOf } from './dead-letter.ts';
import type { DecodeContext } from './decode-context.ts';
import { addressInWord, uintInWord } from './hex-word.ts';
import { KIND, kindsOf } from './log-kind.ts';
import { MARKER, pairLogs } from './pair.ts';
import type { Marker, UngradedSettlement } from './ungraded-settlement.ts';

export interface Decoded {
  readonly found: UngradedSettlement[];
  readonly deadLetters: DeadLetter[];
}

/** What is read once per transaction, however many payments it holds. */
interface OpenTransaction extends TransactionFacts {
  readonly block: BlockRef;
  readonly builderFacilitator: string;
  readonly builderApps: string;
  readonly callsX402Contract: boolean;
}

/**
 * Turns logs into settlements by slicing fixed-layout words; no ABI decoder is involved. A log that should have become a
 * settlement and cannot is a dead letter. Throws only where the source broke its contract (a block or transaction that a
 * settlement needs is missing): that is a bug, not data. Source: protocol.md 2.1–2.5.
 */
export function decodeBatch(batch: BlockBatch, context: DecodeContext): Decoded {
  const { logs } = batch;
  const decoded: Decoded = { found: [], deadLetters: [] };
  const kinds = kindsOf(logs, context);
  const markers = pairLogs(logs, kinds);
  let open: OpenTransaction | undefined;
  let blockAt = 0;
  for (let at = 0; at < logs.length; at++) {
    const log = logs[at];
    if (log === undefined || kinds[at] === KIND.other || kinds[at] === KIND.proxySettled) continue;
    const refused = refusalOf(kinds[at], markers[at]);
    if (refused) decoded.deadLetters.push(deadLetterOf(context.chain, log, refused));
    if (kinds[at] !== KIND.transfer) continue;
    const marker = markerOf(markers[at]);
    if (marker === 'none' && !goesToCataloguedPayee(log, context)) continue;
    if (open?.hash !== log.transactionHash) {
      blockAt = blockPosition(batch.blocks, blockAt, log);
      open = openTransaction(batch, batch.blocks[blockAt], log.transactionHash, context);
    }
    decodeTransfer({ log, marker, open, context }, decoded);
  }
  return decoded;
}

function refusalOf(kind: number | undefined, marker: number | undefined): DeadLetterReason | undefined {
  if (kind === KIND.malformed) return 'malformed_log';
  return kind === KIND.authorization && marker === MARKER.none ? 'unpaired_authorization' : undefined;
}

function markerOf(code: number | undefined): Marker {
  if (code === MARKER.authorization) return 'authorization';
  return code === MARKER.permit2 ? 'permit2' : 'none';
}

function goesToCataloguedPayee(log: RawLog, context: DecodeContext): boolean {
  const payee = addressInWord(log.topics[2] ?? '');
  return payee !== undefined && context.isCataloguedPayee(payee);
}

/** Walks forward: blocks and logs both ascend. */
function blockPosition(blocks: readonly BlockRef[], from: number, log: RawLog): number {
  let at = from;
  while ((blocks[at]?.number ?? Number.POSITIVE_INFINITY) < log.blockNumber) at++;
  if (blocks[at]?.number !== log.blockNumber || blocks[at]?.hash !== log.blockHash)
    throw new Error(
      `the batch lacks block ${log.blockNumber} (${log.blockHash}), to which a log of it belongs`,
    );
  return at;
}

function openTransaction(
  batch: BlockBatch,
  block: BlockRef | undefined,
  hash: Hash,
  context: DecodeContext,
): OpenTransaction {
  const facts = batch.transactions.get(hash);
  if (facts === undefined || block === undefined)
    throw new Error(`the batch lacks transaction ${hash}, to which a candidate log of it belongs`);
  const builder = parseBuilderCode(facts.input);
  return {
    hash: facts.hash,
    from: facts.from,
    to: facts.to,
    input: facts.input,
    block,
    builderFacilitator: builder?.facilitator ?? '',
    builderApps: builder?.apps.join(',') ?? '',
    callsX402Contract: facts.to !== null && context.x402Contracts.has(facts.to),
  };
}

interface MarkedTransfer {
  readonly log: RawLog;
  readonly marker: Marker;
  readonly open: OpenTransaction;
  readonly context: DecodeContext;
}

interface Words {
  readonly token: TokenFacts;
  readonly payer: Address;
  readonly payee: Address;
  readonly amount: bigint;
}

function decodeTransfer(marked: MarkedTransfer, decoded: Decoded): void {
  const { log, context } = marked;
  const token = context.tokens.get(log.address);
  const payer = addressInWord(log.topics[1] ?? '');
  const payee = addressInWord(log.topics[2] ?? '');
  const amount = uintInWord(log.data);
  if (token === undefined || payer === undefined || payee === undefined || amount === undefined) {
    decoded.deadLetters.push(deadLetterOf(context.chain, log, 'malformed_log'));
    return;
  }
  const settlement = settlementOf(marked, { token, payer, payee, amount });
  if (settlement.amountUsdMicros > USD_MICROS_MAX)
    decoded.deadLetters.push(deadLetterOf(context.chain, log, 'amount_out_of_range'));
  else decoded.found.push(settlement);
}

function settlementOf({ log, marker, open, context }: MarkedTransfer, words: Words): UngradedSettlement {
  const { token, payer, payee, amount } = words;
  // A proxy's event proves that the payment passed through it, whatever contract the transaction called first.
  const viaX402Contract = open.callsX402Contract || marker === 'permit2';
  const { directCall, received } = callShapeOf({ transfer: log, tx: open, payee, marker, viaX402Contract });
  return {
    blockTime: open.block.time,
    chain: context.chain,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    blockHash: open.block.hash,
    txHash: log.transactionHash,
    payer,
    payee,
    asset: token.address,
    assetSymbol: token.symbol,
    amount,
    amountUsdMicros: usdMicros(amount, token.decimals),
    relayer: open.from,
    builderFacilitator: open.builderFacilitator,
    builderApps: open.builderApps,
    marker,
    directCall,
    received,
    viaX402Contract,
  };
}
