import type { ComponentChildren } from 'preact';
import { SearchBox } from './search-box.tsx';

interface PageHeadProps {
  readonly title: string;
  /** What the page shows, in a sentence. */
  readonly children: ComponentChildren;
}

/** The beginning of every page of lists: its name, what it shows, and the search over everything. */
export function PageHead({ title, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        <p class="muted">{children}</p>
      </div>
      <SearchBox />
    </div>
  );
}
