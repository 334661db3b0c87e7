import { computeChannelId } from '@x402/evm/batch-settlement/client';
import {
  decodeEventLog,
  decodeFunctionData,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbi,
  toBytes,
} from 'viem';

interface ReceiptLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: string;
}

/** What a claim, a capture, a deposit or a return says, read by generic decoders of the contracts' published interfaces. */
export interface ChannelMove {
  readonly index: number;
  readonly kind: string;
  readonly scheme: string;
  readonly channel: string | null;
  readonly payer: string;
  readonly payee: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly fee: bigint | null;
}

const BATCH = '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003';
const ESCROWS = ['0xf96815976523e00e65be8f34ca5e64b4f41eb19c', '0xbdea0d1bcc5966192b070fdf62ab4ef5b4420cff'];

const STRUCTS = [
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'struct PaymentInfo { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }',
] as const;

const CALLS = parseAbi([
  ...STRUCTS,
  'function multicall(bytes[] data)',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes data)',
  'function claim(VoucherClaim[] claims)',
  'function claimWithSignature(VoucherClaim[] claims, bytes signature)',
  'function refund(ChannelConfig config, uint128 amount)',
  'function finalizeWithdraw(ChannelConfig config)',
  'function capture(PaymentInfo info, uint256 amount, uint256 feeAmount, address feeReceiver)',
  'function void(PaymentInfo info)',
  'function reclaim(PaymentInfo info)',
  'function refund(PaymentInfo info, uint256 amount, address collector, bytes data)',
  'function authorize(PaymentInfo info, uint256 amount, address collector, bytes data)',
  'function charge(PaymentInfo info, uint256 amount, address collector, bytes data, uint256 feeAmount, address feeReceiver)',
]);

const EVENTS = parseAbi([
  ...STRUCTS,
  'event Deposited(bytes32 indexed id, address indexed sender, uint128 amount, uint128 newBalance)',
  'event Claimed(bytes32 indexed id, address indexed sender, uint128 amount, uint128 newTotalClaimed)',
  'event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount)',
  'event Refunded(bytes32 indexed id, address indexed sender, uint128 amount)',
  'event WithdrawFinalized(bytes32 indexed id, address indexed sender, uint128 amount)',
  'event PaymentAuthorized(bytes32 indexed id, PaymentInfo info, uint256 amount, address collector)',
  'event PaymentCharged(bytes32 indexed id, PaymentInfo info, uint256 amount, address collector, uint256 feeAmount, address feeReceiver)',
  'event PaymentCaptured(bytes32 indexed id, uint256 amount, uint256 feeAmount, address feeReceiver)',
  'event PaymentVoided(bytes32 indexed id, uint256 amount)',
  'event PaymentReclaimed(bytes32 indexed id, uint256 amount)',
  'event PaymentRefunded(bytes32 indexed id, uint256 amount, address collector)',
]);

const KINDS: Readonly<Record<string, string>> = {
  Deposited: 'deposit',
  Claimed: 'payment',
  Settled: 'payout',
  Refunded: 'refund',
  WithdrawFinalized: 'withdrawal',
  PaymentAuthorized: 'deposit',
  PaymentCharged: 'payment',
  PaymentCaptured: 'payment',
  PaymentVoided: 'void',
  PaymentReclaimed: 'withdrawal',
  PaymentRefunded: 'refund',
};

interface Terms {
  readonly payer: string;
  readonly receiver: string;
  readonly token: string;
}

/**
 * The moves in the logs of one transaction, whose calldata names the terms of every channel that it moves. Shares no code with the indexer,
 * which is checked against it.
 */
export function movesOf(logs: readonly ReceiptLog[], input: Hex, chainId: number): ChannelMove[] {
  // To look for the call in every calldata would hash the signatures of all functions each time.
  if (!logs.some((log) => isContract(log.address.toLowerCase()))) return [];
  const terms = new Map<string, Terms>();
  for (const config of configsIn(input)) terms.set(computeChannelId(config as never, chainId), config);
  for (const info of infosIn(input))
    for (const escrow of ESCROWS) terms.set(paymentId(info, escrow, chainId), info);
  return logs.flatMap((log) => moveOf(log, terms));
}

function isContract(emitter: string): boolean {
  return emitter === BATCH || ESCROWS.includes(emitter);
}

function moveOf(
  { address, topics, data, logIndex }: ReceiptLog,
  terms: ReadonlyMap<string, Terms>,
): ChannelMove[] {
  const emitter = address.toLowerCase();
  const isEscrow = ESCROWS.includes(emitter);
  const event = isContract(emitter) ? decoded(topics as [Hex, ...Hex[]], data as Hex) : null;
  const kind = KINDS[event?.name ?? ''];
  if (event === null || kind === undefined) return [];
  const { args } = event;
  const parties =
    kind === 'payout' ? ({ payer: emitter, ...args } as unknown as Terms) : terms.get(String(args['id']));
  if (parties === undefined) throw new Error(`the calldata does not name the parties of ${args['id']}`);
  return [
    {
      index: Number(logIndex),
      kind,
      scheme: isEscrow ? 'auth-capture' : 'batch-settlement',
      channel: kind === 'payout' ? null : String(args['id']),
      payer: parties.payer.toLowerCase(),
      payee: parties.receiver.toLowerCase(),
      asset: parties.token.toLowerCase(),
      amount: args['amount'] as bigint,
      fee: isEscrow && kind === 'payment' ? (args['feeAmount'] as bigint) : null,
    },
  ];
}

function decoded(topics: [Hex, ...Hex[]], data: Hex) {
  try {
    const { eventName, args } = decodeEventLog({ abi: EVENTS, data, topics, strict: true });
    return { name: eventName as string, args: args as unknown as Readonly<Record<string, unknown>> };
  } catch {
    return null; // an event that moves nothing
  }
}

function callOf(input: Hex) {
  try {
    return decodeFunctionData({ abi: CALLS, data: input });
  } catch {
    return null; // a call of something else
  }
}

function configsIn(input: Hex): Terms[] {
  const call = callOf(input);
  if (call === null) return [];
  const [first] = call.args as readonly unknown[];
  if (call.functionName === 'multicall') return (first as Hex[]).flatMap(configsIn);
  if (call.functionName === 'claim' || call.functionName === 'claimWithSignature')
    return (first as { voucher: { channel: Terms } }[]).map(({ voucher }) => voucher.channel);
  return isConfig(first) ? [first] : [];
}

function infosIn(input: Hex): Terms[] {
  const call = callOf(input);
  const [first] = (call?.args ?? []) as readonly unknown[];
  return call !== null && typeof first === 'object' && first !== null && 'operator' in first
    ? [first as unknown as Terms]
    : [];
}

function isConfig(value: unknown): value is Terms {
  return typeof value === 'object' && value !== null && 'payerAuthorizer' in value;
}

const INFO_TYPE = keccak256(
  toBytes(
    'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)',
  ),
);

function paymentId(info: Terms, escrow: string, chainId: number): string {
  const words = Object.values(info).map((value) => BigInt(value as bigint));
  const struct = keccak256(
    encodeAbiParameters(
      ['bytes32', ...words.map(() => 'uint256')].map((type) => ({ type })),
      [INFO_TYPE, ...words],
    ),
  );
  return keccak256(
    encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'address' }, { type: 'bytes32' }],
      [BigInt(chainId), escrow as Hex, struct],
    ),
  );
}
