import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  pad,
  parseAbi,
  stringToHex,
  zeroHash,
} from 'viem';
import { signTypedData } from 'viem/accounts';
import { type Address, address, type Hash } from '../../core/domain/account.ts';
import identityRegistry from './contracts/identity-registry.json' with { type: 'json' };
import registries from './contracts/registries.json' with { type: 'json' };
import type { Rpc } from './json-rpc.ts';
import type { Transaction, Wallet } from './sender.ts';

/**
 * The ERC-8004 registries of a local chain: how they get there and every write as calldata. Reads are in registry-views.ts.
 * Who sends decides who registers, owns, rates: `sender.send(toIdentity(owner, callRegister({ uri })))`.
 */

export interface RegistryAddresses {
  readonly identity: Address;
  readonly reputation: Address;
  readonly validation: Address;
}

/** Canonical addresses on test networks (ERC-8004). */
export const TESTNET_REGISTRIES: RegistryAddresses = {
  identity: address('0x8004a818bfb912233c491871b3d84c89a494bd9e'),
  reputation: address('0x8004b663056a597dffe9eccc1965a193b7388713'),
  validation: address('0x8004cb1bf31daf7788923b405b754f57aceb4272'),
};

/** Puts the three registries in place, empty; no block is mined. The other two learn the identity registry's address. */
export async function installRegistries(rpc: Rpc, at: RegistryAddresses = TESTNET_REGISTRIES): Promise<void> {
  const identity = pad(at.identity as Hex); // Address is a Hex
  await rpc.batch([
    { method: 'anvil_setCode', params: [at.identity, identityRegistry.IdentityRegistryDouble] },
    { method: 'anvil_setCode', params: [at.reputation, registries.ReputationRegistryDouble] },
    { method: 'anvil_setCode', params: [at.validation, registries.ValidationRegistryDouble] },
    { method: 'anvil_setStorageAt', params: [at.reputation, '0x0', identity] },
    { method: 'anvil_setStorageAt', params: [at.validation, '0x0', identity] },
  ]);
}

/** Makes an address into a contract that passes every agent it registers on to 0x…beef, from within the mint. */
export async function installHastyOwner(rpc: Rpc, at: Address): Promise<void> {
  await rpc.call('anvil_setCode', at, identityRegistry.HastyOwner);
}

/** A kilobyte of URI costs 0.8 million gas to store, and the network takes no transaction above 16.7 million (EIP-7825). */
const REGISTRY_GAS = 16_000_000n;

export const toIdentity = (from: Address, data: Hex): Transaction => ({
  from,
  to: TESTNET_REGISTRIES.identity,
  data,
  gas: REGISTRY_GAS,
});
export const toReputation = (from: Address, data: Hex): Transaction => ({
  from,
  to: TESTNET_REGISTRIES.reputation,
  data,
  gas: REGISTRY_GAS,
});
export const toValidation = (from: Address, data: Hex): Transaction => ({
  from,
  to: TESTNET_REGISTRIES.validation,
  data,
  gas: REGISTRY_GAS,
});

const IDENTITY = parseAbi([
  'struct MetadataEntry { string metadataKey; bytes metadataValue; }',
  'function register() returns (uint256)',
  'function register(string agentURI) returns (uint256)',
  'function register(string agentURI, MetadataEntry[] metadata) returns (uint256)',
  'function setAgentURI(uint256 agentId, string newURI)',
  'function setMetadata(uint256 agentId, string metadataKey, bytes metadataValue)',
  'function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes signature)',
  'function unsetAgentWallet(uint256 agentId)',
  'function transferFrom(address from, address to, uint256 tokenId)',
  'function approve(address spender, uint256 tokenId)',
  'function setApprovalForAll(address operator, bool approved)',
  'function registerAndPass(address registry, string agentURI) returns (uint256)',
]);

/** A metadata value; text is taken as UTF-8. */
export type MetadataEntries = Readonly<Record<string, Hex | { readonly text: string }>>;

