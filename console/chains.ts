import { getJson } from './api.ts';
import { createStore, useStore } from './store.ts';
import type { Telemetry } from './wire.ts';

/** What the API says about each chain that does not change while the page is open: its name, its block explorer, its sample data. */
export interface ChainFacts {
  readonly name: string;
  /** Null where no explorer shows the chain. */
  readonly explorerUrl: string | null;
  /** Rows up to this block are sample data, and on no chain. Null: none are. */
  readonly sampleDataTo: number | null;
}

const facts = createStore<ReadonlyMap<string, ChainFacts>>(new Map());
let reading: Promise<void> | null = null;

/** The chains of this deployment by their CAIP-2 names; none until they have been read, once for all pages. */
export function useChains(): ReadonlyMap<string, ChainFacts> {
  reading ??= read();
  return useStore(facts);
}

/** Links to explorers are an extra: without the answer a page has none, and the next page asks again. */
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
  } catch {
    reading = null;
  }
}

export type ExplorerPage = 'tx' | 'address' | 'block';

/** The address of a thing on the block explorer of its chain; null where there is none. `block`: the block of the row that names it. */
export function explorerUrlOf(
  chain: ChainFacts | undefined,
  { page, id, block }: { readonly page: ExplorerPage; readonly id: string; readonly block?: number | null },
): string | null {
  if (chain === undefined || chain.explorerUrl === null) return null;
  const isSample = chain.sampleDataTo !== null && block !== undefined && block !== null && block <= chain.sampleDataTo;
  return isSample ? null : `${chain.explorerUrl}/${page}/${encodeURIComponent(id)}`;
}
