import type { PageProps } from '../page.ts';
import { WalletView } from '../parts/wallet-view.tsx';

/** A wallet by whom it pays. */
export function AgentPage({ params, query }: PageProps) {
  const wallet = params['wallet'] ?? '';
  return <WalletView key={wallet} wallet={wallet} party="payer" query={query} />;
}
