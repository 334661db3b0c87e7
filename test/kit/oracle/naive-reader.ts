import { parseBuilderCodeSuffixFromCalldata } from '@x402/extensions/builder-code';
import { decodeEventLog, type Hex, parseAbi } from 'viem';
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
/** Deposits into channels and escrows pay no seller. Source: @x402/evm 2.27.0. */
const DEPOSIT_CONTRACTS = [
  '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
  '0x4020806089470a89826cb9fb1f4059150b550004',
  '0x4020425faf3b746c082c2f942b4e5159887b0005',
  '0xf96815976523e00e65be8f34ca5e64b4f41eb19c',
  '0x8612dfdc421f80336cd14e8ef9cb1e765db5ab88',
  '0xd69831aed5bfe262067ec4c751f4f830ecdd446e',
  '0xbdea0d1bcc5966192b070fdf62ab4ef5b4420cff',
  '0x0e3df9510de65469c4518d7843919c0b8c7a7757',
  '0x992476b9ee81d52a5bda0622c333938d0af0ab26',
];
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
  const blocks = await rpc.batch<Block>(
    Array.from({ length: to - from + 1 }, (_, index) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${(from + index).toString(16)}`, true],
    })),
  );
  return receipts.flatMap((receipt) => {
    const block = blocks[Number(receipt.logs[0]?.blockNumber ?? from) - from];
    const input = block?.transactions.find(({ hash }) => hash === receipt.transactionHash)?.input;
    return block && input ? rowsOfReceipt(receipt, block, input, catalogue) : [];
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
      deposit: DEPOSIT_CONTRACTS.includes(payee),
    }),
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
  deposit: boolean;
}): string {
  if (seen.deposit) return 'channel_deposit';
  if (seen.marker === 'none') return 'bare_transfer';
  if (seen.receives) return 'self_relayed';
  if (seen.named) return 'facilitator_relay';
  if (seen.self) return 'self_relayed';
  if (seen.coded) return 'builder_code';
  return seen.catalogued ? 'catalogued_payee' : 'gasless_authorization';
}
