import { accountBytes, isAccountText } from '../../clickhouse/engine/account.ts';
import type { RunStatement, Writer } from '../../clickhouse/engine/engine.ts';
import {
  commaList,
  dateTime,
  type Sql,
  sql,
  text,
  trustedText,
  uint32,
  uint64,
} from '../../clickhouse/engine/sql.ts';
import { COVERAGE, decodeCoverage } from '../../clickhouse/tables/coverage.ts';
import {
  RANKED_FACILITATORS,
  RANKED_WALLETS,
  RANKED_WALLETS_MAX,
  RANKING_PASSES,
  TWO_WAY_WALLETS,
} from '../../clickhouse/tables/generations.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { JudgedRole } from '../../core/domain/data-quality.ts';
import type { Window } from '../../core/domain/window.ts';
import { countRows, type DerivedTable, derive, runInTurn } from '../passes/derived-table.ts';
import { COMPUTE_SETTINGS } from '../rollup/close.ts';
import { facilitatorsInto } from './facilitators.ts';
import { FIGURE_COLUMNS, type FiguresScope, walletFigures } from './figures.ts';
import { countPairs, flowScope } from './flows.ts';
import { twoWayInto } from './two-way.ts';
import { walletRanges } from './wallet-ranges.ts';

/**
 * One pass: the figures of every wallet of a window, cut to those that a ranking can show, and of every facilitator, published as a whole
 * (clickhouse/tables/generations.ts).
 */

/** All of time of a large index takes a minute or two; a machine under load may need a multiple of it. */
const COMPUTE_MAX_SECONDS = 900;
const LOOK_MAX_SECONDS = 30;
/** Rows of pairs and days whose figures one statement computes, with all that it remembers in the memory of COMPUTE_SETTINGS. */
const PAIRS_PER_RANGE = 2_500_000;
const ROLES: readonly JudgedRole[] = ['payee', 'payer'];

export interface RankingPassOptions {
  readonly window: Window;
  /** That are served. */
  readonly chains: readonly Chain[];
  readonly nowMs: number;
  readonly signal?: AbortSignal;
  /** Tests lower both. */
  readonly walletsMax?: number;
  readonly pairsPerRange?: number;
}

export interface RankingPass {
  readonly gen: bigint;
  readonly window: Window;
  readonly wallets: number;
  readonly tookMs: number;
}

/** Null where no settlement is indexed. */
export async function rankingPass(writer: Writer, options: RankingPassOptions): Promise<RankingPass | null> {
  const { window, chains, nowMs, signal } = options;
  const { walletsMax = RANKED_WALLETS_MAX, pairsPerRange = PAIRS_PER_RANGE } = options;
  const started = performance.now();
  const atSeconds = Math.floor(nowMs / 1_000);
  if (!(await hasSettlements(writer))) return null;
  const coverage = decodeCoverage((await writer.rows(COVERAGE)).rows);
  const scope = flowScope(window, { chains, atSeconds, coverage });
  const ranges = walletRanges(await countPairs(writer, scope), pairsPerRange);
  const compute = (name: string, statement: Sql): RunStatement => {
    const settings = { ...COMPUTE_SETTINGS, ...NULLS_AS_ZERO };
    return { name: `${name} ${window}`, sql: statement, maxSeconds: COMPUTE_MAX_SECONDS, settings };
  };
  let [wallets, tookMs] = [0, 0];
  const gen = await derive(writer, rankings(window), {
    fresh: BigInt(nowMs),
    stages: 1,
    async write(gen) {
      const staged = gen - 1n;
      const statements = [
        ...ranges.map((among) => compute('ranking-two-way', twoWayInto(staged, { window, scope, among }))),
        ...ROLES.flatMap((role) =>
          ranges.map((among) =>
            compute('ranking-figures', figuresInto({ window, scope, role, among, staged })),
          ),
        ),
        compute('ranking-best', bestInto(gen, staged, walletsMax)),
        compute('ranking-facilitators', facilitatorsInto(gen, { window, scope, staged, atSeconds })),
      ];
      await runInTurn(writer, statements, signal);
      tookMs = Math.round(performance.now() - started);
      wallets = await countRows(writer, RANKED_WALLETS, gen);
      return { ranked_at: dateTime(atSeconds), wallets: uint64(wallets), took_ms: uint64(tookMs) };
    },
  });
  return { gen, window, wallets, tookMs };
}

