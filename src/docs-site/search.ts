import type { Options } from 'minisearch';
import type { DocsPage } from './pages.ts';
import type { RenderedPage } from './render-page.ts';

/** What the browser searches: every section of every page. It makes the index itself, at the first search. */
export interface SearchData {
  readonly options: Options;
  readonly sections: readonly SearchSection[];
}

export interface SearchSection {
  readonly id: number;
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  /** What its score is multiplied by: guides stand before pages about how it is built. */
  readonly weight: number;
}

const DESIGN_WEIGHT = 0.3;

/** A word of a heading says more than one of the text; unfinished words are found, and those with a typing error. */
const SEARCH_OPTIONS: Options = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['url', 'page', 'heading', 'text', 'weight'],
  searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
};

export function searchData(
  pages: readonly { readonly page: DocsPage; readonly rendered: RenderedPage }[],
  base: string,
): SearchData {
  const sections = pages.flatMap(({ page, rendered }) =>
    rendered.sections.map(({ name, heading, text }) => ({
      url: `${base}/docs/${page.slug}${name === '' ? '' : `#${name}`}`,
      page: page.title,
      heading: heading === '' ? page.title : heading,
      text: text.replace(/\s+/g, ' '),
      weight: page.reader === 'design' ? DESIGN_WEIGHT : 1,
    })),
  );
  return { options: SEARCH_OPTIONS, sections: sections.map((section, id) => ({ id, ...section })) };
}
