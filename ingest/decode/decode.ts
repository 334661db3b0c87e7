import { USD_MICROS_MAX, usdMicros } from '../../core/domain/amount.ts';
import type { TokenFacts } from '../../core/domain/known-chains.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../chain/block-source.ts';
import { builderSuffixOf, parseBuilderSuffix } from './builder-code.ts';
import { callShapeOf } from './call-shape.ts';
import type { DecodeContext } from './context.ts';
import { type DeadLetter, type DeadLetterReason, deadLetterOf } from './dead-letter.ts';
import { addressInWord, isAddressInWord, uintInWord } from './hex-word.ts';
import { KIND, kindsOf } from './log-kind.ts';
import { MARKER, pairLogs } from './pair.ts';
import type { Marker, UngradedSettlement } from './ungraded-settlement.ts';

export interface Decoded {
  readonly found: UngradedSettlement[];
  /** Logs of the ERC-8004 registries, which `decodeRegistries` reads. */
  readonly registryLogs: RawLog[];
  readonly deadLetters: DeadLetter[];
}

interface BuilderFields {
  readonly facilitator: string;
  readonly apps: string;
}

const NO_BUILDER: BuilderFields = { facilitator: '', apps: '' };

/** What is read once per transaction, however many payments it holds. */
interface OpenTransaction extends TransactionFacts {
  readonly block: BlockRef;
  readonly builder: BuilderFields;
  readonly callsX402Contract: boolean;
}

/**
 * Turns logs into settlements by slicing fixed-layout words; no ABI decoder is involved. A log that should have become a
 * settlement and cannot is a dead letter. Throws only where the source broke its contract (a block or transaction that a
 * settlement needs is missing): that is a bug, not data. Source: protocol.md 2.1–2.5.
 */
export function decodeBatch(batch: BlockBatch, context: DecodeContext): Decoded {
  const { logs } = batch;
  const kinds = kindsOf(logs, context);
  const markers = pairLogs(logs, kinds);
  const reading: Reading = {
    batch,
    context,
    decoded: { found: [], registryLogs: [], deadLetters: [] },
    builders: new Map(),
    blockAt: 0,
    token: undefined,
  };
  let open: OpenTransaction | undefined;
  for (let at = 0; at < logs.length; at++) {
    const log = logs[at];
    if (log === undefined || kinds[at] === KIND.other || kinds[at] === KIND.proxySettled) continue;
    const refused = refusalOf(kinds[at], markers[at]);
    if (refused) refuse(reading, log, refused);
    if (kinds[at] === KIND.registry) reading.decoded.registryLogs.push(log);
    if (kinds[at] !== KIND.transfer) continue;
    const marker = markerOf(markers[at]);
    if (marker === 'none' && !goesToCataloguedPayee(log, context)) continue;
    if (open?.hash !== log.transactionHash) open = openTransaction(reading, log);
    decodeTransfer(log, marker, open, reading);
  }
  return reading.decoded;
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
  const payee = log.topics[2];
  return payee !== undefined && context.isCataloguedPayee(addressInWord(payee));
}

/** What is kept while a batch is read. */
interface Reading {
  readonly batch: BlockBatch;
  readonly context: DecodeContext;
  readonly decoded: Decoded;
  /** Facilitators repeat their suffix on every transaction: each is parsed once. */
  readonly builders: Map<string, BuilderFields>;
  /** Only ever moves forward: blocks and logs both ascend. */
  blockAt: number;
  /** The token of the last transfer. */
  token: TokenFacts | undefined;
}

function openTransaction(reading: Reading, log: RawLog): OpenTransaction {
  const facts = reading.batch.transactions.get(log.transactionHash);
  if (facts === undefined)
    throw new Error(
      `the batch lacks transaction ${log.transactionHash}, to which a candidate log of it belongs`,
    );
  return {
    hash: facts.hash,
    from: facts.from,
    to: facts.to,
    input: facts.input,
    block: blockOf(reading, log),
    builder: builderOf(reading, facts.input),
    // The token itself is the usual callee, and comparing is cheaper than hashing it.
    callsX402Contract:
      facts.to !== null && facts.to !== log.address && reading.context.x402Contracts.has(facts.to),
  };
}

function blockOf(reading: Reading, log: RawLog): BlockRef {
  const { blocks } = reading.batch;
  while ((blocks[reading.blockAt]?.number ?? Number.POSITIVE_INFINITY) < log.blockNumber) reading.blockAt++;
  const block = blocks[reading.blockAt];
  if (block?.number !== log.blockNumber)
    throw new Error(`the batch lacks block ${log.blockNumber}, to which a candidate log of it belongs`);
  return block;
}

function builderOf({ builders }: Reading, input: string): BuilderFields {
  const suffix = builderSuffixOf(input);
  if (suffix === '') return NO_BUILDER;
  const known = builders.get(suffix);
  if (known !== undefined) return known;
  const code = parseBuilderSuffix(suffix);
  const fields = code === null ? NO_BUILDER : { facilitator: code.facilitator, apps: code.apps.join(',') };
  builders.set(suffix, fields);
  return fields;
}

function decodeTransfer(log: RawLog, marker: Marker, open: OpenTransaction, reading: Reading): void {
  const token = tokenOf(reading, log);
  const [, from, to] = log.topics;
  const amount = uintInWord(log.data);
  if (token === undefined || from === undefined || to === undefined || amount === undefined) {
    refuse(reading, log, 'malformed_log');
    return;
  }
  const amountUsdMicros = usdMicros(amount, token.decimals);
  if (amountUsdMicros > USD_MICROS_MAX) {
    refuse(reading, log, 'amount_out_of_range');
    return;
  }
  // A proxy's event proves that the payment passed through it, whatever contract the transaction called first.
  const viaX402Contract = open.callsX402Contract || marker === 'permit2';
  const words = { token: token.address, from, to, amount: log.data };
  const { directCall, received } = callShapeOf(words, open, { marker, viaX402Contract });
  reading.decoded.found.push({
    blockTime: open.block.time,
    chain: reading.context.chain,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    blockHash: open.block.hash,
    txHash: log.transactionHash,
    payer: addressInWord(from),
    payee: addressInWord(to),
    asset: token.address,
    assetSymbol: token.symbol,
    amount,
    amountUsdMicros,
    relayer: open.from,
    builderFacilitator: open.builder.facilitator,
    builderApps: open.builder.apps,
    marker,
    relayedByPayer: isAddressInWord(open.from, from),
    relayedByPayee: isAddressInWord(open.from, to),
    selfPayment: from === to,
    directCall,
    received,
    viaX402Contract,
  });
}

/** Neighbours mostly share their token: comparing with the last one is cheaper than hashing each address. */
function tokenOf(reading: Reading, log: RawLog): TokenFacts | undefined {
  if (reading.token?.address !== log.address) reading.token = reading.context.tokens.get(log.address);
  return reading.token;
}

function refuse({ context, decoded }: Reading, log: RawLog, reason: DeadLetterReason): void {
  decoded.deadLetters.push(deadLetterOf(context.chain, log, reason));
}
