import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  maxUint256,
  parseAbi,
  parseAbiParameters,
  parseSignature,
} from 'viem';
import { sign, signTypedData } from 'viem/accounts';
import { type Address, address } from '../../core/domain/account.ts';
import doubles from './contracts/doubles.json' with { type: 'json' };
import type { ChainToken } from './deploy-usdc.ts';
import type { Rpc } from './json-rpc.ts';
import type { Wallet } from './sender.ts';

/** Canonical addresses, the same on every chain. */
export const PERMIT2 = address('0x000000000022d473030f116ddee9f6b43ac78ba3');
export const EXACT_PROXY = address('0x402085c248eea27d92e8b30b2c58ed07f9e20001');
export const UPTO_PROXY = address('0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002');
/** Doubles that have no original: addresses of our own choice. */
export const ROUTER = address('0x00000000000000000000000000000000000f1b01');
export const REVERSE_TOKEN = address('0x00000000000000000000000000000000000f1b02');

/** Puts the doubles of contracts/doubles.sol in place; no block is mined. */
export async function installDoubles(rpc: Rpc): Promise<void> {
  await rpc.batch([
    { method: 'anvil_setCode', params: [PERMIT2, doubles.Permit2Double] },
    { method: 'anvil_setCode', params: [EXACT_PROXY, doubles.ExactProxyDouble] },
    { method: 'anvil_setCode', params: [UPTO_PROXY, doubles.UptoProxyDouble] },
    { method: 'anvil_setCode', params: [ROUTER, doubles.Router] },
    { method: 'anvil_setCode', params: [REVERSE_TOKEN, doubles.ReverseOrderToken] },
  ]);
}

/** Makes addresses into contracts that agree to every authorization (see `authorizeWillingly`). */
export async function installWillingPayers(rpc: Rpc, payers: readonly Address[]): Promise<void> {
  await rpc.batch(
    payers.map((payer) => ({ method: 'anvil_setCode', params: [payer, doubles.WillingPayer] })),
  );
}

const ERC20 = parseAbi([
  'function approve(address spender,uint256 value) returns (bool)',
  'function nonces(address owner) view returns (uint256)',
]);

/** The payer's one-time approval of Permit2, to be sent by the payer to the token. */
export function callApprovePermit2(): Hex {
  return callApprove(PERMIT2);
}

/** Of all that the sender has, to be sent to the token. */
export function callApprove(spender: Address): Hex {
  return encodeFunctionData({ abi: ERC20, functionName: 'approve', args: [spender as Hex, maxUint256] }); // Address is a Hex
}

const EXACT = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Permit2612 { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'struct Witness { address to; uint256 validAfter; }',
  'function settle(Permit permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(Permit2612 permit2612, Permit permit, address owner, Witness witness, bytes signature)',
]);
const UPTO = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct Permit { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(Permit permit, uint256 amount, address owner, Witness witness, bytes signature)',
]);

