import type { Stage } from './stage.ts';
import type { Asked } from './wrk.ts';

/** Requests by kind; each kind has connections of its own, so that its latency is measured apart. */
export const KINDS = ['feed', 'wallet', 'profile', 'leaderboard', 'sql'] as const;
export type Kind = (typeof KINDS)[number];

/** Pages of the feed are asked from here on backwards, so that deep ones are among them. */
const DEEP_PAGES = 40;
const PAGE_ROWS = 50;
const SQL_DAYS = 7;

/** Every kind's requests; the same ones each time, in the same order. */
export async function trafficOf(stage: Stage): Promise<Readonly<Record<Kind, readonly Asked[]>>> {
  const { merchants, payers } = stage.wallets;
  const all = [...merchants.hot, ...merchants.mid, ...merchants.cold];
  const buyers = [...payers.hot, ...payers.mid, ...payers.cold];
  return {
    feed: [
      ...(await feedPages(stage)),
      { path: '/v0/flows?limit=50' },
      { path: '/v0/flows?limit=100&chain=eip155:8453' },
    ],
    wallet: [...all, ...buyers].map((wallet) => ({ path: `/v0/entities/${wallet}/settlements?limit=50` })),
    profile: all.map((wallet) => ({ path: `/v0/merchants/${wallet}` })),
    leaderboard: [
      { path: '/v0/leaderboard?limit=50&chain=all' },
      { path: '/v0/wallets?limit=50' },
      { path: '/v0/facilitators' },
    ],
    sql: all.map((wallet) => ({
      path: '/v0/sql',
      body: {
        sql: `SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements WHERE payee = {payee:String} AND block_time > now() - INTERVAL ${SQL_DAYS} DAY GROUP BY day ORDER BY day`,
        params: { payee: wallet },
      },
    })),
  };
}

/** The newest page and its successors, walked once. */
async function feedPages({ url, keys }: Stage): Promise<Asked[]> {
  const pages: Asked[] = [];
  let path: string | null = `/v0/flows?limit=${PAGE_ROWS}`;
  while (path !== null && pages.length < DEEP_PAGES) {
    const answer = await fetch(`${url}${path}`, { headers: { 'x-api-key': keys.patient } });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    const { next_before: next } = (await answer.json()) as { readonly next_before: string | null }; // our own API
    pages.push({ path });
    path = next === null ? null : `/v0/flows?limit=${PAGE_ROWS}&before=${encodeURIComponent(next)}`;
  }
  return pages;
}

/** Queries that use the whole time of their tier, and as much of the engine as a guest can get. */
export function heavyQueries(): Asked[] {
  return Array.from({ length: 20 }, (_, index) => ({
    path: '/v0/sql',
    body: {
      sql: `SELECT payer, uniqExact(payee) AS payees, quantileExact(0.${50 + index})(amount_usd) AS typical FROM settlements GROUP BY payer ORDER BY payees DESC LIMIT 10`,
    },
  }));
}
