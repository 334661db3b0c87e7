import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { type Address, address } from '../../core/domain/address.ts';
import type { Rpc } from './json-rpc.ts';

export const MULTICALL3 = address('0xca11bde05977b3631167028862be2a173976ca11');

const ABI = parseAbi([
  'function aggregate3((address target,bool allowFailure,bytes callData)[] calls) payable returns ((bool success,bytes returnData)[])',
]);

/**
 * Puts Multicall3 at its canonical address. viem ships its creation code but does not export it, hence the file path; running
 * it as a call to nobody answers the runtime code, so that no transaction and no block is needed.
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
  return encodeFunctionData({ abi: ABI, functionName: 'aggregate3', args: [entries] });
}
