import { markdownOf } from '../docs-site/markdown.ts';
import { DOCS_PAGES, type DocsPage } from '../docs-site/pages.ts';

/** What an agent may read beside calling tools: pages of the documentation. Source: api.md 6. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: 'text/markdown';
  /** Read from the disk each time: pages are asked for rarely, and the larger ones have 100 kB. */
  read(): string;
}

/** The documentation, as `docs://sql` and so on; pages link to each other by these names. */
export const DOCS_RESOURCES: readonly McpResource[] = DOCS_PAGES.map((page) => ({
  uri: uriOf(page),
  name: page.slug,
  title: page.title,
  description: page.description,
  mimeType: 'text/markdown',
  read: () =>
    markdownOf(page, (target) =>
      'page' in target ? `${uriOf(target.page)}${target.fragment}` : target.path,
    ),
}));

function uriOf({ slug }: DocsPage): string {
  return `docs://${slug}`;
}
