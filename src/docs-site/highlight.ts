import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import { escapeHtml } from './html.ts';

/** What the pages write code in. The names are those of the fences. */
const LANGUAGES = { sh: bash, conf: ini, json, sql, ts: typescript };

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** Code as HTML, with a class for each kind of word. */
export function highlighted(code: string, language: string): string {
  if (!(language in LANGUAGES)) return escapeHtml(code);
  return highlighter.highlight(code, { language }).value;
}
