import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Compiles contracts/doubles.sol to contracts/doubles.json, which is committed so that the demo starts without a 3 s compiler
 * run. `npx tsx demo/chain/compile-contracts.ts` writes it; test/contract/chain-kit.test.ts proves that the two match.
 */

const SOURCE = fileURLToPath(new URL('./contracts/doubles.sol', import.meta.url));
const ARTIFACT = fileURLToPath(new URL('./contracts/doubles.json', import.meta.url));

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
}

interface CompiledContract {
  readonly evm: { readonly deployedBytecode: { readonly object: string } };
}

/** Runtime bytecode by contract name. Throws with the compiler's messages. */
export function compileDoubles(): Record<string, `0x${string}`> {
  // solc ships no types; its one function takes and gives JSON text.
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const input = {
    language: 'Solidity',
    sources: { 'doubles.sol': { content: readFileSync(SOURCE, 'utf8') } },
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
  const contracts = Object.entries(output.contracts['doubles.sol'] ?? {});
  return Object.fromEntries(
    contracts
      .filter(([, { evm }]) => evm.deployedBytecode.object !== '')
      .map(([name, { evm }]) => [name, `0x${evm.deployedBytecode.object}` as const]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(ARTIFACT, `${JSON.stringify(compileDoubles(), null, 2)}\n`);
}
