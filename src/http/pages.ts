import type { PriceListEntry } from '../catalogue/operation.ts';
import { type Price, SQL_TIERS } from '../catalogue/prices.ts';
import { usdNumber } from '../domain/amount.ts';
import { PLAN_IDS, type Plan, type PlanId } from '../domain/plan.ts';
import { ERROR_CODES, ERRORS } from '../errors.ts';

/** The few pages that links in answers lead to. Plain HTML without scripts, made once from the catalogues. */

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}code{font-size:.95em}td,th{text-align:left;padding:.2rem .8rem .2rem 0}:target{background:#fff3c4}';

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head><body><h1>${title}</h1>${body}</body></html>\n`;
}

/** What every `type` of a problem links to. */
export function errorsPage(): string {
  const sections = ERROR_CODES.map((code) => {
    const { status, title, advice, retryable } = ERRORS[code];
    return `<section id="${code}"><h2><code>${code}</code></h2><p>${status} · ${title}</p><p>${advice}</p><p>${retryable ? 'The same request may succeed later.' : 'The same request will fail again.'}</p></section>`;
  });
  return page('Errors', sections.join(''));
}

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
    `<code>${method} ${path}</code>`,
    unitsText(price),
    usdNumber(price.x402UsdMicros),
  ]);
  const tierRows = SQL_TIERS.map(({ tier, timeoutSeconds, maxQu, requestsPerMinute }) => [
    tier,
    `${timeoutSeconds} s`,
    maxQu,
    requestsPerMinute,
  ]);
  return page(
    'Plans and prices',
    [
      `<p>Query Units (QU) belong to an organization and are drawn by metered routes. ${sellsCalls ? 'Without a key every call can be paid for over x402.' : 'This deployment does not sell single calls: a key is needed.'}</p>`,
      '<h2>Plans</h2>',
      htmlTable(['Plan', 'QU a month', 'Requests a minute', 'Low balance at', 'SQL tiers'], planRows),
      '<h2 id="top-up">Top up</h2><p>Units are added, and plans changed, by the operator of this deployment. Name your organization, as <code>/v0/account</code> shows it. The units of a plan are added at the beginning of every UTC month, and unused ones are kept.</p>',
      '<h2>Prices</h2>',
      htmlTable(['Route', 'QU', 'USD over x402'], routeRows),
      '<h2>SQL tiers</h2><p>A query holds the units of its tier and is charged for the engine time it used.</p>',
      htmlTable(['Tier', 'Time limit', 'QU at most', 'Requests a minute'], tierRows),
    ].join(''),
  );
}

function unitsText({ class: priceClass, qu }: Price): string {
  if (qu === null) return 'not sold for units';
  return priceClass === 'keyed' ? `${qu} (any key)` : String(qu);
}

/** Cells are our own text or numbers, never a caller's. */
function htmlTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (tag: string, cells: readonly (string | number)[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>${line('th', head)}${rows.map((row) => line('td', row)).join('')}</table>`;
}
