/** Addresses of block explorers. Pure, so that tests can run it outside a browser. */

/** What the API says about a chain that does not change while the page is open. */
export interface ChainFacts {
  readonly name: string;
  /** Null where no explorer shows the chain. */
  readonly explorerUrl: string | null;
  /** Rows up to this block are sample data, and on no chain. Null: none are. */
  readonly sampleDataTo: number | null;
}

export type ExplorerPage = 'tx' | 'address' | 'block';

interface ExplorerQuestion {
  readonly page: ExplorerPage;
  readonly id: string;
  /** The block of the row that names the thing. */
  readonly block?: number | null | undefined;
}

/** The address of a thing on the block explorer of its chain; null where there is none, and for sample data. */
export function explorerUrlOf(
  chain: ChainFacts | undefined,
  { page, id, block = null }: ExplorerQuestion,
): string | null {
  if (chain === undefined || chain.explorerUrl === null) return null;
  const isSample = chain.sampleDataTo !== null && block !== null && block <= chain.sampleDataTo;
  return isSample ? null : `${chain.explorerUrl}/${page}/${encodeURIComponent(id)}`;
}
