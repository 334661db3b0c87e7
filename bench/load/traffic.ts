import type { Stage } from './stage.ts';
import type { Asked } from './wrk.ts';

/** Requests by kind; each kind has connections of its own, so that its latency is measured apart. */
export const KINDS = ['feed', 'wallet', 'profile', 'leaderboard', 'sql'] as const;
export type Kind = (typeof KINDS)[number];

/** Pages of the feed are asked from here on backwards, so that deep ones are among them. */
const DEEP_PAGES = 40;
const PAGE_ROWS = 50;
const SQL_DAYS = 7;

/** What callers ask for at the same time: each kind over connections of its own. */
export interface Mix {
  /** Begins the names of its figures. */
  readonly name: string;
  /** Good answers a second that all kinds together must reach; undefined where it is only shown. */
  readonly rateMin: number | undefined;
  readonly kinds: Readonly<Record<Kind, Stream>>;
}

export interface Stream {
  /** Sent in turn, the same ones each time. */
  readonly requests: readonly Asked[];
  readonly connections: number;
  readonly pauseMs: number;
}

/** So that queries stay within what the plans of their customers allow. */
const QUERY_PAUSE_MS = 100;
/** Wallets that all callers together call their own: as many as the accounts of this bench would have. */
const OWN_WALLETS = 12;

/** The mixes that are judged, the first of which is also the one that is overloaded. */
export async function mixesOf(stage: Stage): Promise<readonly [Mix, ...Mix[]]> {
  const { merchants, payers } = stage.wallets;
  const merchantsOf = [...merchants.hot, ...merchants.mid, ...merchants.cold];
  const payersOf = [...payers.hot, ...payers.mid, ...payers.cold];
  const ownMerchants = merchants.mid.slice(0, OWN_WALLETS / 2);
  const ownPayers = payers.mid.slice(0, OWN_WALLETS / 2);
  const newest = [{ path: '/v0/flows?limit=50' }, { path: '/v0/flows?limit=100&chain=eip155:8453' }];
  const rankings = ['/v0/leaderboard?limit=50&chain=all', '/v0/facilitators'].map((path) => ({ path }));
  const all = { rankings: [...rankings, { path: '/v0/wallets?limit=50' }], kept: rankings };
  const stream = (requests: readonly Asked[], connections: number, pauseMs = 0): Stream => ({
    requests,
    connections,
    pauseMs,
  });
  return [
    {
      name: 'all-wallets',
      rateMin: undefined,
      kinds: {
        feed: stream([...(await feedPages(stage)), ...newest], 8),
        wallet: stream([...merchantsOf, ...payersOf].map(walletPage), 4),
        profile: stream(merchantsOf.map(profile), 2),
        leaderboard: stream(all.rankings, 2),
        sql: stream(merchantsOf.map(query), 2, QUERY_PAUSE_MS),
      },
    },
    {
      name: 'own-wallets',
      rateMin: 600,
      kinds: {
        feed: stream(newest, 6),
        wallet: stream([...ownMerchants, ...ownPayers].map(walletPage), 6),
        profile: stream(ownMerchants.map(profile), 2),
        leaderboard: stream(all.kept, 2),
        sql: stream(ownMerchants.map(query), 2, QUERY_PAUSE_MS),
      },
    },
    {
      name: 'newest-pages',
      rateMin: 1_500,
      kinds: {
        feed: stream(newest, 10),
        wallet: stream(ownPayers.map(walletPage), 1),
        profile: stream(ownMerchants.map(profile), 1),
        leaderboard: stream(all.kept, 5),
        sql: stream(ownMerchants.map(query), 1, QUERY_PAUSE_MS),
      },
    },
  ];
}

const walletPage = (wallet: string): Asked => ({ path: `/v0/entities/${wallet}/settlements?limit=50` });
const profile = (wallet: string): Asked => ({ path: `/v0/merchants/${wallet}` });
const query = (payee: string): Asked => ({
  path: '/v0/sql',
  body: {
    sql: `SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements WHERE payee = {payee:String} AND block_time > now() - INTERVAL ${SQL_DAYS} DAY GROUP BY day ORDER BY day`,
    params: { payee },
  },
});

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
