import type { HLJSApi, Language } from 'highlight.js';
import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import { escapeHtml } from './html.ts';

/** What the library’s SQL, which is the standard’s, does not know of ClickHouse. */
const MORE_KEYWORDS = [
  'limit',
  'final',
  'sample',
  'settings',
  'prewhere',
  'qualify',
  'asof',
  'anti',
  'semi',
  'profile',
  'identified',
];
/** A name in front of a parenthesis; our keywords are in capitals. */
const FUNCTION_CALL = { scope: 'built_in', begin: /\b[a-z]\w*(?=\()/, relevance: 0 };

function clickhouse(api: HLJSApi): Language {
  const standard = sql(api);
  const keywords = standard.keywords as unknown as { readonly keyword: readonly string[] }; // as sql.js of the library has it
  return {
    ...standard,
    keywords: { ...keywords, keyword: [...keywords.keyword, ...MORE_KEYWORDS] },
    contains: [...standard.contains, FUNCTION_CALL],
  };
}

/** What the pages write code in. The names are those of the fences. */
const LANGUAGES = { sh: bash, conf: ini, json, sql: clickhouse, ts: typescript };

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** Code as HTML, with a class for each kind of word. */
export function highlighted(code: string, language: string): string {
  if (!(language in LANGUAGES)) return escapeHtml(code);
  return highlighter.highlight(code, { language }).value;
}
