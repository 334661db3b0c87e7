import type { DeadLetter, DeadLetterReason } from '../../clickhouse/tables/ingest-state.ts';
import { USD_MICROS_MAX, usdMicros } from '../../core/domain/amount.ts';
import type { TokenFacts } from '../../core/domain/chains.ts';
import { NO_CHANNEL, NO_CONTRACT, type PaymentScheme } from '../../core/domain/settlement.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../chain/block-source.ts';
import type { Marker, UngradedSettlement } from '../grading/grade.ts';
import { builderSuffixOf, parseBuilderSuffix } from './builder-code.ts';
import { callShapeOf } from './call-shape.ts';
import { channelsOf } from './channels/in-batch.ts';
import type { ChannelMove } from './channels/moves.ts';
import { type DecodeContext, deadLetterOf } from './context.ts';
import { addressInWord, isAddressInWord, uintInWord } from './hex-word.ts';
import { KIND, kindsOf } from './log-kind.ts';
import { isUnpaired, MARKER, pairLogs } from './pair.ts';

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

/** Facts read once per transaction, shared by all its payments. */
interface OpenTransaction extends TransactionFacts {
  readonly block: BlockRef;
  readonly builder: BuilderFields;
  readonly callsX402Contract: boolean;
}

/**
 * Turns logs into settlements by slicing fixed-layout words; no ABI decoder is involved. A log that should have become a
 * settlement and cannot is a dead letter. Throws only where the source broke its contract (a block or transaction that a
 * settlement needs is missing): that is a bug, not data. Source: EIP-3009.
 */
export function decodeBatch(batch: BlockBatch, context: DecodeContext): Decoded {
  const { logs } = batch;
  const kinds = kindsOf(logs, context);
  const markers = pairLogs(logs, kinds);
  const channels = channelsOf(batch, kinds, markers, context);
  const reading: Reading = {
    batch,
    context,
    decoded: { found: [], registryLogs: [], deadLetters: [] },
    builders: new Map(),
    blockAt: 0,
    token: undefined,
    open: undefined,
  };
  for (const log of channels.malformed) refuse(reading, log, 'malformed_log');
  for (const log of channels.unknown) refuse(reading, log, 'unknown_channel');
  for (let at = 0; at < logs.length; at++) {
    const log = logs[at];
    if (log === undefined || kinds[at] === KIND.other) continue;
    const refused = refusalOf(kinds[at], markers[at]);
    if (refused) refuse(reading, log, refused);
    if (kinds[at] === KIND.registry) reading.decoded.registryLogs.push(log);
    const move = kinds[at] === KIND.channel ? channels.moves.get(at) : undefined;
    if (move !== undefined) decodeMove(move, openOf(reading, log), reading);
    else if (isPayment(log, kinds[at], markers[at], context))
      decodeTransfer(log, markers[at], openOf(reading, log), reading);
  }
  return reading.decoded;
}

/** The facts of the log's transaction; neighbours share theirs. */
function openOf(reading: Reading, log: RawLog): OpenTransaction {
  if (reading.open?.hash !== log.transactionHash) reading.open = openTransaction(reading, log);
  return reading.open;
}

function refusalOf(kind: number | undefined, marker: number | undefined): DeadLetterReason | undefined {
  if (kind === KIND.malformed) return 'malformed_log';
  if (!isUnpaired(kind, marker)) return undefined;
  return kind === KIND.authorization ? 'unpaired_authorization' : 'unpaired_proxy';
}

function markerOf(code: number | undefined): Marker {
  if (code === MARKER.authorization) return 'authorization';
  return code === MARKER.permit2 || code === MARKER.upto ? 'permit2' : 'none';
}

/** The form of a payment. One that its payee pulled is not what `exact` signs. */
function schemeOf(code: number | undefined, received: boolean): PaymentScheme {
  if (code === MARKER.upto) return 'upto';
  if (code === MARKER.permit2) return 'exact-permit2';
  return code === MARKER.authorization && !received ? 'exact' : 'unknown';
}

/** Of a transfer: whether it has a marker, or is a bare one to a catalogued payee. */
function isPayment(
  log: RawLog,
  kind: number | undefined,
  marker: number | undefined,
  context: DecodeContext,
): boolean {
  if (kind === KIND.unlistedTransfer) return marker !== MARKER.none;
  if (kind !== KIND.transfer || marker === MARKER.leg) return false;
  return marker !== MARKER.none || goesToCataloguedPayee(log, context);
}

