import type MiniSearch from 'minisearch';
import type { Options, SearchResult } from 'minisearch';
import type { Entry } from './entries.ts';

/** Pages of the documentation, found as its own search finds them: in the sections and with the options of /docs/search.json. */

const DOCS_MAX = 5;
const SNIPPET_CHARS = 90;

interface Section {
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  readonly weight: number;
}

interface SearchData {
  readonly options: Options<Section>;
  readonly sections: readonly Section[];
}

let loading: Promise<MiniSearch<Section>> | null = null;

/** The sections that the text finds, best first. */
export async function findDocs(text: string): Promise<readonly Entry[]> {
  if (text.trim() === '') return [];
  if (loading === null) {
    loading = loadIndex();
    loading.catch(() => {
      loading = null; // the next search tries again
    });
  }
  const index = await loading;
  return index
    .search(text, { boostDocument: (_id, _term, stored) => Number(stored?.['weight'] ?? 1) })
    .slice(0, DOCS_MAX)
    .map(entryOf);
}

async function loadIndex(): Promise<MiniSearch<Section>> {
  const [{ default: Search }, answer] = await Promise.all([import('minisearch'), fetch('/docs/search.json')]);
  if (!answer.ok) throw new Error(`/docs/search.json: ${answer.status}`);
  const { options, sections } = (await answer.json()) as SearchData; // from the same version of the service
  const index = new Search<Section>(options);
  index.addAll(sections);
  return index;
}

function entryOf(hit: SearchResult): Entry {
  const { url, page, heading, text } = hit as SearchResult & Section; // the stored fields of the index
  return {
    kind: 'docs',
    title: heading,
    detail: heading === page ? text.slice(0, SNIPPET_CHARS) : page,
    href: url,
  };
}
