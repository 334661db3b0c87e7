import type { PageProps } from '../pages.ts';

export function MerchantPage(_props: PageProps) {
  return <h1>Merchant</h1>;
}