const DEADLINE = 2n ** 48n;
const PERMITTED = [
  { name: 'token', type: 'address' },
  { name: 'amount', type: 'uint256' },
] as const;
const PERMIT = [
  { name: 'permitted', type: 'TokenPermissions' },
  { name: 'spender', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
  { name: 'witness', type: 'Witness' },
] as const;
const domain = (chainId: number) => ({ name: 'Permit2', chainId, verifyingContract: PERMIT2 as Hex }); // Address is a Hex

export interface Permit2Terms {
  readonly chainId: number;
  readonly token: Address;
  readonly to: Address;
  /** What the payer permits; `exact` pays all of it. */
  readonly amount: bigint;
  /** Each value works once per payer. */
  readonly nonce: bigint;
}

/** Calldata of `settle` for EXACT_PROXY; any address may send it. The payer must have approved Permit2. */
export async function callExactSettle(payer: Wallet, terms: Permit2Terms): Promise<Hex> {
  const args = await exactArguments(payer, terms);
  return encodeFunctionData({ abi: EXACT, functionName: 'settle', args });
}

/** Calldata of `settleWithPermit`: carries an EIP-2612 approval, so that the payer needs none before; emits SettledWithPermit. */
export async function callExactSettleWithPermit(
  rpc: Rpc,
  token: ChainToken,
  payer: Wallet,
  terms: Permit2Terms,
): Promise<Hex> {
  const args = await exactArguments(payer, terms);
  const approval = await signPermit2612(rpc, token, payer, terms.amount);
  return encodeFunctionData({ abi: EXACT, functionName: 'settleWithPermit', args: [approval, ...args] });
}

async function exactArguments(payer: Wallet, terms: Permit2Terms) {
  const permitted = { token: terms.token as Hex, amount: terms.amount }; // Address is a Hex, here and below
  const witness = { to: terms.to as Hex, validAfter: 0n };
  const signature = await signTypedData({
    privateKey: payer.privateKey,
    domain: domain(terms.chainId),
    primaryType: 'PermitWitnessTransferFrom',
    types: {
      PermitWitnessTransferFrom: PERMIT,
      TokenPermissions: PERMITTED,
      Witness: [
        { name: 'to', type: 'address' },
        { name: 'validAfter', type: 'uint256' },
      ],
    },
    message: { permitted, spender: EXACT_PROXY as Hex, nonce: terms.nonce, deadline: DEADLINE, witness },
  });
  const permit = { permitted, nonce: terms.nonce, deadline: DEADLINE };
  return [permit, payer.address as Hex, witness, signature] as const;
}

/** Calldata of `settle` for UPTO_PROXY: pays `actual` of the permitted amount; only `facilitator` may send it. */
export async function callUptoSettle(
  payer: Wallet,
  terms: Permit2Terms & { readonly facilitator: Address; readonly actual: bigint },
): Promise<Hex> {
  const permitted = { token: terms.token as Hex, amount: terms.amount }; // Address is a Hex, here and below
  const witness = { to: terms.to as Hex, facilitator: terms.facilitator as Hex, validAfter: 0n };
  const signature = await signTypedData({
    privateKey: payer.privateKey,
    domain: domain(terms.chainId),
    primaryType: 'PermitWitnessTransferFrom',
    types: {
      PermitWitnessTransferFrom: PERMIT,
      TokenPermissions: PERMITTED,
      Witness: [
        { name: 'to', type: 'address' },
        { name: 'facilitator', type: 'address' },
        { name: 'validAfter', type: 'uint256' },
      ],
    },
    message: { permitted, spender: UPTO_PROXY as Hex, nonce: terms.nonce, deadline: DEADLINE, witness },
  });
  const permit = { permitted, nonce: terms.nonce, deadline: DEADLINE };
  return encodeFunctionData({
    abi: UPTO,
    functionName: 'settle',
    args: [permit, terms.actual, payer.address as Hex, witness, signature],
  });
}

const PERMIT2612_TYPE_HASH = '0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9';
const PERMIT2612 = parseAbiParameters('bytes32, address, address, uint256, uint256, uint256');

async function signPermit2612(rpc: Rpc, token: ChainToken, payer: Wallet, value: bigint) {
  const data = encodeFunctionData({ abi: ERC20, functionName: 'nonces', args: [payer.address as Hex] }); // Address is a Hex
  const nonce = BigInt(await rpc.call<Hex>('eth_call', { to: token.address, data }, 'pending'));
  const fields = [
    PERMIT2612_TYPE_HASH,
    payer.address as Hex,
    PERMIT2 as Hex,
    value,
    nonce,
    DEADLINE,
  ] as const;
  const structHash = keccak256(encodeAbiParameters(PERMIT2612, fields));
  const hash = keccak256(concatHex(['0x1901', token.domainSeparator, structHash]));
  const signature = await sign({ hash, privateKey: payer.privateKey, to: 'hex' });
  const { r, s, yParity } = parseSignature(signature);
  return { value, deadline: DEADLINE, r, s, v: 27 + yParity };
}
