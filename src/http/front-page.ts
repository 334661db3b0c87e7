import type { FastifyInstance } from 'fastify';
import { BASE_PATHS } from '../../core/domain/paths.ts';
import { type DocsSite, servedText } from '../docs-site/docs-site.ts';
import { escapeHtml } from '../docs-site/markdown.ts';
import { INDEX_DESCRIPTION } from '../docs-site/shell.ts';
import { installRefusedMethods } from './api-routes.ts';
import { sendText } from './docs-routes.ts';
import { prefersHtml } from './prefers-html.ts';

/** What is at the address of the service itself: a page for people, the same as JSON for programs. */

interface FrontFacts {
  readonly version: string;
  /** The URL callers use, without a slash at its end; '' when the deployment does not know it. */
  readonly publicUrl: string;
}

/** Places below the URL of the service: where each is and what it is for. */
const PLACES = {
  docs: { path: '/docs', meaning: 'Documentation for people; every page also as Markdown.' },
  console: { path: '/console', meaning: 'The index in a browser: live payments, profiles, SQL.' },
  openapi: { path: '/openapi.json', meaning: 'Every route with its schemas, as OpenAPI 3.1.' },
  mcp: { path: '/mcp', meaning: 'Every operation as an MCP tool (POST, Streamable HTTP).' },
  llms: { path: '/llms.txt', meaning: 'What there is, for language models.' },
  account: {
    path: '/v0/account',
    meaning: 'Who you are, what you may call, and what it costs. Needs no key.',
  },
  plans: { path: '/plans', meaning: 'Plans, prices, and how to get a key.' },
} as const;

interface Trial {
  readonly title: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** None of them needs a key. */
const TRIALS: readonly Trial[] = [
  { title: 'How fresh is the index?', method: 'GET', path: '/v0/telemetry' },
  { title: 'What can be bought over x402?', method: 'GET', path: '/v0/endpoints?limit=3' },
  {
    title: 'What would a query read and cost?',
    method: 'POST',
    path: '/v0/sql',
    body: {
      sql: 'SELECT payee, sum(amount_usd) AS usd FROM settlements WHERE block_time >= now() - INTERVAL 7 DAY GROUP BY payee ORDER BY usd DESC LIMIT 10',
      explain_only: true,
    },
  },
];

export function installFrontPage(
  app: FastifyInstance,
  { docs, ...facts }: FrontFacts & { readonly docs: DocsSite },
): void {
  const page = docs.framed({
    title: 'Settlement Index',
    description: INDEX_DESCRIPTION,
    body: frontPage(facts),
  });
  const json = servedText('application/json; charset=utf-8', JSON.stringify(frontAnswer(facts)));
  for (const url of ['/', ...BASE_PATHS, ...BASE_PATHS.map((base) => `${base}/`)]) {
    app.get(url, (request, reply) =>
      sendText(request, reply, prefersHtml(request.headers.accept) ? page : json, 'Accept, Accept-Encoding'),
    );
    installRefusedMethods(app, url);
  }
}

function frontAnswer({ version, publicUrl }: FrontFacts): Readonly<Record<string, unknown>> {
  return {
    name: 'Settlement Index',
    version,
    description: INDEX_DESCRIPTION,
    links: Object.fromEntries(
      Object.entries(PLACES).map(([name, { path }]) => [name, `${publicUrl}${path}`]),
    ),
    try: TRIALS.map(({ path, ...trial }) => ({ ...trial, url: `${publicUrl}${path}` })),
  };
}

function frontPage({ version, publicUrl }: FrontFacts): string {
  const base = publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
  const places = Object.values(PLACES).map(({ path, meaning }) => {
    // A page cannot show what only programs can ask.
    const name = path === PLACES.mcp.path ? `<code>${path}</code>` : `<a href="${base}${path}">${path}</a>`;
    return `<tr><td>${name}</td><td>${escapeHtml(meaning)}</td></tr>`;
  });
  const trials = TRIALS.map((trial) => {
    const { title, method, path } = trial;
    const link = method === 'GET' ? ` <a href="${base}${path}">Open the answer</a>` : '';
    return `<h3>${escapeHtml(title)}</h3><div class="code"><pre><code>${escapeHtml(curlOf(trial, publicUrl))}</code></pre></div>${link === '' ? '' : `<p>${link}</p>`}`;
  });
  return `<h1>Settlement Index</h1>
<p class="lead">${escapeHtml(INDEX_DESCRIPTION)}</p>
<p>Version ${escapeHtml(version)}. <a href="${base}/docs/quickstart">First call in five minutes</a>; connect an agent: <a href="${base}/docs/mcp">MCP</a>.</p>
<h2 id="here">What is here</h2>
<div class="table"><table><thead><tr><th>Address</th><th>Holds</th></tr></thead><tbody>${places.join('')}</tbody></table></div>
<h2 id="try">Three things to try, without a key</h2>
${publicUrl === '' ? '<p><code>$URL</code> is the address of this page, without a slash at its end.</p>\n' : ''}${trials.join('\n')}
`;
}

/** `$URL` where the deployment does not know its own, as in the documentation. */
function curlOf({ method, path, body }: Trial, publicUrl: string): string {
  const url = `"${publicUrl === '' ? '$URL' : publicUrl}${path}"`;
  if (method === 'GET') return `curl -s ${url}`;
  return `curl -s ${url} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(body)}'`;
}
