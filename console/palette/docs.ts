import type MiniSearch from 'minisearch';
import type { Options, SearchResult } from 'minisearch';
import type { Entry } from './entries.ts';

/** Pages of the documentation, found by its own search: the modules and the index that its pages load. */

const DOCS_MAX = 5;
const SNIPPET_CHARS = 90;

interface Section {
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** What /docs/assets/search.js exports. */
interface DocsSearch {
  readonly INDEX_OPTIONS: Options<Section>;
  searchIn(index: MiniSearch<Section>, query: string, synonyms: Synonyms): readonly SearchResult[];
}

type Synonyms = readonly (readonly string[])[];

/** /docs/search.json */
interface SearchData {
  readonly synonyms: Synonyms;
  readonly index: Parameters<(typeof MiniSearch)['loadJS']>[0];
}

type Find = (text: string) => readonly SearchResult[];

let loading: Promise<Find> | null = null;

/** The sections that the text finds, best first. */
export async function findDocs(text: string): Promise<readonly Entry[]> {
  if (text.trim() === '') return [];
  if (loading === null) {
    loading = loadSearch();
    loading.catch(() => {
      loading = null; // the next search tries again
    });
  }
  const find = await loading;
  return find(text).slice(0, DOCS_MAX).map(entryOf);
}

/** The modules are files of the documentation, which the bundler does not see. All are of the same version of the service. */
async function loadSearch(): Promise<Find> {
  const at = (file: string): string => new URL(`/docs/${file}`, location.href).href;
  const [{ default: Index }, { INDEX_OPTIONS, searchIn }, answer] = await Promise.all([
    import(at('assets/minisearch.js')) as Promise<{ readonly default: typeof MiniSearch }>,
    import(at('assets/search.js')) as Promise<DocsSearch>,
    fetch(at('search.json')),
  ]);
  if (!answer.ok) throw new Error(`/docs/search.json: ${answer.status}`);
  const { synonyms, index } = (await answer.json()) as SearchData;
  const sections = Index.loadJS<Section>(index, INDEX_OPTIONS);
  return (text) => searchIn(sections, text, synonyms);
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
