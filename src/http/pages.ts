import type { PriceListEntry } from '../catalogue/operation.ts';
import { SQL_TIERS } from '../catalogue/prices.ts';
import { usdNumber } from '../domain/amount.ts';
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

/** What `top_up_url` of a caller without an organization links to. */
export function plansPage(prices: readonly PriceListEntry[]): string {
  const routes = prices.map(
    ({ method, path, price }) =>
      `<tr><td><code>${method} ${path}</code></td><td>${price.qu}</td><td>${usdNumber(price.x402UsdMicros)}</td></tr>`,
  );
  const tiers = SQL_TIERS.map(
    ({ tier, timeoutSeconds, maxQu, requestsPerMinute, plans }) =>
      `<tr><td>${tier}</td><td>${timeoutSeconds} s</td><td>${maxQu}</td><td>${requestsPerMinute}</td><td>${plans.join(', ')}</td></tr>`,
  );
  return page(
    'Plans and prices',
    `<p>This deployment has no accounts yet: every route is open without a key. The list prices are:</p><table><tr><th>Route</th><th>QU</th><th>USD over x402</th></tr>${routes.join('')}</table><h2>SQL tiers (not served yet)</h2><table><tr><th>Tier</th><th>Time limit</th><th>QU at most</th><th>Requests a minute</th><th>Plans</th></tr>${tiers.join('')}</table>`,
  );
}
