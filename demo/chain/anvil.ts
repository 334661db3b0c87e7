import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Hex } from 'viem';
import { installChannels } from './channels.ts';
import { type ChainToken, deployUsdc, installMulticall3 } from './deploy-usdc.ts';
import { createRpc, type Rpc } from './json-rpc.ts';
import { installDoubles } from './permit2.ts';
import { installRegistries } from './registries.ts';
import { createSender, mine, type Sender } from './sender.ts';

/** When blocks appear: one per transaction, only on `evm_mine`, or every so many seconds. */
export type Mining = 'auto' | 'manual' | { readonly everySeconds: number };

export interface AnvilOptions {
  /** Default 84532 (Base Sepolia), where Circle's domain separator is the real one. */
  readonly chainId?: number;
  /** Default 'manual': tests and traffic decide what shares a block. */
  readonly mining?: Mining;
  /** Unix seconds of block 0. Default: now. */
  readonly genesisTime?: number;
  /** Number of the first block. Default 0. */
  readonly genesisNumber?: number;
  /** Default 0: a free port. Name one to start a node again where it was. */
  readonly port?: number;
  /** The node calls a block final two epochs below the head. Default 32: 64 blocks. */
  readonly slotsInAnEpoch?: number;
  /** A state file to load at start and to write at stop, so that a stopped chain can go on. */
  readonly stateFile?: string;
}

export interface Anvil {
  readonly url: string;
  readonly wsUrl: string;
  readonly chainId: number;
  readonly rpc: Rpc;
  /** Ends the node; resolves once the process is gone. Twice is fine. */
  stop(): Promise<void>;
}

export const DEMO_CHAIN_ID = 84_532;
const START_TIMEOUT_MS = 20_000;
const ERROR_MAX_CHARS = 2_000;
/** Past the default, anvil forgets old transactions; a bench keeps hundreds of thousands. */
const KEPT_BLOCKS = 1_000_000;

/**
 * Node has no parent-death signal, so a guard holds our pipe as its stdin: when we end, even by SIGKILL, the pipe closes and
 * the guard kills the node. With a state file the node must end by SIGTERM, which is when it writes the file.
 */
const GUARD = `
const { spawn } = require('node:child_process');
const [binary, signal, ...args] = process.argv.slice(1);
const node = spawn(binary, args, { stdio: ['ignore', 'inherit', 'inherit'] });
node.on('exit', (code) => process.exit(code ?? 1));
node.on('error', (error) => { console.error(error.message); process.exit(1); });
const end = () => node.kill(signal);
process.stdin.on('end', end).on('error', end).resume();
process.on('SIGINT', () => {}).on('SIGTERM', end);
`;

/**
 * Starts anvil on a loopback port. Any address may send transactions without a key (auto-impersonation), so that relayers
 * can be the real, named ones. Throws when the platform has no anvil binary or the node does not listen in time.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? DEMO_CHAIN_ID;
  const signal = options.stateFile === undefined ? 'SIGKILL' : 'SIGTERM';
  const guard = spawn(
    process.execPath,
    ['-e', GUARD, anvilBinary(), signal, ...anvilArgs(options, chainId)],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  guard.stdin.on('error', () => undefined); // EPIPE when the node ended first; 'exit' tells
  const exited = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  const port = await listeningPort(guard);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    chainId,
    rpc: createRpc(url),
    async stop() {
      guard.stdin.end();
      await exited;
    },
  };
}

function anvilArgs(options: AnvilOptions, chainId: number): string[] {
  const mining = options.mining ?? 'manual';
  const args = ['--host', '127.0.0.1', '--port', String(options.port ?? 0), '--chain-id', String(chainId)];
  args.push('--auto-impersonate', '--order', 'fifo', '--disable-block-gas-limit', '--no-request-size-limit');
  args.push('--transaction-block-keeper', String(KEPT_BLOCKS));
  if (mining === 'manual') args.push('--no-mining');
  else if (mining !== 'auto') args.push('--block-time', String(mining.everySeconds));
  if (options.genesisNumber !== undefined) args.push('--number', String(options.genesisNumber));
  if (options.genesisTime !== undefined) args.push('--timestamp', String(options.genesisTime));
  if (options.slotsInAnEpoch !== undefined) args.push('--slots-in-an-epoch', String(options.slotsInAnEpoch));
  if (options.stateFile !== undefined) args.push('--state', options.stateFile);
  return args;
}

/** The native binary itself: npm's launcher script would sit between us and the node and outlive a SIGKILL. */
function anvilBinary(): string {
  const require = createRequire(import.meta.url);
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  const platform = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  const launcher = createRequire(require.resolve('@foundry-rs/anvil/package.json'));
  try {
    const path = launcher.resolve(`${platform}/bin/${name}`);
    if (existsSync(path)) return path;
  } catch (cause) {
    throw new Error(
      `there is no anvil for this platform (${platform}); run npm ci again or use another machine`,
      {
        cause,
      },
    );
  }
  throw new Error(`${platform} is installed without its binary; run npm ci again`);
}

