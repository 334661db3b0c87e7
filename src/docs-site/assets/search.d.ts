import type MiniSearch from 'minisearch';
import type { Options, SearchResult } from 'minisearch';

export declare const INDEX_OPTIONS: Options;
export declare function wordsOf(text: string): string[];
export declare function stemOf(word: string): string;
export declare function searchIn(
  index: MiniSearch,
  query: string,
  synonyms: readonly (readonly string[])[],
): SearchResult[];
export declare function markedWords(text: string, terms: readonly string[]): string[];
