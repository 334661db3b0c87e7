import type { ComponentChildren } from 'preact';
import { useChains } from '../chains.ts';
import { type ExplorerPage, explorerUrlOf } from '../explorer.ts';

interface ExplorerLinkProps {
  /** CAIP-2. */
  readonly chain: string;
  readonly page: ExplorerPage;
  readonly id: string;
  /** The block of the row that names it: rows of sample data have no link. */
  readonly block?: number | null;
  /** Default: the host of the explorer. */
  readonly children?: ComponentChildren;
}

/** A link to the block explorer of a chain, in a new tab. Where no explorer shows it, its text alone. */
export function ExplorerLink({ chain, page, id, block, children }: ExplorerLinkProps) {
  const url = explorerUrlOf(useChains().get(chain), { page, id, block });
  if (url === null) return <>{children}</>;
  const { host } = new URL(url);
  return (
    <a class="explorer-link" href={url} target="_blank" rel="noopener noreferrer" title={`Open on ${host}`}>
      {children ?? host}
      <span class="visually-hidden"> (opens {host} in a new tab)</span>
      <svg class="explorer-sign" viewBox="0 0 12 12" width="10" height="10" aria-hidden="true">
        <path d="M4.5 2H2v8h8V7.5M7 2h3v3M10 2 5.5 6.5" />
      </svg>
    </a>
  );
}
