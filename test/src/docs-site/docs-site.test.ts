import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readFragment } from '../../../console/sql/query-text.ts';
import { ERROR_CODES } from '../../../core/errors.ts';
import { createDocsSite } from '../../../src/docs-site/docs-site.ts';
import { LLMS_FULL_MAX_BYTES, LLMS_MAX_BYTES } from '../../../src/docs-site/llms.ts';
import { linkTarget } from '../../../src/docs-site/markdown.ts';
import { DOCS_PAGES } from '../../../src/docs-site/pages.ts';
import type { SearchData } from '../../../src/docs-site/render-page.ts';
import { DOCS_RESOURCES } from '../../../src/mcp/server.ts';
import { failsOf } from '../../../src/openapi/failures.ts';
import { toolName } from '../../../src/operations/define.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { docsQuestions } from '../../kit/docs-questions.ts';
import { codeBlocks, documentFiles, readDocument } from '../../kit/documents.ts';
import { type OwnApi, ownApi } from '../../kit/own-api.ts';

/** The documentation as the real application serves it. */

let api: OwnApi;

beforeAll(async () => {
  api = await ownApi();
});
afterAll(() => api?.close());

const AS_BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

async function get(url: string, headers: Record<string, string> = AS_BROWSER) {
  const { statusCode, headers: got, body } = await api.app.inject({ method: 'GET', url, headers });
  return { status: statusCode, headers: got as Record<string, string | undefined>, body };
}

const slugs = DOCS_PAGES.map(({ slug }) => slug);
const ofOperations = OPERATIONS.map(({ id }) => `/docs/operations/${id}`);
const pageUrls = ['/docs', '/plans', ...slugs.map((slug) => `/docs/${slug}`), ...ofOperations];

describe('the list of pages', () => {
  test('has every file of docs/ but the decisions, each once', () => {
    const files = readdirSync(new URL('../../../docs/', import.meta.url), {
      recursive: true,
      encoding: 'utf8',
    });
    const written = files.filter((name) => name.endsWith('.md') && !name.startsWith('decisions'));
    expect(DOCS_PAGES.map(({ file }) => file).sort()).toEqual(written.sort());
    expect(new Set(slugs).size).toBe(slugs.length);
  });

  test('is what MCP offers as resources', () => {
    expect(DOCS_RESOURCES.map(({ name }) => name)).toEqual(slugs);
  });

  test('is the navigation of every page, where the page itself is marked', async () => {
    for (const slug of slugs) {
      const { body } = await get(`/docs/${slug}`);
      const [, navigation = ''] = /<nav id="pages"[^>]*>([\s\S]*?)<\/nav>/.exec(body) ?? [];
      const links = [...navigation.matchAll(/href="\/docs\/([\w-]+)"( aria-current="page")?/g)];
      expect(links.map(([, linked]) => linked).sort()).toEqual([...slugs].sort());
      expect(links.filter(([, , current]) => current).map(([, linked]) => linked)).toEqual([slug]);
    }
  });
});

test('/docs/reference leads to every page of docs/reference', async () => {
  const { status, body } = await get('/docs/reference');
  expect(status).toBe(200);
  const [, article = ''] = /<article>([\s\S]*?)<\/article>/.exec(body) ?? [];
  const pages = DOCS_PAGES.filter(({ file, slug }) => file.startsWith('reference/') && slug !== 'reference');
  expect(pages.length).toBeGreaterThan(0);
  for (const { slug } of pages) expect(article).toContain(`href="/docs/${slug}"`);
  expect(article).toContain('href="/openapi.json"');
});

/** Every address in a page: of links, scripts, sheets. */
function addresses(html: string): string[] {
  return [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, address = '']) =>
    address.replaceAll('&amp;', '&'),
  );
}

function idsOf(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id);
}