async function listeningPort(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => settle(new Error('anvil does not listen in time')), START_TIMEOUT_MS);
    const settle = (outcome: number | Error): void => {
      clearTimeout(late);
      child.stdout?.removeAllListeners('data').resume(); // a full pipe would stop the node
      child.stderr?.removeAllListeners('data').resume();
      child.off('exit', ended);
      if (typeof outcome === 'number') {
        resolve(outcome);
      } else {
        child.stdin?.end();
        reject(outcome);
      }
    };
    const ended = (): void => settle(new Error(`anvil ended at start: ${text.slice(-ERROR_MAX_CHARS)}`));
    const look = (chunk: Buffer): void => {
      text += chunk.toString();
      const port = /Listening on \S*:(\d+)/.exec(text)?.[1];
      if (port !== undefined) settle(Number(port));
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('exit', ended);
  });
}

/** A running local chain with Circle's token, Multicall3, the Permit2 doubles and the ERC-8004 registries on it. */
export interface DemoChain extends Anvil {
  readonly sender: Sender;
  readonly token: ChainToken;
}

/** Starts it; about a second. Block 1 initialises the token; nothing else is mined. Stop it, or end: it dies with us. */
export async function startDemoChain(options: AnvilOptions = {}): Promise<DemoChain> {
  const anvil = await startAnvil(options);
  const sender = createSender(anvil.rpc);
  await installMulticall3(anvil.rpc);
  await installDoubles(anvil.rpc);
  await installChannels(anvil.rpc);
  await installRegistries(anvil.rpc);
  return { ...anvil, sender, token: await deployUsdc(anvil.rpc, sender) };
}

/** One replacement block: send its transactions; it is mined right after. */
export type FillBlock = (position: number) => Promise<void>;

/**
 * Undoes the newest `depth` blocks and mines others in their place, one `fill` per new block. With fewer blocks than `depth`
 * the chain is shorter than before, until more are mined: a node that is asked in between sees a lower head. The undone
 * transactions do not return to the pool. New blocks get later timestamps than the old ones had, so that even an empty one
 * has another hash.
 */
export async function reorg(
  chain: { readonly rpc: Rpc; readonly sender: Sender },
  options: { readonly depth: number; readonly blocks: number; readonly fill?: FillBlock },
): Promise<void> {
  const { rpc, sender } = chain;
  const oldHead = await rpc.call<{ timestamp: Hex }>('eth_getBlockByNumber', 'latest', false);
  await rpc.call('anvil_rollback', options.depth);
  sender.forget();
  for (let position = 0; position < options.blocks; position++) {
    await options.fill?.(position);
    await mine(rpc, Number(oldHead.timestamp) + 1 + position);
  }
}

/** The same in one step on the node's side: `depth` blocks become as many empty ones, and the head never shrinks. */
export async function reorgToEmpty(
  chain: { readonly rpc: Rpc; readonly sender: Sender },
  depth: number,
): Promise<void> {
  await chain.rpc.call('anvil_reorg', depth, []);
  chain.sender.forget();
}