const rankings = (window: Window): DerivedTable => ({
  name: 'ranking',
  rows: [RANKED_WALLETS, RANKED_FACILITATORS, TWO_WAY_WALLETS],
  passes: RANKING_PASSES,
  kind: { column: 'span', value: text(window) },
});

/** A wallet without a row on the right side of a join lost nothing and is in no ring. */
const NULLS_AS_ZERO = { join_use_nulls: 0 } as const;

async function hasSettlements(writer: Writer): Promise<boolean> {
  const { rows } = await writer.rows({
    name: 'ranking-any',
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT 1 FROM hour_ver LIMIT 1`,
  });
  return rows.length > 0;
}

const COLUMNS = ['span', 'role', ...FIGURE_COLUMNS, 'gen'];
const columns = (names: readonly string[]): Sql => commaList(names.map(trustedText));

function figuresInto(of: FiguresScope & { readonly window: Window }): Sql {
  return sql`INSERT INTO ranked_wallets (${columns(COLUMNS)})
    SELECT ${text(of.window)}, ${text(of.role)}, *, ${uint64(of.staged)} FROM (${walletFigures(of)})`;
}

const micros = (usd: string): string => `toInt256(toDecimal256(${usd}, 6) * 1000000)`;

/** What a ranking of the window, and of the one before, goes by, in whole numbers. */
const ORDERS: readonly Sql[] = [
  micros('organic_usd0'),
  micros('organic_usd1'),
  micros('organic_proven0'),
  micros('organic_proven1'),
  'toInt256(organic_count0)',
  'toInt256(organic_count1)',
  'toInt256(parties0)',
  'toInt256(parties1)',
  micros('organic_usd0 - organic_usd1'),
  micros('organic_usd1 - organic_usd2'),
].map(trustedText);

/** Above every address, as the first eight bytes of one. */
const ADDRESSES = trustedText("toInt256('18446744073709551616')");

/** One number that sorts as the order does, equal values by their address: numbers sort several times faster than pairs. */
const place = (order: Sql): Sql =>
  sql`${order} * ${ADDRESSES} - toInt256(reinterpretAsUInt64(reverse(substring(wallet, 1, 8))))`;

/**
 * Of each role, chain and side of the line that suspect wallets are left out by, the best by every order; and every payee that an agent or
 * a listed resource is paid at, because filters leave little else.
 */
function bestInto(gen: bigint, staged: bigint, walletsMax: number): Sql {
  const max = uint32(walletsMax);
  // Of the best alone: an array of all would be as large as the index.
  const last = ORDERS.map(
    (order, index) =>
      sql`-groupArraySorted(${trustedText(String(walletsMax))})(-(${place(order)}))[${max}] AS ${trustedText(`last${index}`)}`,
  );
  const isBest = ORDERS.map(
    (order, index) => sql`(${order} > 0 AND ${place(order)} >= ${trustedText(`last${index}`)})`,
  );
  const isWorthAPlace = ORDERS.map((order) => sql`${order} > 0`);
  const rows = sql`SELECT *, verdict = 'suspect' AS is_suspect FROM ranked_wallets WHERE gen = ${uint64(staged)}`;
  return sql`INSERT INTO ranked_wallets (${columns(COLUMNS)})
    SELECT ${columns(COLUMNS.slice(0, -1))}, ${uint64(gen)}
    FROM (${rows}) AS staged
    INNER JOIN (SELECT role, chain, is_suspect, count() AS size, ${commaList(last)} FROM (${rows}) GROUP BY role, chain, is_suspect) AS best
      USING (role, chain, is_suspect)
    WHERE (role = 'payee' AND wallet IN ${LISTED}) OR (size <= ${max} AND (${anyOf(isWorthAPlace)})) OR ${anyOf(isBest)}`;
}

const LISTED: Sql = sql`(
    SELECT wallet FROM (SELECT wallet, del FROM agents FINAL) WHERE del = 0
    UNION DISTINCT SELECT ${accountBytes(sql`pay_to`)} FROM (SELECT pay_to, del FROM endpoint_list FINAL)
    WHERE del = 0 AND ${isAccountText(sql`pay_to`)})`;

function anyOf(conditions: readonly Sql[]): Sql {
  return conditions.reduce((all, next) => sql`${all} OR ${next}`, sql`false`);
}
