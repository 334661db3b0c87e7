import { extname } from 'node:path';
import type { Log } from '../core/log.ts';
import { freePort } from '../core/process/free-port.ts';
import { superviseChild } from '../core/process/supervise.ts';
import type { SolanaFacilitatorBootstrap } from './solana/facilitator-scheme.ts';

/** What the facilitator process reads from its first stdin line. The keys sign as relayers; they never leave that pipe. */
export interface FacilitatorBootstrap {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly privateKey: `0x${string}`;
  readonly port: number;
  /** ERC-8021 code that it appends to its calldata. */
  readonly builderCode: string;
  /** Absent: it settles on the EVM chain alone. */
  readonly solana?: SolanaFacilitatorBootstrap;
}

export interface Facilitator {
  readonly url: string;
  /** Ends the process; resolves once it is gone. Twice is fine. */
  stop(): Promise<void>;
}

/**
 * Starts the local x402 facilitator (demo/facilitator-process.ts) as its own process, on a free port unless one is named, and
 * waits until it answers.
 */
export async function startFacilitator(
  options: Omit<FacilitatorBootstrap, 'port'> & { readonly port?: number; readonly log: Log },
): Promise<Facilitator> {
  const { log, ...rest } = options;
  const port = rest.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const bootstrap: FacilitatorBootstrap = { ...rest, port };
  const child = await superviseChild({
    name: 'facilitator',
    entry: new URL(`./facilitator-process${extname(import.meta.url)}`, import.meta.url),
    bootstrap,
    ready: async () => (await fetch(`${url}/supported`)).ok,
    log,
    // It answers a few requests a second: more memory would only hold garbage longer.
    nodeFlags: ['--max-semi-space-size=2'],
    stopSignal: 'SIGTERM',
  });
  return { url, stop: () => child.stop() };
}
