import { parseBuilderCodeSuffixFromCalldata } from '@x402/extensions/builder-code';
import { decodeEventLog, type Hex, parseAbi } from 'viem';
import { type ChannelMove, movesOf } from '../../../demo/chain/channel-moves.ts';
import type { Rpc } from '../../../demo/chain/json-rpc.ts';
import { type Receipt, type ReceiptLog, readReceipts } from './receipts.ts';

/**
 * The truth, computed the slow and obvious way: every receipt of the chain, a generic ABI decoder, no bit of product code.
 * Whatever the API serves must equal this, row for row.
 */

export interface ExpectedRow {
  readonly tx_hash: string;
  readonly log_index: number;
  readonly block_number: number;
  readonly block_time: string;
  readonly payer: string;
  readonly payee: string;
  readonly asset: string;
  readonly amount: string;
  readonly relayer: string;
  readonly facilitator: string | null;
  readonly method: string;
  readonly kind: string;
  readonly channel: string | null;
  readonly fee_amount: string | null;
}

export interface NaiveCatalogue {
  readonly tokens: readonly string[];
  readonly proxies: readonly string[];
  /** Lower-case relayer to facilitator id. */
  readonly relayers: Readonly<Record<string, string>>;
  /** Lower-case relayer to the Unix second from which its name counts; absent: always. */
  readonly relayersSince?: Readonly<Record<string, number>>;
  readonly payees: readonly string[];
}

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Settled()',
  'event SettledWithPermit()',
]);
const RECEIVE_SELECTORS = ['0xef55bec6', '0x88b7ab63'];

interface Transaction {
  readonly hash: string;
  readonly input: Hex;
}

interface Decoded {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly emitter: string;
  readonly index: number;
}

interface Block {
  readonly number: string;
  readonly timestamp: string;
  readonly transactions: readonly Transaction[];
}

/** Every settlement of [0, head], in the order of the chain. */
export async function readNaively(rpc: Rpc, catalogue: NaiveCatalogue): Promise<ExpectedRow[]> {
  return readRangeNaively(rpc, catalogue, 0, Number(await rpc.call<string>('eth_blockNumber')));
}

