import {
  AUTH_CAPTURE_ESCROW_V1_1_ADDRESS,
  BATCH_SETTLEMENT_ADDRESS,
  BATCH_SETTLEMENT_DOMAIN,
  claimBatchTypes,
  EIP3009_TOKEN_COLLECTOR_ADDRESS,
  ERC3009_DEPOSIT_COLLECTOR_ADDRESS,
  OPERATOR_REFUND_COLLECTOR_ADDRESS,
  voucherTypes,
} from '@x402/evm';
import { computeChannelId } from '@x402/evm/batch-settlement/client';
import { encodeAbiParameters, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem';
import { signTypedData } from 'viem/accounts';
import { type Address, address } from '../../core/domain/account.ts';
import contracts from './contracts/channels.json' with { type: 'json' };
import type { ChainToken } from './deploy-usdc.ts';
import type { Rpc } from './json-rpc.ts';
import { signAuthorization } from './payments.ts';
import type { Wallet } from './sender.ts';

/** Canonical addresses, the same on every chain. Source: @x402/evm. */
export const BATCH_SETTLEMENT = address(BATCH_SETTLEMENT_ADDRESS);
export const DEPOSIT_COLLECTOR = address(ERC3009_DEPOSIT_COLLECTOR_ADDRESS);
export const ESCROW = address(AUTH_CAPTURE_ESCROW_V1_1_ADDRESS);
export const ESCROW_COLLECTOR = address(EIP3009_TOKEN_COLLECTOR_ADDRESS);
export const REFUND_COLLECTOR = address(OPERATOR_REFUND_COLLECTOR_ADDRESS);
/** A collector that no table lists: anyone may deploy one. */
export const FOREIGN_COLLECTOR = address('0x00000000000000000000000000000000000f1b03');

/** Puts the doubles of contracts/channels.sol in place; no block is mined. */
export async function installChannels(rpc: Rpc): Promise<void> {
  await rpc.batch([
    { method: 'anvil_setCode', params: [BATCH_SETTLEMENT, contracts.BatchSettlementDouble] },
    { method: 'anvil_setCode', params: [DEPOSIT_COLLECTOR, contracts.DepositCollectorDouble] },
    { method: 'anvil_setCode', params: [FOREIGN_COLLECTOR, contracts.DepositCollectorDouble] },
    { method: 'anvil_setCode', params: [ESCROW, contracts.EscrowDouble] },
    { method: 'anvil_setCode', params: [ESCROW_COLLECTOR, contracts.TokenCollectorDouble] },
    { method: 'anvil_setCode', params: [REFUND_COLLECTOR, contracts.RefundCollectorDouble] },
  ]);
}

const BATCH = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function multicall(bytes[] data) returns (bytes[])',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes data)',
  'function claim(VoucherClaim[] claims)',
  'function claimWithSignature(VoucherClaim[] claims, bytes signature)',
  'function settle(address receiver, address token)',
  'function refund(ChannelConfig config, uint128 amount)',
  'function initiateWithdraw(ChannelConfig config, uint128 amount)',
  'function finalizeWithdraw(ChannelConfig config)',
]);

/** A channel between a payer and a payee, by the official client's rule for its id. */
export interface Channel {
  readonly chainId: number;
  readonly id: Hex;
  readonly payer: Wallet;
  readonly config: {
    readonly payer: Hex;
    readonly payerAuthorizer: Hex;
    readonly receiver: Hex;
    readonly receiverAuthorizer: Hex;
    readonly token: Hex;
    readonly withdrawDelay: number;
    readonly salt: Hex;
  };
}

/** The shortest delay that the scheme allows, in seconds. */
export const WITHDRAW_DELAY_SECONDS = 900;

export function channelOf(
  token: ChainToken,
  { chainId, payer, payee, salt }: { chainId: number; payer: Wallet; payee: Address; salt: number },
): Channel {
  const config = {
    payer: payer.address as Hex,
    payerAuthorizer: payer.address as Hex,
    receiver: payee as Hex,
    receiverAuthorizer: payee as Hex,
    token: token.address as Hex,
    withdrawDelay: WITHDRAW_DELAY_SECONDS,
    salt: `0x${salt.toString(16).padStart(64, '0')}` as Hex,
  };
  return { chainId, payer, config, id: computeChannelId(config, chainId) };
}

