import type { PageProps } from '../pages.ts';

export function AgentsPage(_props: PageProps) {
  return <h1>Agents</h1>;
}