/** The next free id, from 0. Without `uri` by register(), with `metadata` by register(string,(string,bytes)[]). */
export function callRegister(
  agent: { readonly uri?: string; readonly metadata?: MetadataEntries } = {},
): Hex {
  const { uri, metadata } = agent;
  if (metadata !== undefined) {
    const entries = Object.entries(metadata).map(([metadataKey, value]) => ({
      metadataKey,
      metadataValue: bytesOf(value),
    }));
    return encodeFunctionData({ abi: IDENTITY, functionName: 'register', args: [uri ?? '', entries] });
  }
  if (uri !== undefined) return encodeFunctionData({ abi: IDENTITY, functionName: 'register', args: [uri] });
  return encodeFunctionData({ abi: IDENTITY, functionName: 'register', args: [] });
}

/** register(string) with a URI of any bytes: the contract does not ask whether they are UTF-8. */
export function callRegisterRaw(uri: Hex): Hex {
  return concatHex([REGISTER_URI, encodeAbiParameters([{ type: 'bytes' }], [uri])]); // encoded as a string is
}

const REGISTER_URI = '0xf2c298be';

const bytesOf = (value: Hex | { readonly text: string }): Hex =>
  typeof value === 'string' ? value : stringToHex(value.text);

export function callSetAgentUri(agentId: bigint, uri: string): Hex {
  return encodeFunctionData({ abi: IDENTITY, functionName: 'setAgentURI', args: [agentId, uri] });
}

/** Reverts for the key `agentWallet`. */
export function callSetMetadata(agentId: bigint, key: string, value: Hex | { readonly text: string }): Hex {
  return encodeFunctionData({
    abi: IDENTITY,
    functionName: 'setMetadata',
    args: [agentId, key, bytesOf(value)],
  });
}

export interface WalletConsent {
  readonly agentId: bigint;
  /** Signs that it wants to be the agent's wallet. */
  readonly wallet: Wallet;
  /** The agent's owner in the block that takes it. */
  readonly owner: Address;
  /** Unix seconds; at most five minutes after the block that takes it. */
  readonly deadline: number;
  readonly chainId: number;
}