describe('every page', () => {
  test('has no broken link, fragments included', async () => {
    const seen = new Map<string, { status: number; ids: ReadonlySet<string> }>();
    const look = async (path: string) => {
      const { status, body, headers } = await get(path);
      const isHtml = headers['content-type']?.startsWith('text/html') === true;
      const found = { status, ids: new Set(isHtml ? idsOf(body) : []) };
      seen.set(path, found);
      return found;
    };
    const broken: string[] = [];
    for (const from of [...pageUrls, '/docs/nothing-here']) {
      for (const address of addresses((await get(from)).body)) {
        const url = new URL(address, `http://here${from}`);
        if (url.host !== 'here') continue;
        const { status, ids } = seen.get(url.pathname) ?? (await look(url.pathname));
        const known = status === 200 || url.pathname === from;
        if (!known || (url.hash !== '' && !ids.has(decodeURIComponent(url.hash.slice(1)))))
          broken.push(`${from} -> ${address}`);
      }
    }
    // The console is a directory of its own, served where it was built.
    expect(broken.filter((link) => !/-> \/console(?:$|\/sql#)/.test(link))).toEqual([]);
    expect(seen.size).toBeGreaterThan(pageUrls.length);
  });

  test.each(pageUrls)('%s has one heading of its own, a language, and no id twice', async (url) => {
    const { body } = await get(url);
    expect(body.match(/<h1[ >]/g)).toHaveLength(1);
    expect(body).toContain('<html lang="en">');
    const ids = idsOf(body);
    expect(ids.length).toBe(new Set(ids).size);
  });

  test.each([...DOCS_PAGES])('$slug has the title that leads to it', async ({ slug, title }) => {
    const { body } = await get(`/docs/${slug}`);
    expect(/<h1>(.*?)<\/h1>/.exec(body)?.[1]).toBe(title);
  });

  test.each(pageUrls)('%s has no inline script or style and sends no request to other hosts', async (url) => {
    const { body, headers } = await get(url);
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(body).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle="|\son\w+="|="javascript:/i);
    for (const [tag] of body.matchAll(/<(?:script|link|img)\b[^>]*>/g))
      expect(tag).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  test('has all its code blocks, and no comment of the generator', async () => {
    for (const { slug, file } of DOCS_PAGES) {
      const { body } = await get(`/docs/${slug}`);
      // The examples of operations are on their own pages.
      const blocks = slug === 'operations' ? [] : codeBlocks(`docs/${file}`);
      expect(body.match(/<div class="code">/g) ?? []).toHaveLength(blocks.length);
      expect(body).not.toMatch(/&lt;!--|<!-- /);
    }
  });

  test('is served as Markdown too, with links to Markdown', async () => {
    for (const url of pageUrls.slice(2)) {
      const { status, headers, body } = await get(`${url}.md`);
      expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
      expect(body).toMatch(/^# /);
      expect(body).not.toContain('<!--');
      for (const [, href = ''] of body.matchAll(/\]\((\/[^)#]*)/g))
        expect([href, (await get(href)).status]).toEqual([href, 200]);
    }
  });

  test('links to the next one, from the first to the last', async () => {
    const walked = [];
    let next: string | undefined = `/docs/${slugs[0]}`;
    while (next !== undefined && walked.length <= slugs.length) {
      walked.push(next);
      next = /<a rel="next" href="([^"]+)"/.exec((await get(next)).body)?.[1];
    }
    expect(walked).toEqual(slugs.map((slug) => `/docs/${slug}`));
  });
});

describe('served files', () => {
  test('is answered with 304 to a client that has it', async () => {
    for (const url of [
      ...pageUrls,
      '/docs/sql.md',
      '/docs/search.json',
      '/docs/assets/docs.css',
      '/llms.txt',
      '/llms-full.txt',
    ]) {
      const first = await get(url);
      expect([url, first.status, first.headers['cache-control']]).toEqual([url, 200, 'public, max-age=300']);
      const again = await get(url, { 'if-none-match': first.headers['etag'] ?? '' });
      expect([url, again.status, again.body]).toEqual([url, 304, '']);
    }
  });

  test('is compressed on request', async () => {
    const { headers } = await get('/docs/sql', { ...AS_BROWSER, 'accept-encoding': 'br' });
    expect(headers).toMatchObject({
      'content-encoding': 'br',
      vary: expect.stringMatching(/accept-encoding/i),
    });
  });

  test('is found under the path that a proxy adds', () => {
    const site = createDocsSite({ operations: OPERATIONS, publicUrl: 'https://example.org/index' });
    const own = addresses(String(site.page('sql')?.body ?? '')).filter((address) => address.startsWith('/'));
    expect(own.filter((address) => !address.startsWith('/index/'))).toEqual([]);
    expect(site.llms().body).toContain('(https://example.org/index/docs/sql.md)');
  });

  test('is 404 under other names: a page for browsers, a problem for programs', async () => {
    for (const url of [
      '/docs/nothing',
      '/docs/nothing.md',
      '/docs/assets/nothing.js',
      '/docs/__proto__',
      '/docs/assets/constructor',
      '/docs/operations/nothing',
      '/docs/operations/constructor.md',
    ]) {
      const page = await get(url);
      expect([url, page.status, page.headers['content-type']]).toEqual([
        url,
        404,
        'text/html; charset=utf-8',
      ]);
      expect(page.body).toContain('There is no such page');
      const problem = await get(url, { accept: 'application/json' });
      expect([url, problem.status, JSON.parse(problem.body).code]).toEqual([url, 404, 'not_found']);
    }
    expect((await get('/docs/')).headers['location']).toBe('../docs');
    expect((await get('/docs/sql/')).headers['location']).toBe('../sql');
    expect((await get('/docs/operations/getPair/')).headers['location']).toBe('../getPair');
    expect((await api.app.inject({ method: 'POST', url: '/docs/sql' })).statusCode).toBe(405);
  });
});

describe('the search', () => {
  test('finds places that exist', async () => {
    const { index } = JSON.parse((await get('/docs/search.json')).body) as SearchData;
    const sections = Object.values(index.storedFields) as { url: string; page: string }[]; // as searchData stores them
    const ids = new Map<string, string[]>();
    for (const { url } of sections) {
      const [page = '', name] = url.split('#');
      if (!ids.has(page)) ids.set(page, idsOf((await get(page)).body));
      if (name !== undefined) expect(ids.get(page), url).toContain(name);
    }
    expect(new Set(sections.map(({ page }) => page)).size).toBe(slugs.length);
  });
});

describe('for language models', () => {
  test('llms.txt names every page and every operation that is a tool, and stays small', async () => {
    const { body, headers } = await get('/llms.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toMatch(/^# Settlement Index\n\n> [^\n]+\n\n/);
    expect(Buffer.byteLength(body)).toBeLessThan(LLMS_MAX_BYTES);
    for (const slug of slugs) expect(body).toContain(`](/docs/${slug}.md): `);
    for (const { id, method, path, tool } of OPERATIONS)
      expect(body.includes(`- [${method} /v0${path}](/docs/operations/${id}.md)`), path).toBe(tool !== null);
    const links = [...body.matchAll(/^- \[[^\]]+\]\(([^)#]+)/gm)].map(([, href = '']) => href);
    for (const href of new Set(links)) expect([href, (await get(href)).status]).toEqual([href, 200]);
  });

  test('llms-full.txt has every page but the design and every error, and fits a context window', async () => {
    const { body, headers } = await get('/llms-full.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(Buffer.byteLength(body)).toBeLessThan(LLMS_FULL_MAX_BYTES);
    for (const { slug, reader } of DOCS_PAGES)
      expect([slug, body.includes(`<!-- /docs/${slug}.md -->`)]).toEqual([
        slug,
        reader !== 'design' && slug !== 'console',
      ]);
    for (const code of ERROR_CODES) expect(body).toContain(`\n## ${code}\n`);
    const limits = body.match(/^\|`limit`\|query\|`50`\|.*$/gm) ?? [];
    expect(limits[0]).toContain('Rows on a page');
    expect(new Set(limits.slice(1))).toEqual(new Set(['|`limit`|query|`50`|as above|']));
  });
});

test.each([
  ['sql', 'tiers-and-prices'],
  ['cookbook', '13-do-two-merchants-share-customers'],
  ['payments', 'by-use-upto'],
  ['errors', 'settlement_unknown'],
])('headings of %s have the ids that GitHub gives them, such as %s', async (slug, id) => {
  expect(idsOf((await get(`/docs/${slug}`)).body)).toContain(id);
});

test('the overview of operations leads to the page of each', async () => {
  const { body } = await get('/docs/operations');
  for (const { id, method, path } of OPERATIONS) {
    const [, shown] =
      new RegExp(`<td[^>]*><a href="/docs/operations/${id}"><code>(.*?)</code>`).exec(body) ?? [];
    expect(shown?.replaceAll('<wbr>', '')).toBe(`${method} /v0${path}`);
  }
});

describe('the page of an operation', () => {
  test.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    '%s has its route, tool, price, parameters, errors and an answer, and a request in three languages',
    async (id, operation) => {
      const { body } = await get(`/docs/operations/${id}.md`);
      expect(body).toContain(`${operation.method} /v0${operation.path}\n`);
      expect(body).toContain(`\`${toolName(id)}\``);
      for (const name of Object.keys(operation.params)) expect(body).toContain(`| \`${name}\` |`);
      for (const code of failsOf(operation)) expect(body).toContain(`(/docs/errors.md#${code})`);
      const blocks = codeBlocks(id, body);
      expect(blocks.slice(0, 4).map(({ language }) => language)).toEqual(['', 'sh', 'ts', 'python']);
      expect(JSON.parse(blocks[4]?.code ?? '')).toEqual(JSON.parse(JSON.stringify(operation.example)));
    },
  );

  test('is in the navigation of the others, and leads to the next one', async () => {
    const { body } = await get('/docs/operations/listFlows');
    for (const url of ofOperations) expect(body).toContain(`href="${url}"`);
    expect(body).toContain('href="/docs/operations/listFlows" aria-current="page"');
    expect(body).toMatch(/rel="next" href="\/docs\/operations\/listTransactions"/);
    expect((await get('/docs/sql')).body).not.toContain('/docs/operations/listFlows"');
  });
});

test('pages show the address of a deployment that knows its own, but not as a port that its operator chose', () => {
  const site = createDocsSite({ operations: OPERATIONS, publicUrl: 'https://example.org/index' });
  expect(site.markdown('quickstart')?.body).toContain('curl -s "https://example.org/index/v0/telemetry"');
  expect(site.page('operations/getPair')?.body).toContain('https://example.org/index/v0/pairs/');
  expect(site.markdown('connect')?.body).toContain('https://index.example:8123');
});

test('every query of the cookbook opens in the console with its text and its values', async () => {
  const { body } = await get('/docs/cookbook');
  const opened = [...body.matchAll(/class="open" href="\/console\/sql([^"]+)"/g)].map(([, fragment = '']) =>
    readFragment(fragment.replaceAll('&amp;', '&')),
  );
  expect(opened).toEqual(
    docsQuestions().map(({ sql, params }) => ({ sql: sql.trimEnd(), tier: 'standard', params, chart: null })),
  );
});

test('the results of queries are on the page, marked, and not in llms-full.txt', async () => {
  const results = (await get('/docs/cookbook')).body.match(/<div class="result">/g);
  expect(results).toHaveLength(readDocument('docs/cookbook.md').match(/^<!-- result:/gm)?.length ?? 0);
  expect((await get('/llms-full.txt')).body).not.toContain('more rows.');
});

test('a link to a page that is not there is an error, not a dead link', () => {
  const [from] = DOCS_PAGES;
  if (from === undefined) throw new Error('there is no page');
  expect(() => linkTarget('no-such-page.md', from)).toThrow(/no-such-page/);
});

test('links of the documents outside the site lead to files', () => {
  const root = new URL('../../../', import.meta.url);
  const decisions = documentFiles().filter((file) => file.startsWith('docs/decisions'));
  const broken = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...decisions].flatMap((file) =>
    [...readDocument(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
      .map(([, path = '']) => new URL(path, new URL(file, root)))
      .filter((url) => !existsSync(url))
      .map((url) => `${file} -> ${url.pathname}`),
  );
  expect(broken).toEqual([]);
});
