import type { PageProps } from '../pages.ts';

export function AgentPage(_props: PageProps) {
  return <h1>Agent</h1>;
}
