import { usdNumber } from '../../core/domain/amount.ts';
import { PLAN_IDS, type Plan, type PlanId } from '../../core/domain/plan.ts';
import { escapeHtml } from '../docs-site/markdown.ts';
import type { PriceListEntry } from '../operations/define.ts';
import { type Price, SQL_TIERS } from '../operations/prices.ts';

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
    return [id, monthlyGrantQu, requestsPerMinute, lowBalanceQu, sqlTiers.join(', ') || 'none'];
  });
  const routeRows = priceList.map(({ method, path, price }) => [
    { code: `${method} ${path}` },
    unitsText(price),
    usdNumber(price.x402UsdMicros),
  ]);
  const tierRows = SQL_TIERS.map(({ tier, timeoutSeconds, maxQu, requestsPerMinute }) => [
    tier,
    `${timeoutSeconds} s`,
    maxQu,
    requestsPerMinute,
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
<p>A query holds the units of its tier and is charged for the engine time it used.</p>
${htmlTable(['Tier', 'Time limit', 'QU at most', 'Requests a minute'], tierRows)}
`;
}

function unitsText({ class: priceClass, qu }: Price): string {
  if (qu === null) return 'not sold for units';
  return priceClass === 'keyed' ? `${qu} (any key)` : String(qu);
}

interface CodeCell {
  readonly code: string;
}

type Cell = string | number | CodeCell;

function htmlTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const names = head.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join('');
  const lines = rows.map((row) => `<tr>${row.map((cell) => `<td>${cellHtml(cell)}</td>`).join('')}</tr>`);
  return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${names}</tr></thead><tbody>${lines.join('')}</tbody></table></div>`;
}

function cellHtml(cell: Cell): string {
  return typeof cell === 'object' ? `<code>${escapeHtml(cell.code)}</code>` : escapeHtml(String(cell));
}
