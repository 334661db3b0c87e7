import type { PageProps } from '../pages.ts';

export function MerchantsPage(_props: PageProps) {
  return <h1>Merchants</h1>;
}
