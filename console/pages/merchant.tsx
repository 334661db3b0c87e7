import type { PageProps } from '../page.ts';
import { WalletView } from '../parts/wallet-view.tsx';

/** A wallet by who pays it. */
export function MerchantPage({ params, query }: PageProps) {
  const wallet = params['address'] ?? '';
  return <WalletView key={wallet} wallet={wallet} party="payee" query={query} />;
}