/** Every settlement of [from, to], in the order of the chain. */
export async function readRangeNaively(
  rpc: Rpc,
  catalogue: NaiveCatalogue,
  from: number,
  to: number,
): Promise<ExpectedRow[]> {
  const receipts = await readReceipts(rpc, from, to);
  const chainId = Number(await rpc.call<string>('eth_chainId'));
  const blocks = await rpc.batch<Block>(
    Array.from({ length: to - from + 1 }, (_, index) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${(from + index).toString(16)}`, true],
    })),
  );
  return receipts.flatMap((receipt) => {
    const block = blocks[Number(receipt.logs[0]?.blockNumber ?? from) - from];
    const input = block?.transactions.find(({ hash }) => hash === receipt.transactionHash)?.input;
    if (!block || !input) return [];
    const moves = movesOf(receipt.logs, input, chainId);
    // The transfers of such a transaction carried the tokens of its channels.
    return moves.length > 0
      ? moves.map((move) => rowOfMove(receipt, block, input, move, catalogue))
      : rowsOfReceipt(receipt, block, input, catalogue);
  });
}

function rowsOfReceipt(receipt: Receipt, block: Block, input: Hex, catalogue: NaiveCatalogue): ExpectedRow[] {
  const events = receipt.logs.map(decode).filter((event) => event !== null);
  const taken = new Set<Decoded>();
  const rows: ExpectedRow[] = [];
  for (const token of catalogue.tokens) {
    const mine = events.filter(({ emitter }) => emitter === token);
    for (const authorization of mine.filter(({ name }) => name === 'AuthorizationUsed')) {
      const transfer = transferOf(authorization, mine, taken);
      if (!transfer) continue;
      taken.add(transfer);
      rows.push(rowOf(receipt, block, input, transfer, 'authorization', catalogue));
    }
  }
  for (const settled of events.filter(
    ({ name, emitter }) => name.startsWith('Settled') && catalogue.proxies.includes(emitter),
  )) {
    const before = events.filter(
      ({ name, emitter, index }) =>
        name === 'Transfer' && catalogue.tokens.includes(emitter) && index < settled.index,
    );
    const transfer = before.reverse().find((event) => !taken.has(event));
    if (!transfer) continue;
    taken.add(transfer);
    rows.push(rowOf(receipt, block, input, transfer, 'permit2', catalogue));
  }
  for (const transfer of events) {
    const bare =
      transfer.name === 'Transfer' && catalogue.tokens.includes(transfer.emitter) && !taken.has(transfer);
    if (bare && catalogue.payees.includes(String(transfer.args['to']).toLowerCase())) {
      rows.push(rowOf(receipt, block, input, transfer, 'none', catalogue));
    }
  }
  return rows.sort((a, b) => a.log_index - b.log_index);
}

/** The rule of docs/design/evidence.md: the next Transfer of the authorizer before the next authorization, else the one right before. */
function transferOf(
  authorization: Decoded,
  mine: readonly Decoded[],
  taken: ReadonlySet<Decoded>,
): Decoded | undefined {
  const from = (event: Decoded): boolean =>
    event.name === 'Transfer' && event.args['from'] === authorization.args['authorizer'] && !taken.has(event);
  const nextAuthorization = mine.find(
    ({ name, index }) => name === 'AuthorizationUsed' && index > authorization.index,
  );
  const after = mine.find(
    (event) =>
      from(event) &&
      event.index > authorization.index &&
      event.index < (nextAuthorization?.index ?? Number.POSITIVE_INFINITY),
  );
  return after ?? mine.find((event) => from(event) && event.index === authorization.index - 1);
}

function decode(log: ReceiptLog): Decoded | null {
  try {
    const { eventName, args } = decodeEventLog({
      abi: EVENTS,
      data: log.data as Hex,
      topics: log.topics as [Hex, ...Hex[]],
      strict: true,
    });
    return {
      name: eventName,
      args: (args ?? {}) as Record<string, unknown>,
      emitter: log.address.toLowerCase(),
      index: Number(log.logIndex),
    };
  } catch {
    return null; // an event that is none of ours
  }
}

function rowOf(
  receipt: Receipt,
  block: Block,
  input: Hex,
  transfer: Decoded,
  marker: 'authorization' | 'permit2' | 'none',
  catalogue: NaiveCatalogue,
): ExpectedRow {
  const payer = String(transfer.args['from']).toLowerCase();
  const payee = String(transfer.args['to']).toLowerCase();
  const relayer = receipt.from.toLowerCase();
  const to = receipt.to?.toLowerCase() ?? '';
  const receives =
    marker === 'authorization' &&
    ((to === transfer.emitter && RECEIVE_SELECTORS.includes(input.slice(0, 10))) || to === payee);
  const code = parseBuilderCodeSuffixFromCalldata(input)?.w;
  const named = Number(block.timestamp) >= (catalogue.relayersSince?.[relayer] ?? 0);
  const facilitator = (named ? catalogue.relayers[relayer] : undefined) ?? null;
  return {
    tx_hash: receipt.transactionHash,
    log_index: transfer.index,
    block_number: Number(block.number),
    block_time: new Date(Number(block.timestamp) * 1000).toISOString().replace('.000', ''),
    payer,
    payee,
    asset: transfer.emitter,
    amount: String(transfer.args['value']),
    relayer,
    facilitator,
    method: methodOf({
      marker,
      receives,
      self: relayer === payer || relayer === payee,
      named: facilitator !== null,
      coded: code !== undefined || catalogue.proxies.includes(to),
      catalogued: catalogue.payees.includes(payee),
    }),
    kind: 'payment',
    channel: null,
    fee_amount: null,
  };
}

function rowOfMove(
  receipt: Receipt,
  block: Block,
  input: Hex,
  move: ChannelMove,
  catalogue: NaiveCatalogue,
): ExpectedRow {
  const relayer = receipt.from.toLowerCase();
  const named = Number(block.timestamp) >= (catalogue.relayersSince?.[relayer] ?? 0);
  const facilitator = (named ? catalogue.relayers[relayer] : undefined) ?? null;
  const isClaim = move.scheme === 'batch-settlement';
  const method = methodOf({
    marker: move.scheme,
    receives: false,
    self: !isClaim && (relayer === move.payer || relayer === move.payee),
    named: facilitator !== null,
    coded: isClaim || parseBuilderCodeSuffixFromCalldata(input)?.w !== undefined,
    catalogued: catalogue.payees.includes(move.payee),
  });
  return {
    tx_hash: receipt.transactionHash,
    log_index: move.index,
    block_number: Number(block.number),
    block_time: new Date(Number(block.timestamp) * 1000).toISOString().replace('.000', ''),
    payer: move.payer,
    payee: move.payee,
    asset: move.asset,
    amount: String(move.amount),
    relayer,
    facilitator,
    method: move.kind === 'payment' ? method : 'channel_move',
    kind: move.kind,
    channel: move.channel,
    fee_amount: move.fee === null ? null : String(move.fee),
  };
}

/** The ladder of docs/design/evidence.md: the first rule that holds. */
function methodOf(seen: {
  marker: string;
  receives: boolean;
  self: boolean;
  named: boolean;
  coded: boolean;
  catalogued: boolean;
}): string {
  if (seen.marker === 'none') return 'bare_transfer';
  if (seen.receives) return 'self_relayed';
  if (seen.named) return 'facilitator_relay';
  if (seen.self) return 'self_relayed';
  if (seen.coded) return 'builder_code';
  return seen.catalogued ? 'catalogued_payee' : 'gasless_authorization';
}