/** For the owner or an operator to send. */
export async function callSetAgentWallet(consent: WalletConsent): Promise<Hex> {
  const { agentId, wallet } = consent;
  const deadline = BigInt(consent.deadline);
  const newWallet = wallet.address as Hex; // Address is a Hex, here and below
  const signature = await signTypedData({
    privateKey: wallet.privateKey,
    domain: {
      name: 'ERC8004IdentityRegistry',
      version: '1',
      chainId: consent.chainId,
      verifyingContract: TESTNET_REGISTRIES.identity as Hex,
    },
    primaryType: 'AgentWalletSet',
    types: {
      AgentWalletSet: [
        { name: 'agentId', type: 'uint256' },
        { name: 'newWallet', type: 'address' },
        { name: 'owner', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    message: { agentId, newWallet, owner: consent.owner as Hex, deadline },
  });
  return encodeFunctionData({
    abi: IDENTITY,
    functionName: 'setAgentWallet',
    args: [agentId, newWallet, deadline, signature],
  });
}

export function callUnsetAgentWallet(agentId: bigint): Hex {
  return encodeFunctionData({ abi: IDENTITY, functionName: 'unsetAgentWallet', args: [agentId] });
}

/** Clears the agent's wallet, even when `to` is the owner. */
export function callTransferAgent(move: {
  readonly agentId: bigint;
  readonly from: Address;
  readonly to: Address;
}): Hex {
  const args = [move.from as Hex, move.to as Hex, move.agentId] as const; // Address is a Hex
  return encodeFunctionData({ abi: IDENTITY, functionName: 'transferFrom', args });
}

/** One operator for one agent, until it is transferred. */
export function callApproveAgent(spender: Address, agentId: bigint): Hex {
  return encodeFunctionData({ abi: IDENTITY, functionName: 'approve', args: [spender as Hex, agentId] }); // as above
}

/** One operator for all agents of the sender. */
export function callSetOperator(operator: Address, approved: boolean): Hex {
  return encodeFunctionData({
    abi: IDENTITY,
    functionName: 'setApprovalForAll',
    args: [operator as Hex, approved], // as above
  });
}

/** To be sent to an address made by `installHastyOwner`. */
export function callRegisterAndPass(uri: string): Hex {
  return encodeFunctionData({
    abi: IDENTITY,
    functionName: 'registerAndPass',
    args: [TESTNET_REGISTRIES.identity as Hex, uri], // as above
  });
}

const REPUTATION = parseAbi([
  'function giveFeedback(uint256 agentId, int128 value, uint8 valueDecimals, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)',
  'function revokeFeedback(uint256 agentId, uint64 feedbackIndex)',
  'function appendResponse(uint256 agentId, address clientAddress, uint64 feedbackIndex, string responseURI, bytes32 responseHash)',
]);

export interface GivenFeedback {
  readonly agentId: bigint;
  /** At most 10^38 either way. */
  readonly value: bigint;
  /** 0 (default) to 18. */
  readonly valueDecimals?: number;
  readonly tag1?: string;
  readonly tag2?: string;
  readonly endpoint?: string;
  readonly uri?: string;
  /** keccak-256 of the file at `uri`. */
  readonly hash?: Hash;
}

/** Reverts with "Self-feedback not allowed" from the agent's owner and its operators. Indices are 1-based per client. */
export function callGiveFeedback(given: GivenFeedback): Hex {
  const { agentId, value, valueDecimals = 0, tag1 = '', tag2 = '', endpoint = '', uri = '' } = given;
  return encodeFunctionData({
    abi: REPUTATION,
    functionName: 'giveFeedback',
    args: [agentId, value, valueDecimals, tag1, tag2, endpoint, uri, given.hash ?? zeroHash],
  });
}

/** For the client that gave it. */
export function callRevokeFeedback(agentId: bigint, feedbackIndex: bigint): Hex {
  return encodeFunctionData({
    abi: REPUTATION,
    functionName: 'revokeFeedback',
    args: [agentId, feedbackIndex],
  });
}

/** Any address may respond to any feedback, revoked or not, any number of times. */
export function callAppendResponse(response: {
  readonly agentId: bigint;
  readonly client: Address;
  readonly feedbackIndex: bigint;
  readonly uri: string;
  readonly hash?: Hash;
}): Hex {
  const { agentId, client, feedbackIndex, uri, hash } = response;
  return encodeFunctionData({
    abi: REPUTATION,
    functionName: 'appendResponse',
    args: [agentId, client as Hex, feedbackIndex, uri, hash ?? zeroHash], // Address is a Hex
  });
}

const VALIDATION = parseAbi([
  'function validationRequest(address validatorAddress, uint256 agentId, string requestURI, bytes32 requestHash)',
  'function validationResponse(bytes32 requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)',
]);

/** For the agent's owner or an operator. Each request hash works once. */
export function callValidationRequest(request: {
  readonly validator: Address;
  readonly agentId: bigint;
  readonly uri: string;
  readonly requestHash: Hash;
}): Hex {
  return encodeFunctionData({
    abi: VALIDATION,
    functionName: 'validationRequest',
    args: [request.validator as Hex, request.agentId, request.uri, request.requestHash], // as above
  });
}

/** For the validator that was asked; it may answer again. */
export function callValidationResponse(answer: {
  readonly requestHash: Hash;
  /** 0 to 100. */
  readonly response: number;
  readonly uri?: string;
  readonly hash?: Hash;
  readonly tag?: string;
}): Hex {
  const { requestHash, response, uri = '', hash = zeroHash, tag = '' } = answer;
  return encodeFunctionData({
    abi: VALIDATION,
    functionName: 'validationResponse',
    args: [requestHash, response, uri, hash, tag],
  });
}
