import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Compiles contracts/*.sol to contracts/*.json, which are committed so that the demo starts without a 3 s compiler run.
 * `npx tsx demo/chain/compile-contracts.ts` writes them; test/contract/chain-kit.test.ts proves that they match.
 */

export const CONTRACT_FILES = ['doubles', 'identity-registry', 'registries'] as const;
export type ContractFile = (typeof CONTRACT_FILES)[number];

const fileOf = (name: ContractFile, extension: 'sol' | 'json'): string =>
  fileURLToPath(new URL(`./contracts/${name}.${extension}`, import.meta.url));

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
}

interface CompiledContract {
  readonly evm: { readonly deployedBytecode: { readonly object: string } };
}

/** Runtime bytecode by contract name. Throws with the compiler's messages. */
export function compileContracts(file: ContractFile): Record<string, `0x${string}`> {
  // solc ships no types; its one function takes and gives JSON text.
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(fileOf(file, 'sol'), 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      evmVersion: 'paris',
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput; // solc's documented output
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const contracts = Object.entries(output.contracts[file] ?? {});
  return Object.fromEntries(
    contracts
      .filter(([, { evm }]) => evm.deployedBytecode.object !== '')
      .map(([name, { evm }]) => [name, `0x${evm.deployedBytecode.object}` as const]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of CONTRACT_FILES)
    writeFileSync(fileOf(file, 'json'), `${JSON.stringify(compileContracts(file), null, 2)}\n`);
}