/** To be sent by anyone to the channel contract: the payer's authorization pays the collector, which pays the contract. */
export async function callDeposit(
  token: ChainToken,
  { config, id, payer }: Channel,
  { amount, salt, collector = DEPOSIT_COLLECTOR }: { amount: bigint; salt: bigint; collector?: Address },
): Promise<Hex> {
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, salt]));
  const signed = await signAuthorization(token, payer, { to: collector, value: amount, nonce }, 'receive');
  const data = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [signed.validAfter, signed.validBefore, salt, signed.signature],
  );
  return encodeFunctionData({
    abi: BATCH,
    functionName: 'deposit',
    args: [config, amount, collector as Hex, data],
  });
}

export interface Claim {
  readonly channel: Channel;
  /** Of all claims of the channel so far, this one included, in atomic units. */
  readonly total: bigint;
}

/** To be sent by the payee; one row for each channel, with the payer's voucher. */
export async function callClaim(claims: readonly Claim[]): Promise<Hex> {
  return encodeFunctionData({ abi: BATCH, functionName: 'claim', args: [await rowsOf(claims)] });
}

/** To be sent by anyone, signed by the payee. */
export async function callClaimWithSignature(claims: readonly Claim[], payee: Wallet): Promise<Hex> {
  const first = claims[0];
  if (first === undefined) throw new Error('a batch has at least one claim');
  const signature = await signTypedData({
    domain: domainOf(first.channel),
    types: claimBatchTypes,
    primaryType: 'ClaimBatch',
    message: {
      claims: claims.map(({ channel, total }) => ({
        channelId: channel.id,
        maxClaimableAmount: total,
        totalClaimed: total,
      })),
    },
    privateKey: payee.privateKey,
  });
  return encodeFunctionData({
    abi: BATCH,
    functionName: 'claimWithSignature',
    args: [await rowsOf(claims), signature],
  });
}

async function rowsOf(claims: readonly Claim[]) {
  return Promise.all(
    claims.map(async ({ channel, total }) => ({
      voucher: { channel: channel.config, maxClaimableAmount: total },
      signature: await signTypedData({
        domain: domainOf(channel),
        types: voucherTypes,
        primaryType: 'Voucher',
        message: { channelId: channel.id, maxClaimableAmount: total },
        privateKey: channel.payer.privateKey,
      }),
      totalClaimed: total,
    })),
  );
}

function domainOf({ chainId }: Channel) {
  return { ...BATCH_SETTLEMENT_DOMAIN, chainId, verifyingContract: BATCH_SETTLEMENT as Hex };
}

export function callSettle(payee: Address, token: ChainToken): Hex {
  return encodeFunctionData({
    abi: BATCH,
    functionName: 'settle',
    args: [payee as Hex, token.address as Hex],
  });
}

/** To be sent by the payee. */
export function callChannelRefund({ config }: Channel, amount: bigint): Hex {
  return encodeFunctionData({ abi: BATCH, functionName: 'refund', args: [config, amount] });
}

/** Both to be sent by the payer, the second after the channel's delay. */
export function callInitiateWithdraw({ config }: Channel, amount: bigint): Hex {
  return encodeFunctionData({ abi: BATCH, functionName: 'initiateWithdraw', args: [config, amount] });
}

export function callFinalizeWithdraw({ config }: Channel): Hex {
  return encodeFunctionData({ abi: BATCH, functionName: 'finalizeWithdraw', args: [config] });
}

export function callMulticall(calls: readonly Hex[]): Hex {
  return encodeFunctionData({ abi: BATCH, functionName: 'multicall', args: [[...calls]] });
}

const PAYMENT_INFO =
  'struct PaymentInfo { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }';
const ESCROW_ABI = parseAbi([
  PAYMENT_INFO,
  'function authorize(PaymentInfo info, uint256 amount, address collector, bytes data)',
  'function charge(PaymentInfo info, uint256 amount, address collector, bytes data, uint256 feeAmount, address feeReceiver)',
  'function capture(PaymentInfo info, uint256 amount, uint256 feeAmount, address feeReceiver)',
  'function void(PaymentInfo info)',
  'function reclaim(PaymentInfo info)',
  'function refund(PaymentInfo info, uint256 amount, address collector, bytes data)',
  'function getHash(PaymentInfo info) view returns (bytes32)',
]);
const INFO_TYPE = keccak256(
  new TextEncoder().encode(
    'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)',
  ),
);
const INFO_WORDS = [{ type: 'bytes32' }, ...Array.from({ length: 12 }, () => ({ type: 'uint256' }))] as const;
const EXPIRY = 2 ** 47;

