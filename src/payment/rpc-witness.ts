import type { ChainWitness, Testimony } from './chain-witness.ts';
import { openJsonRpc } from './json-rpc.ts';
import { permit2NonceOf } from './permit2.ts';
import { askAboutCeiling } from './witness-ceiling.ts';
import { askAboutTransfer } from './witness-transfer.ts';

/** The chain's own word on an authorization, over plain JSON-RPC of one or more nodes. */

export interface RpcWitnessOptions {
  /** Asked in order until one answers everything; may hold path keys: appear in no error. http or https. */
  readonly rpcUrls: readonly string[];
  /** Blocks per eth_getLogs that the nodes allow. */
  readonly logWindowMax: number;
  /** Bound of one request. Default: REQUEST_TIMEOUT_MS. */
  readonly requestTimeoutMs?: number;
  /** Bound of a whole look-up, of all its requests to all nodes. Default: LOOK_UP_TIMEOUT_MS. */
  readonly lookUpTimeoutMs?: number;
}

const REQUEST_TIMEOUT_MS = 3_000;
/** Somebody waits for his answer meanwhile. */
const LOOK_UP_TIMEOUT_MS = 8_000;

/** For chains without RPC: it never says anything. */
export const noWitness: ChainWitness = { lookUp: async () => ({ outcome: 'silent' }) };

export function createRpcWitness(options: RpcWitnessOptions): ChainWitness {
  const { rpcUrls, logWindowMax, requestTimeoutMs: timeoutMs = REQUEST_TIMEOUT_MS } = options;
  return {
    async lookUp(question): Promise<Testimony> {
      const signal = AbortSignal.timeout(options.lookUpTimeoutMs ?? LOOK_UP_TIMEOUT_MS);
      const nonce = permit2NonceOf(question.id.nonce);
      for (const url of rpcUrls) {
        const node = openJsonRpc({ url, timeoutMs, signal });
        try {
          return nonce === null
            ? await askAboutTransfer(node, question, logWindowMax)
            : await askAboutCeiling(node, { ...question, nonce }, logWindowMax);
        } catch {
          // The next node is asked. The error says nothing that an operator could use: which node, must not be told.
        }
      }
      return { outcome: 'silent' };
    },
  };
}
