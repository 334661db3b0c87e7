import { ApiProblem, getJson } from './api.ts';
import type { ChainFacts } from './explorer.ts';
import { createStore, useStore } from './store.ts';
import type { Telemetry } from './wire.ts';

const facts = createStore<ReadonlyMap<string, ChainFacts>>(new Map());
let isRead = false;

/** The chains of this deployment by their CAIP-2 names; none until they have been read, once for all pages. */
export function useChains(): ReadonlyMap<string, ChainFacts> {
  if (!isRead) {
    isRead = true;
    void read();
  }
  return useStore(facts);
}

/** Links to explorers are an extra: without the answer a page has none, and the next one asks again. */
async function read(): Promise<void> {
  try {
    const { chains } = await getJson<Telemetry>('/telemetry');
    facts.set(
      new Map(
        chains.map(({ chain, name, explorer_url: explorerUrl, sample_data_to: sampleDataTo }) => [
          chain,
          { name, explorerUrl, sampleDataTo },
        ]),
      ),
    );
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    isRead = false;
  }
}
