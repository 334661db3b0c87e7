import type { PageProps } from '../pages.ts';

export function FacilitatorsPage(_props: PageProps) {
  return <h1>Facilitators</h1>;
}
