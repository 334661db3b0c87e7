import { randomBytes } from 'node:crypto';
import { encodeBuilderCodeSuffix } from '@x402/extensions/builder-code';
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  parseAbiParameters,
  parseSignature,
  stringToHex,
} from 'viem';
import { sign } from 'viem/accounts';
import type { Address } from '../../core/domain/account.ts';
import type { ChainToken } from './deploy-usdc.ts';
import type { Wallet } from './sender.ts';

const MARKER = '0x80218021802180218021802180218021';

/** ERC-8021 schema 2: `w` names the facilitator, `a` the app, `s` services. By the package's own encoder. */
export function withBuilderCode(
  calldata: Hex,
  codes: { readonly w?: string; readonly a?: string; readonly s?: string[] },
): Hex {
  const suffix = encodeBuilderCodeSuffix(codes);
  return concatHex([calldata, suffix.startsWith('0x') ? suffix : `0x${suffix}`]);
}

/** ERC-8021 schema 0: ASCII codes joined by commas, then their length in one byte. */
export function withPlainBuilderCodes(calldata: Hex, codes: readonly string[]): Hex {
  const text = stringToHex(codes.join(','));
  const length = (text.length - 2) / 2;
  return concatHex([calldata, text, `0x${length.toString(16).padStart(2, '0')}`, '0x00', MARKER]);
}

/**
 * Every way a payment reaches the chain, as calldata. Who sends it (the relayer), to which contract and in which block is
 * the caller's choice: `sender.send({ from: relayer, to: token.address, data: callTransfer(signed) })`.
 */

/** EIP-3009 message; times in Unix seconds, value in atomic units. */
export interface Authorization {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
}

export interface SignedAuthorization extends Authorization {
  /** 65 bytes, r ‖ s ‖ v; empty for a contract that agrees to everything. */
  readonly signature: Hex;
}

/** Type hashes of EIP-3009. `receive` may only be sent by the payee. */
const TYPE_HASH = {
  transfer: '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267',
  receive: '0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8',
} as const;

/** Far enough for any test chain whose clock was moved forward. */
const DEFAULT_VALID_BEFORE = 2n ** 48n;

const MESSAGE = parseAbiParameters(
  'bytes32 typeHash, address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
);

const VRS = parseAbi([
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)',
  'function receiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)',
]);
const BYTES = parseAbi([
  'function transferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)',
  'function receiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce,bytes signature)',
]);
const PLAIN = parseAbi([
  'function transfer(address to,uint256 value) returns (bool)',
  'function forward(address target,bytes data)',
]);

export interface PaymentTerms {
  readonly to: Address;
  readonly value: bigint;
  /** Default: random. */
  readonly nonce?: Hex;
  readonly validBefore?: bigint;
}

/**
 * Signs with the digest spelled out instead of a generic EIP-712 encoder: about 0.5 ms each, and a traffic generator signs
 * thousands. Default kind: transfer.
 */
export async function signAuthorization(
  token: ChainToken,
  payer: Wallet,
  terms: PaymentTerms,
  kind: keyof typeof TYPE_HASH = 'transfer',
): Promise<SignedAuthorization> {
  const message = authorize(payer.address, terms);
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const fields = [TYPE_HASH[kind], from as Hex, to as Hex, value, validAfter, validBefore, nonce] as const; // Address is a Hex
  const structHash = keccak256(encodeAbiParameters(MESSAGE, fields));
  const hash = keccak256(concatHex(['0x1901', token.domainSeparator, structHash]));
  return { ...message, signature: await sign({ hash, privateKey: payer.privateKey, to: 'hex' }) };
}

/** For a `WillingPayer` contract: it confirms any signature (EIP-1271), so none is made. Send with `callTransferBytes`. */
export function authorizeWillingly(payer: Address, terms: PaymentTerms): SignedAuthorization {
  return { ...authorize(payer, terms), signature: '0x' };
}

function authorize(from: Address, { to, value, nonce, validBefore }: PaymentTerms): Authorization {
  return {
    from,
    to,
    value,
    validAfter: 0n,
    validBefore: validBefore ?? DEFAULT_VALID_BEFORE,
    nonce: nonce ?? `0x${randomBytes(32).toString('hex')}`,
  };
}

/** transferWithAuthorization(v, r, s), selector 0xe3ee160e. */
export function callTransfer(signed: SignedAuthorization): Hex {
  return encodeFunctionData({ abi: VRS, functionName: 'transferWithAuthorization', args: splitArgs(signed) });
}

/** transferWithAuthorization(bytes), selector 0xcf092995. */
export function callTransferBytes(signed: SignedAuthorization): Hex {
  return encodeFunctionData({
    abi: BYTES,
    functionName: 'transferWithAuthorization',
    args: bytesArgs(signed),
  });
}

/** receiveWithAuthorization(v, r, s), selector 0xef55bec6; only the payee may send it, sign with kind 'receive'. */
export function callReceive(signed: SignedAuthorization): Hex {
  return encodeFunctionData({ abi: VRS, functionName: 'receiveWithAuthorization', args: splitArgs(signed) });
}

/** receiveWithAuthorization(bytes), selector 0x88b7ab63. */
export function callReceiveBytes(signed: SignedAuthorization): Hex {
  return encodeFunctionData({
    abi: BYTES,
    functionName: 'receiveWithAuthorization',
    args: bytesArgs(signed),
  });
}

/** A plain ERC-20 transfer: no EIP-3009 marker. The payer sends it. */
export function callBareTransfer(to: Address, value: bigint): Hex {
  return encodeFunctionData({ abi: PLAIN, functionName: 'transfer', args: [to as Hex, value] }); // Address is a Hex
}

/** Through the `Router` double: the transaction's `to` is then not the token. */
export function callRouted(target: Address, data: Hex): Hex {
  return encodeFunctionData({ abi: PLAIN, functionName: 'forward', args: [target as Hex, data] }); // Address is a Hex
}

function head({ from, to, value, validAfter, validBefore, nonce }: Authorization) {
  return [from as Hex, to as Hex, value, validAfter, validBefore, nonce] as const; // Address is a Hex
}

function splitArgs(signed: SignedAuthorization) {
  const { r, s, yParity } = parseSignature(signed.signature);
  return [...head(signed), 27 + yParity, r, s] as const;
}

function bytesArgs(signed: SignedAuthorization) {
  return [...head(signed), signed.signature] as const;
}