/** A payment that waits in an operator's store until it is captured. */
export interface Escrowed {
  readonly id: Hex;
  readonly payer: Wallet;
  readonly info: {
    readonly operator: Hex;
    readonly payer: Hex;
    readonly receiver: Hex;
    readonly token: Hex;
    readonly maxAmount: bigint;
    readonly preApprovalExpiry: number;
    readonly authorizationExpiry: number;
    readonly refundExpiry: number;
    readonly minFeeBps: number;
    readonly maxFeeBps: number;
    readonly feeReceiver: Hex;
    readonly salt: bigint;
  };
}

export interface EscrowTerms {
  readonly chainId: number;
  readonly operator: Address;
  readonly payer: Wallet;
  readonly payee: Address;
  readonly feeReceiver: Address;
  /** What the payer signs for: a charge or an authorization may take less. */
  readonly maxAmount: bigint;
  readonly salt: bigint;
  /** Unix second from which the payer may reclaim and the operator may neither collect nor capture; far away by default. */
  readonly expiry?: number;
}

export function escrowedOf(token: ChainToken, terms: EscrowTerms): Escrowed {
  const info = {
    operator: terms.operator as Hex,
    payer: terms.payer.address as Hex,
    receiver: terms.payee as Hex,
    token: token.address as Hex,
    maxAmount: terms.maxAmount,
    preApprovalExpiry: terms.expiry ?? EXPIRY,
    authorizationExpiry: terms.expiry ?? EXPIRY,
    refundExpiry: EXPIRY,
    minFeeBps: 0,
    maxFeeBps: 1_000,
    feeReceiver: terms.feeReceiver as Hex,
    salt: terms.salt,
  };
  return { info, payer: terms.payer, id: hashOf(info, terms.chainId) };
}

function hashOf(info: Escrowed['info'], chainId: number): Hex {
  const words = Object.values(info).map((value) => BigInt(value));
  const struct = keccak256(encodeAbiParameters(INFO_WORDS, [INFO_TYPE, ...words]));
  return keccak256(
    encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'address' }, { type: 'bytes32' }],
      [BigInt(chainId), ESCROW as Hex, struct],
    ),
  );
}

/**
 * The payer signs the most that the payment may take, with the hash of the payment without its payer as EIP-3009's nonce. Sent by the
 * operator, as all calls but reclaim.
 */
async function collectorData(token: ChainToken, { info, payer }: Escrowed, chainId: number) {
  const nonce = hashOf({ ...info, payer: `0x${'0'.repeat(40)}` }, chainId);
  const terms = {
    to: ESCROW_COLLECTOR,
    value: info.maxAmount,
    nonce,
    validBefore: BigInt(info.preApprovalExpiry),
  };
  return (await signAuthorization(token, payer, terms, 'receive')).signature;
}

export async function callAuthorize(
  token: ChainToken,
  escrowed: Escrowed,
  { amount, chainId }: { amount: bigint; chainId: number },
): Promise<Hex> {
  const data = await collectorData(token, escrowed, chainId);
  const args = [escrowed.info, amount, ESCROW_COLLECTOR as Hex, data] as const;
  return encodeFunctionData({ abi: ESCROW_ABI, functionName: 'authorize', args });
}

export async function callCharge(
  token: ChainToken,
  escrowed: Escrowed,
  { amount, fee, chainId }: { amount: bigint; fee: bigint; chainId: number },
): Promise<Hex> {
  const data = await collectorData(token, escrowed, chainId);
  const args = [
    escrowed.info,
    amount,
    ESCROW_COLLECTOR as Hex,
    data,
    fee,
    escrowed.info.feeReceiver,
  ] as const;
  return encodeFunctionData({ abi: ESCROW_ABI, functionName: 'charge', args });
}

export function callCapture({ info }: Escrowed, { amount, fee }: { amount: bigint; fee: bigint }): Hex {
  const args = [info, amount, fee, info.feeReceiver] as const;
  return encodeFunctionData({ abi: ESCROW_ABI, functionName: 'capture', args });
}

export function callVoid({ info }: Escrowed): Hex {
  return encodeFunctionData({ abi: ESCROW_ABI, functionName: 'void', args: [info] });
}

export function callReclaim({ info }: Escrowed): Hex {
  return encodeFunctionData({ abi: ESCROW_ABI, functionName: 'reclaim', args: [info] });
}

/** The operator approved the refund collector before. */
export function callEscrowRefund({ info }: Escrowed, amount: bigint): Hex {
  const args = [info, amount, REFUND_COLLECTOR as Hex, '0x'] as const;
  return encodeFunctionData({ abi: ESCROW_ABI, functionName: 'refund', args });
}
