import { send } from '../lab/api.ts';
import type { Stage } from './stage.ts';
import type { Asked, Stream } from './wrk.ts';

/** Requests by kind; each kind has connections of its own, so that its latency is measured apart. */
export const KINDS = ['feed', 'wallet', 'profile', 'leaderboard', 'sql'] as const;
export type Kind = (typeof KINDS)[number];

/** What callers ask for at the same time: each kind over connections of its own. */
export interface Mix {
  /** Begins the names of its figures. */
  readonly name: string;
  /** Good answers a second that all kinds together must reach; undefined where it is only shown. */
  readonly rateMin: number | undefined;
  readonly kinds: Readonly<Record<Kind, Stream>>;
}

/** Pages of the feed are asked from here on backwards, so that deep ones are among them. */
const DEEP_PAGES = 40;
/** So that queries stay within what the plans of their customers allow. */
const QUERY_PAUSE_MS = 100;
/** Wallets that all callers together call their own: as many as the accounts of this bench would have. */
const OWN_WALLETS = 12;
/** A query uses the whole time of its tier, and as much of the engine as a guest can get. */
const HEAVY_QUERIES = 20;

/** The mixes that are judged, the first of which is also the one that is overloaded. */
export async function mixesOf(stage: Stage): Promise<readonly [Mix, ...Mix[]]> {
  const { merchants, payers } = stage.wallets;
  const all = [merchants, payers].map(({ hot, mid, cold }) => [...hot, ...mid, ...cold]);
  const own = [merchants, payers].map(({ mid }) => mid.slice(0, OWN_WALLETS / 2));
  const [merchantsOf = [], payersOf = []] = all;
  const [ownMerchants = [], ownPayers = []] = own;
  const newest = gets('/v0/flows?limit=50', '/v0/flows?limit=100&chain=eip155:8453');
  const rankings = gets('/v0/leaderboard?limit=50&chain=all', '/v0/facilitators');
  const lists = [...rankings, ...gets('/v0/wallets?limit=50')];
  return [
    {
      ...{ name: 'all-wallets', rateMin: undefined },
      kinds: {
        feed: stream([...(await feedPages(stage)), ...newest], 8),
        wallet: stream([...merchantsOf, ...payersOf].map(walletPage), 4),
        profile: stream(merchantsOf.map(profile), 2),
        leaderboard: stream(lists, 2),
        sql: stream(merchantsOf.map(query), 2, QUERY_PAUSE_MS),
      },
    },
    {
      ...{ name: 'own-wallets', rateMin: 600 },
      kinds: {
        feed: stream(newest, 6),
        wallet: stream([...ownMerchants, ...ownPayers].map(walletPage), 6),
        profile: stream(ownMerchants.map(profile), 2),
        leaderboard: stream(rankings, 2),
        sql: stream(ownMerchants.map(query), 2, QUERY_PAUSE_MS),
      },
    },
    {
      ...{ name: 'newest-pages', rateMin: 1_500 },
      kinds: {
        feed: stream(newest, 10),
        wallet: stream(ownPayers.map(walletPage), 1),
        profile: stream(ownMerchants.map(profile), 1),
        leaderboard: stream(rankings, 5),
        sql: stream(ownMerchants.map(query), 1, QUERY_PAUSE_MS),
      },
    },
  ];
}

function stream(requests: readonly Asked[], connections: number, pauseMs = 0): Stream {
  return { requests, connections, pauseMs };
}

const gets = (...paths: string[]): Asked[] => paths.map((path) => ({ path }));
const walletPage = (wallet: string): Asked => ({ path: `/v0/entities/${wallet}/settlements?limit=50` });
const profile = (wallet: string): Asked => ({ path: `/v0/merchants/${wallet}` });
const sql = (text: string, params?: object): Asked => ({ path: '/v0/sql', body: { sql: text, params } });
const query = (payee: string): Asked =>
  sql(
    'SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements WHERE payee = {payee:String} AND block_time > now() - INTERVAL 7 DAY GROUP BY day ORDER BY day',
    { payee },
  );

export function heavyQueries(): Asked[] {
  return Array.from({ length: HEAVY_QUERIES }, (_, index) =>
    sql(
      `SELECT payer, uniqExact(payee) AS payees, quantileExact(0.${50 + index})(amount_usd) AS typical FROM settlements GROUP BY payer ORDER BY payees DESC LIMIT 10`,
    ),
  );
}

/** The newest page and its successors, walked once. */
async function feedPages({ url, keys }: Stage): Promise<Asked[]> {
  const pages: Asked[] = [];
  let before: string | null = '';
  while (before !== null && pages.length < DEEP_PAGES) {
    const path: string = `/v0/flows?limit=50${before === '' ? '' : `&before=${encodeURIComponent(before)}`}`;
    pages.push({ path });
    const { text } = await send(url + path, keys.patient);
    before = (JSON.parse(text) as { readonly next_before: string | null }).next_before; // our own API
  }
  return pages;
}
