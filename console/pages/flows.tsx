import type { PageProps } from '../pages.ts';

export function FlowsPage(_props: PageProps) {
  return <h1>Live flow</h1>;
}
