import { listed, micros } from './facts.ts';
import type { Question } from './question.ts';

interface FacilitatorsBody {
  readonly facilitators: readonly {
    readonly address: string;
    readonly settlement_count: number;
    readonly settled_usd: number;
    readonly distinct_payers: number;
    readonly distinct_payees: number;
    readonly first_seen: string;
    readonly last_seen: string;
  }[];
}

const LIMIT = 50;

/**
 * The busiest relayers. PostgreSQL adds up their days and counts distinct parties for the page alone, along the index of relayers and
 * by hash: three times as fast as count(DISTINCT) for all of them.
 */
const RANKING = `SELECT relayer, n, total, extract(epoch FROM first_time)::bigint, extract(epoch FROM last_time)::bigint,
    (SELECT count(*) FROM (SELECT payer FROM settlements AS s WHERE s.chain = busiest.chain AND s.relayer = busiest.relayer GROUP BY payer) AS payers),
    (SELECT count(*) FROM (SELECT payee FROM settlements AS s WHERE s.chain = busiest.chain AND s.relayer = busiest.relayer GROUP BY payee) AS payees)
  FROM (SELECT chain, relayer, sum(n) AS n, sum(total) AS total, min(first_time) AS first_time, max(last_time) AS last_time
    FROM relayer_day GROUP BY chain, relayer ORDER BY n DESC, chain, relayer LIMIT ${LIMIT}) AS busiest
  ORDER BY n DESC, chain, relayer`;

export const FACILITATORS: Question = {
  name: 'facilitators-page',
  kind: 'scan',
  bounded: false,
  asks: [
    {
      source: `/v0/facilitators?chain=all&limit=${LIMIT}`,
      peer: {
        statements: [{ text: RANKING, literals: [] }],
        ours: (body) => {
          const { facilitators } = body as FacilitatorsBody; // what the route answers
          return {
            exact: listed(
              'relayer',
              facilitators.map((row) => [
                row.address,
                row.settlement_count,
                micros(row.settled_usd),
                Date.parse(row.first_seen) / 1_000,
                Date.parse(row.last_seen) / 1_000,
              ]),
            ),
            about: Object.fromEntries(
              facilitators.flatMap((row, index) => [
                [`payers ${index}`, row.distinct_payers],
                [`payees ${index}`, row.distinct_payees],
              ]),
            ),
          };
        },
        theirs: ([rows = []]) => ({
          exact: listed(
            'relayer',
            rows.map(([relayer = '', ...figures]) => [`0x${relayer.slice(2)}`, ...figures.slice(0, 4)]),
          ),
          about: Object.fromEntries(
            rows.flatMap((row, index) => [
              [`payers ${index}`, Number(row[5])],
              [`payees ${index}`, Number(row[6])],
            ]),
          ),
        }),
      },
    },
  ],
};
