import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Compiles contracts/*.sol to contracts/*.json, which are committed so that the demo starts without a 3 s compiler run.
 * `npx tsx demo/chain/compile-contracts.ts` writes them; test/ingest/chain/chain-kit.engine.test.ts proves that they match.
 */

export const CONTRACT_FILES = ['channels', 'doubles', 'identity-registry', 'registries'] as const;
type ContractFile = (typeof CONTRACT_FILES)[number];

const fileOf = (name: string, extension: 'sol' | 'json'): string =>
  fileURLToPath(new URL(`./contracts/${name}.${extension}`, import.meta.url));

const DIGEST_FILE = fileURLToPath(new URL('./contracts/compilation.sha256', import.meta.url));

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
}

interface CompiledContract {
  readonly evm: { readonly deployedBytecode: { readonly object: string } };
}

/** Runtime bytecode by contract name. */
export type Artifact = Readonly<Record<string, `0x${string}`>>;

function compilerInput(): string {
  return JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(
      CONTRACT_FILES.map((file) => [file, { content: readFileSync(fileOf(file, 'sol'), 'utf8') }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      evmVersion: 'paris',
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  });
}

/**
 * Digest of the compiler, of what went into it and of the artifacts that came out. While it is the one that was written with the
 * artifacts they belong to the sources, and nothing has to be compiled to know it.
 */
export function compilationDigest(): string {
  const compiler = createRequire(import.meta.url)('solc/package.json') as { readonly version: string };
  const hash = createHash('sha256').update(compiler.version).update(compilerInput());
  for (const file of CONTRACT_FILES) hash.update(readFileSync(fileOf(file, 'json'), 'utf8'));
  return hash.digest('hex');
}

/** The digest that was written with the artifacts. */
export function committedDigest(): string {
  return readFileSync(DIGEST_FILE, 'utf8').trim();
}

/** Every file, in one run: loading the compiler takes longer than compiling. Throws with the compiler's messages. */
export function compileContracts(): Readonly<Record<ContractFile, Artifact>> {
  // solc ships no types; its one function takes and gives JSON text.
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const output = JSON.parse(solc.compile(compilerInput())) as CompilerOutput; // solc's documented output
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const artifacts = CONTRACT_FILES.map((file) => [file, artifactOf(output.contracts[file] ?? {})] as const);
  return Object.fromEntries(artifacts) as Record<ContractFile, Artifact>; // an entry for every file
}

/** Interfaces and abstract contracts have no code. */
function artifactOf(contracts: Readonly<Record<string, CompiledContract>>): Artifact {
  return Object.fromEntries(
    Object.entries(contracts)
      .filter(([, { evm }]) => evm.deployedBytecode.object !== '')
      .map(([name, { evm }]) => [name, `0x${evm.deployedBytecode.object}` as const]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, artifact] of Object.entries(compileContracts()))
    writeFileSync(fileOf(file, 'json'), `${JSON.stringify(artifact, null, 2)}\n`);
  writeFileSync(DIGEST_FILE, `${compilationDigest()}\n`);
}
