import type { MeasuredApi } from '../support/measured-api.ts';
import { listed } from './facts.ts';
import type { Ask, Question } from './question.ts';
import { bytea } from './settlement-page-question.ts';

interface WalletsBody {
  readonly wallets: readonly {
    readonly wallet: string;
    readonly roles: readonly string[];
    readonly settlement_count: number;
    readonly first_seen: string;
    readonly last_seen: string;
  }[];
  readonly next_before: string | null;
}

const LIMIT = 50;
const PAGES = 12;
const ABOVE_ALL = `'\\x${'ff'.repeat(21)}'::bytea`;

/** The highest distinct addresses of one side below $1 by skipping through its index: one descent for each. */
function skipThrough(party: 'payer' | 'payee'): string {
  const next = (bound: string): string =>
    `SELECT ${party} FROM settlements WHERE ${party} < ${bound} ORDER BY ${party} DESC LIMIT 1`;
  return `WITH RECURSIVE walk(wallet) AS ((${next('$1::bytea')}) UNION ALL
    SELECT (${next('walk.wallet')}) FROM walk WHERE walk.wallet IS NOT NULL)
    SELECT wallet FROM walk WHERE wallet IS NOT NULL LIMIT ${LIMIT + 1}`;
}

const FIGURES = `SELECT wallet, paid.n > 0, received.n > 0, paid.n + received.others,
    extract(epoch FROM least(paid.first_time, received.first_time))::bigint,
    extract(epoch FROM greatest(paid.last_time, received.last_time))::bigint
  FROM (SELECT wallet FROM ((${skipThrough('payer')}) UNION (${skipThrough('payee')})) AS both_sides
    ORDER BY wallet DESC LIMIT ${LIMIT + 1}) AS page,
  LATERAL (SELECT count(*) AS n, min(block_time) AS first_time, max(block_time) AS last_time
    FROM settlements WHERE payer = page.wallet) AS paid,
  LATERAL (SELECT count(*) AS n, count(*) FILTER (WHERE payer <> payee) AS others, min(block_time) AS first_time,
    max(block_time) AS last_time FROM settlements WHERE payee = page.wallet) AS received
  ORDER BY wallet DESC`;

/** Pages of all wallets, from the highest address down. */
export async function walletPages(api: MeasuredApi): Promise<Question> {
  const asks: Ask[] = [];
  let before: string | null = null;
  let bound = ABOVE_ALL;
  for (let page = 0; page < PAGES; page++) {
    const path: string = `/v0/wallets?chain=all&limit=${LIMIT}${before === null ? '' : `&before=${before}`}`;
    asks.push(askFor(path, bound));
    const { body }: { body: WalletsBody } = await api.get<WalletsBody>(path);
    const last = body.wallets.at(-1);
    before = body.next_before;
    if (before === null || last === undefined) break;
    bound = bytea(last.wallet);
  }
  return { name: 'wallets-page', kind: 'point', bounded: true, asks };
}

function askFor(path: string, bound: string): Ask {
  return {
    source: path,
    peer: {
      statements: [{ text: FIGURES, literals: [bound] }],
      ours: (body) => ({
        exact: listed(
          'wallet',
          (body as WalletsBody).wallets.map((row) => [
            row.wallet,
            row.roles.includes('payer') ? 't' : 'f',
            row.roles.includes('payee') ? 't' : 'f',
            row.settlement_count,
            Date.parse(row.first_seen) / 1_000,
            Date.parse(row.last_seen) / 1_000,
          ]), // what the route answers
        ),
      }),
      theirs: ([rows = []]) => ({
        exact: listed(
          'wallet',
          rows.slice(0, LIMIT).map(([wallet = '', ...rest]) => [`0x${wallet.slice(2)}`, ...rest]),
        ),
      }),
    },
  };
}
