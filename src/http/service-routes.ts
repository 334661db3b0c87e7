import type { FastifyInstance } from 'fastify';
import { PLAN_IDS, type Plan, type PlanId } from '../../core/domain/plan.ts';
import { BASE_PATHS } from '../../core/domain/resources.ts';
import { type DocsSite, servedText } from '../docs-site/docs-site.ts';
import { escapeHtml } from '../docs-site/markdown.ts';
import { INDEX_DESCRIPTION } from '../docs-site/shell.ts';
import { type TableCell, tableHtml } from '../docs-site/table.ts';
import type { IndexFacts, PriceListEntry } from '../operations/deps.ts';
import { dollarsInShort, SQL_TIERS, unitsInShort } from '../operations/prices.ts';
import { CLICKHOUSE_PATH } from './clickhouse/route.ts';
import { sendText } from './docs-routes.ts';
import { prefersHtml } from './headers.ts';
import { installRefusedMethods } from './methods.ts';

/** Platforms probe it every few seconds: counted apart from calls. */
const HEALTH = { config: { observedAs: 'health' } };

/** The routes besides the API: health for the platform, the machine-readable description, the pages that answers link to. */
export function installServiceRoutes(
  app: FastifyInstance,
  service: {
    readonly index: Pick<IndexFacts, 'ready'>;
    /** Builds the document, which takes some 20 ms: called once, by the first request for it. */
    readonly openApi: () => Readonly<Record<string, unknown>>;
    readonly docs: DocsSite;
    readonly deployment: PriceFacts & FrontFacts;
  },
): void {
  app.get('/healthz', HEALTH, (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  app.get('/readyz', HEALTH, async (_request, reply) => {
    await service.index.ready();
    return reply.header('cache-control', 'no-store').send({ status: 'ready' });
  });
  let openApi: string | undefined;
  app.get('/openapi.json', (_request, reply) => {
    openApi ??= JSON.stringify(service.openApi());
    return reply
      .header('cache-control', 'public, max-age=300')
      .header('content-type', 'application/json; charset=utf-8')
      .send(openApi);
  });
  const plans = service.docs.framed({
    title: 'Plans and prices',
    description: 'Plans, what each route costs, and how an organization gets more Query Units.',
    body: plansPage(service.deployment),
  });
  app.get('/plans', (request, reply) => sendText(request, reply, plans));
  installFrontPage(app, { ...service.deployment, docs: service.docs });
  for (const url of ['/healthz', '/readyz', '/openapi.json', '/plans']) installRefusedMethods(app, url);
}

/** The root of the service: a page for people, the same as JSON for programs. */

interface FrontFacts {
  readonly version: string;
  /** The URL callers use, without a slash at its end; '' when the deployment does not know it. */
  readonly publicUrl: string;
}

/** Places below the URL of the service: the path of each and its purpose. */
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
  for (const url of ['/', ...BASE_PATHS]) {
    app.get(url, (request, reply) =>
      sendText(request, reply, prefersHtml(request.headers.accept) ? page : json, 'Accept, Accept-Encoding'),
    );
    installRefusedMethods(app, url, ['GET'], url === '/' ? CLICKHOUSE_HINT : '');
  }
}

/** Clients of ClickHouse that are given a host and a port alone post their queries to the root. */
const CLICKHOUSE_HINT = ` ClickHouse clients connect to ${CLICKHOUSE_PATH}, or to the port that is set for them (docs/connect).`;

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
  const base = publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, '');
  const places = Object.values(PLACES).map(({ path, meaning }) => {
    // No link: only programs can call it.
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

/** Pages that links in answers lead to and that depend on the deployment, as HTML for the frame of the documentation. */

export interface PriceFacts {
  readonly priceList: readonly PriceListEntry[];
  readonly plans: Readonly<Record<PlanId, Plan>>;
  /** Whether single calls can be bought here over x402. */
  readonly sellsCalls: boolean;
}

/** What `top_up_url` leads to: plans, prices, and how an organization gets more units. */
export function plansPage({ priceList, plans, sellsCalls }: PriceFacts): string {
  const planRows = PLAN_IDS.map((id) => {
    const { requestsPerMinute, monthlyGrantQu, lowBalanceQu, sqlTiers } = plans[id];
    const figures = [monthlyGrantQu, requestsPerMinute, lowBalanceQu].map((n) => n.toLocaleString('en-US'));
    return [id, ...figures, sqlTiers.join(', ') || 'none'];
  });
  const routeRows = priceList.map(({ method, path, price }) => [
    { code: `${method} /v0${path}` },
    unitsInShort(price),
    dollarsInShort(price),
  ]);
  const tierRows = SQL_TIERS.map(({ tier, timeoutSeconds, maxQu, requestsPerMinute, diskBytes }) => [
    tier,
    `${timeoutSeconds} s`,
    maxQu,
    requestsPerMinute,
    `${diskBytes / 1024 ** 3} GiB`,
  ]);
  const intro = sellsCalls
    ? 'Without a key every call can be paid for over x402.'
    : 'This deployment does not sell single calls: a key is needed.';
  return `<h1>Plans and prices</h1>
<p>Query Units (QU) belong to an organization and are drawn by metered routes. ${intro}</p>
<h2 id="plans">Plans</h2>
${htmlTable(['Plan', 'QU a month', 'Requests a minute', 'Low balance at', 'SQL tiers'], planRows)}
<h2 id="top-up">Top up</h2>
<p>Units are added, and plans changed, by the operator of this deployment. Name your organization, as <code>/v0/account</code> shows it. The units of a plan are added at the beginning of every UTC month, and unused ones are kept.</p>
<h2 id="prices">Prices</h2>
${htmlTable(['Route', 'QU', 'USD over x402'], routeRows)}
<h2 id="sql-tiers">SQL tiers</h2>
<p>A query holds the units of its tier and is charged for the time in which the engine worked on it.</p>
${htmlTable(['Tier', 'Time limit', 'QU at most', 'Requests a minute', 'Disk of a query'], tierRows)}
`;
}

interface CodeCell {
  readonly code: string;
}

type Cell = string | number | CodeCell;

function htmlTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return tableHtml(
    head.map(tableCell),
    rows.map((row) => row.map(tableCell)),
  );
}

function tableCell(cell: Cell): TableCell {
  if (typeof cell === 'object') return { html: `<code>${escapeHtml(cell.code)}</code>`, text: cell.code };
  return { html: escapeHtml(String(cell)), text: String(cell) };
}
