import type { DeadLetter, DeadLetterReason } from '../../clickhouse/tables/ingest-state.ts';
import type { Address, Hash } from '../../core/domain/account.ts';
import { USD_MICROS_MAX, usdMicros } from '../../core/domain/amount.ts';
import type { TokenFacts } from '../../core/domain/chains.ts';
import { NO_CHANNEL, type PaymentScheme } from '../../core/domain/settlement.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../chain/block-source.ts';
import { schemeOfDeposit } from '../grading/built-in.ts';
import type { Marker, UngradedSettlement } from '../grading/grade.ts';
import { builderSuffixOf, parseBuilderSuffix } from './builder-code.ts';
import { type DecodeContext, deadLetterOf } from './context.ts';
import { addressInWord, isAddressInWord, uintInWord } from './hex-word.ts';
import { KIND, kindsOf } from './log-kind.ts';
import { MARKER, pairLogs } from './pair.ts';

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
    decodeTransfer(log, markers[at], open, reading);
  }
  return reading.decoded;
}

function refusalOf(kind: number | undefined, marker: number | undefined): DeadLetterReason | undefined {
  if (kind === KIND.malformed) return 'malformed_log';
  return kind === KIND.authorization && marker === MARKER.none ? 'unpaired_authorization' : undefined;
}

function markerOf(code: number | undefined): Marker {
  if (code === MARKER.authorization) return 'authorization';
  return code === MARKER.permit2 || code === MARKER.upto ? 'permit2' : 'none';
}

/** The collector of a deposit, or else the form of the payment. A payment that its payee pulled is not what `exact` signs. */
function schemeOf(payee: Address, code: number | undefined, received: boolean): PaymentScheme {
  const ofDeposit = schemeOfDeposit(payee);
  if (ofDeposit !== undefined) return ofDeposit;
  if (code === MARKER.upto) return 'upto';
  if (code === MARKER.permit2) return 'exact-permit2';
  return code === MARKER.authorization && !received ? 'exact' : 'unknown';
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
  const payee = addressInWord(to);
  reading.decoded.found.push({
    blockTime: open.block.time,
    chain: reading.context.chain,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    txHash: log.transactionHash,
    payer: addressInWord(from),
    payee,
    asset: token.address,
    assetSymbol: token.symbol,
    amount,
    amountUsdMicros,
    relayer: open.from,
    builderFacilitator: open.builder.facilitator,
    builderApps: open.builder.apps,
    scheme: schemeOf(payee, code, received),
    channel: NO_CHANNEL,
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

/** Selectors of EIP-3009, as Circle’s FiatTokenV2_2 has them. */
const TRANSFER_WITH_AUTHORIZATION = ['0xe3ee160e', '0xcf092995'];
const RECEIVE_WITH_AUTHORIZATION = ['0xef55bec6', '0x88b7ab63'];
const TRANSFER = '0xa9059cbb';

const SELECTOR_CHARS = 10;
const WORD_DIGITS = 64;

interface CallShape {
  readonly directCall: boolean;
  readonly received: boolean;
}

const DIRECT: CallShape = { directCall: true, received: false };
const DIRECT_RECEIVED: CallShape = { directCall: true, received: true };
const ROUTED: CallShape = { directCall: false, received: false };
const ROUTED_RECEIVED: CallShape = { directCall: false, received: true };

/** The token's log: from and to as its words, the amount as its data. */
interface TransferWords {
  readonly token: Address;
  readonly from: Hash;
  readonly to: Hash;
  readonly amount: string;
}

/**
 * Distinguishes direct from routed calls, and receive from transfer. See docs/design/evidence.md.
 *
 * Calldata proves something only if the transaction calls the token itself and the arguments equal the log. Behind a router the only
 * remaining sign is that the called contract is the payee: it pulled the payment to itself. An x402 settlement router is exempt: it
 * is the first payee of every payment that it relays, but not the beneficiary.
 */
function callShapeOf(
  transfer: TransferWords,
  tx: Pick<TransactionFacts, 'to' | 'input'>,
  { marker, viaX402Contract }: { readonly marker: Marker; readonly viaX402Contract: boolean },
): CallShape {
  if (tx.to === transfer.token) return directShape(transfer, tx.input, marker);
  const isPulled =
    marker === 'authorization' && !viaX402Contract && tx.to !== null && isAddressInWord(tx.to, transfer.to);
  return isPulled ? ROUTED_RECEIVED : ROUTED;
}

function directShape({ from, to, amount }: TransferWords, input: string, marker: Marker): CallShape {
  const selector = input.slice(0, SELECTOR_CHARS);
  if (marker === 'none') return selector === TRANSFER && hasArguments(input, [to, amount]) ? DIRECT : ROUTED;
  const isTransfer = TRANSFER_WITH_AUTHORIZATION.includes(selector);
  if (!isTransfer && !RECEIVE_WITH_AUTHORIZATION.includes(selector)) return ROUTED;
  if (!hasArguments(input, [from, to, amount])) return ROUTED;
  return isTransfer ? DIRECT : DIRECT_RECEIVED;
}

/** Whether the calldata's first arguments are these words. One comparison of a joined text is cheaper than one per word. */
function hasArguments(input: string, words: readonly string[]): boolean {
  let joined = '';
  for (const word of words) joined += word.slice(2);
  return input.slice(SELECTOR_CHARS, SELECTOR_CHARS + words.length * WORD_DIGITS) === joined;
}
