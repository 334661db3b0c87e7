import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** What the documents for people who change the code say about the tree is there, and what comments cite as well. */

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const isThere = (path: string): boolean => existsSync(new URL(path, ROOT));
const filesBelow = (folder: string): string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map(
    (name) => `${folder}/${name}`,
  );

const designFiles = filesBelow('docs/design');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...designFiles.filter((name) => name.endsWith('.md')),
];

const PRODUCT = [
  'bench',
  'clickhouse',
  'client',
  'console',
  'core',
  'demo',
  'ingest',
  'sandbox',
  'scripts',
  'src',
];

/** A path in backticks, from a folder at the root. */
const PATH =
  /`((?:\.ci|bench|clickhouse|client|console|core|demo|deploy|docs|ingest|sandbox|scripts|src|test)\/[\w./-]*)`/g;

test.each(pages)('%s names files and folders that are there', (page) => {
  // NNNN stands for the number of a migration that is still to be written.
  const named = [...read(page).matchAll(PATH)]
    .map(([, path = '']) => path)
    .filter((path) => !path.includes('NNNN'));
  expect([...new Set(named)].filter((path) => !isThere(path))).toEqual([]);
});

/** Of the engine and of contracts. */
const NAMES_OF_OTHERS = new Set([
  'AuthorizationUsed',
  'ReplacingMergeTree',
  'SummingMergeTree',
  'arrayReduce',
  'eth_getLogs',
  'joinGet',
  'sipHash64Keyed',
]);
/** In backticks: a name in the spelling of TypeScript that cannot be a word of English, with or without the brackets of a call. */
const NAME = /`((?:[a-z]\w*[A-Z]|[A-Z][a-z]\w*[A-Z]|[A-Z]+_)\w*)(?:\([^`\n]*\))?`/g;
const DECLARED =
  /\b(?:function\*?|const|let|class|interface|type)\s+(\w+)|^\s+(?:(?:readonly|async|get) )*(\w+)\??\s*[:(<,]/gm;

test('README, CONTRIBUTING and docs/design name nothing of the code that is not declared there', () => {
  const declared = new Set(
    [...PRODUCT, 'test']
      .flatMap(filesBelow)
      .filter(
        (file) => /\.tsx?$/.test(file) && !file.includes('node_modules') && !file.startsWith('test/docs/'),
      )
      .flatMap((file) => [...read(file).matchAll(DECLARED)].map(([, name, member]) => name ?? member)),
  );
  const lost = pages.flatMap((page) =>
    [...read(page).matchAll(NAME)]
      .map(([, name = '']) => name)
      .filter((name) => !declared.has(name) && !NAMES_OF_OTHERS.has(name))
      .map((name) => `${page}: ${name}`),
  );
  expect([...new Set(lost)]).toEqual([]);
});

describe('a drawing', () => {
  const documents = filesBelow('docs');
  const drawings = documents.filter((name) => name.endsWith('.svg'));

  test.each(drawings)('%s is shown by a page, under a title', (file) => {
    const name = file.split('/').at(-1) ?? '';
    const shown = documents.filter(
      (page) =>
        page.endsWith('.md') && new RegExp(`!\\[[^\\]]{20,}\\]\\((?:images/)?${name}\\)`).test(read(page)),
    );
    expect(shown).toHaveLength(1);
  });

  test.each(drawings)('%s has its colours from classes, so that the page can change them', (file) => {
    const [, before = '', style = '', after = ''] =
      /^([\s\S]*?)<style>([\s\S]*?)<\/style>([\s\S]*)$/.exec(read(file)) ?? [];
    expect(style).toContain('prefers-color-scheme: dark');
    expect(before + after).not.toMatch(/#[0-9a-f]{3,8}\b(?!-)|rgb|<script|<image|href=|\sstyle=/i);
  });
});

const SOURCE = /\.(?:ts|tsx|mjs|cjs|js|css|sql|lua)$/;
/** Frozen by their checksum, comments and all. */
const FROZEN = /^clickhouse\/migrations\/|^src\/accounts\/sqlite\/migrations\//;
const COMMENT = /^\s*(?:\/\*|\*|\/\/|--|#).*|\s\/\/ .*|\/\*.*/;
const DOCUMENT = /(?<![\w/.-])([\w./-]+\.md)\b/g;

test('no comment cites a document that is not in the repository', () => {
  const sources = PRODUCT.flatMap(filesBelow).filter(
    (file) => SOURCE.test(file) && !FROZEN.test(file) && !file.includes('node_modules'),
  );
  const lost = sources.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, at) =>
        [...(COMMENT.exec(line)?.[0] ?? '').matchAll(DOCUMENT)]
          .map(([, path = '']) => path)
          .filter((path) => !isThere(path) && !isThere(`docs/${path}`))
          .map((path) => `${file}:${at + 1} cites ${path}`),
      ),
  );
  expect(lost).toEqual([]);
});
