import type { PageProps } from '../pages.ts';

export function SqlPage(_props: PageProps) {
  return <h1>SQL</h1>;
}
