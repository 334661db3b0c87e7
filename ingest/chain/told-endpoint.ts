import type { RpcEndpoint } from './rpc-endpoint.ts';

/** Hears of an exchange when it has ended: how many calls it had, and the `performance.now()` at which it began. */
export type OnExchange = (provider: string, calls: number, startedMs: number) => void;

/** An endpoint whose exchanges somebody hears of. */
export function toldEndpoint(endpoint: RpcEndpoint, onExchange: OnExchange | undefined): RpcEndpoint {
  if (onExchange === undefined) return endpoint;
  return {
    name: endpoint.name,
    async exchange(calls) {
      const startedMs = performance.now();
      const outcomes = await endpoint.exchange(calls);
      onExchange(endpoint.name, calls.length, startedMs);
      return outcomes;
    },
  };
}