function goesToCataloguedPayee(log: RawLog, context: DecodeContext): boolean {
  const payee = log.topics[2];
  return payee !== undefined && context.isCataloguedPayee(addressInWord(payee));
}

/** State while a batch is read. */
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
  /** The transaction of the last row. */
  open: OpenTransaction | undefined;
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

function decodeTransfer(
  log: RawLog,
  code: number | undefined,
  open: OpenTransaction,
  reading: Reading,
): void {
  const marker = markerOf(code);
  const token = tokenOf(reading, log);
  const [, from, to] = log.topics;
  const amount = uintInWord(log.data);
  if (from === undefined || to === undefined || amount === undefined) {
    refuse(reading, log, 'malformed_log');
    return;
  }
  const usd = usdOf(amount, token);
  if (usd !== null && usd > USD_MICROS_MAX) {
    refuse(reading, log, 'amount_out_of_range');
    return;
  }
  // A proxy's event proves that the payment passed through it, whatever contract the transaction called first.
  const viaX402Contract = open.callsX402Contract || marker === 'permit2';
  const words = { token: log.address, from, to, amount: log.data };
  const { directCall, received } = callShapeOf(words, open, { marker, viaX402Contract });
  reading.decoded.found.push({
    blockTime: open.block.time,
    chain: reading.context.chain,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    txHash: log.transactionHash,
    payer: addressInWord(from),
    payee: addressInWord(to),
    asset: log.address,
    assetSymbol: token?.symbol ?? '',
    amount,
    amountUsdMicros: usd ?? 0n,
    usdKnown: usd !== null,
    relayer: open.from,
    builderFacilitator: open.builder.facilitator,
    builderApps: open.builder.apps,
    kind: 'payment',
    scheme: schemeOf(code, received),
    channel: NO_CHANNEL,
    contract: NO_CONTRACT,
    feeAmount: 0n,
    memo: '',
    marker,
    relayedByPayer: isAddressInWord(open.from, from),
    relayedByPayee: isAddressInWord(open.from, to),
    selfPayment: from === to,
    directCall,
    received,
    viaX402Contract,
  });
}

/** A row at the event of a channel contract: which transfers carried the tokens, and through whom, says nothing more. */
function decodeMove(move: ChannelMove, open: OpenTransaction, reading: Reading): void {
  const { log, terms, contract, amount } = move;
  const token = reading.context.tokens.get(terms.token);
  const usd = usdOf(amount, token);
  if (usd !== null && usd > USD_MICROS_MAX) {
    refuse(reading, log, 'amount_out_of_range');
    return;
  }
  reading.decoded.found.push({
    blockTime: open.block.time,
    chain: reading.context.chain,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    txHash: log.transactionHash,
    payer: terms.payer,
    payee: terms.payee,
    asset: terms.token,
    assetSymbol: token?.symbol ?? '',
    amount,
    amountUsdMicros: usd ?? 0n,
    usdKnown: usd !== null,
    relayer: open.from,
    builderFacilitator: open.builder.facilitator,
    builderApps: open.builder.apps,
    kind: move.kind,
    scheme: contract.scheme,
    channel: move.channel ?? NO_CHANNEL,
    contract: contract.address,
    feeAmount: move.fee,
    memo: '',
    marker: markerOfMove(move),
    relayedByPayer: open.from === terms.payer,
    relayedByPayee: open.from === terms.payee,
    selfPayment: terms.payer === terms.payee,
    directCall: open.to === contract.address,
    received: false,
    viaX402Contract: contract.scheme === 'batch-settlement',
  });
}

/** Null for a token of which no value is known. */
function usdOf(amount: bigint, token: TokenFacts | undefined): bigint | null {
  return token === undefined ? null : usdMicros(amount, token);
}

function markerOfMove({ kind, contract }: ChannelMove): Marker {
  if (kind !== 'payment') return 'move';
  return contract.scheme === 'batch-settlement' ? 'claim' : 'capture';
}

/** Neighbours mostly share their token: comparing with the last one is cheaper than hashing each address. */
function tokenOf(reading: Reading, log: RawLog): TokenFacts | undefined {
  if (reading.token?.address !== log.address) reading.token = reading.context.tokens.get(log.address);
  return reading.token;
}

function refuse({ context, decoded }: Reading, log: RawLog, reason: DeadLetterReason): void {
  decoded.deadLetters.push(deadLetterOf(context.chain, log, reason));
}
