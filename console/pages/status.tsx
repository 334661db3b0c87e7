import type { PageProps } from '../pages.ts';

export function StatusPage(_props: PageProps) {
  return <h1>Status</h1>;
}
