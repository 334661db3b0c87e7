import { sql } from '../../clickhouse/engine/sql.ts';
import type { MeasuredApi } from '../lab/api.ts';
import { rowsOf } from '../lab/engine.ts';
import { DAY_SECONDS, type WalletKind } from '../lab/history.ts';
import { at, listed, type Question } from '../lab/questions.ts';
import type { Lab } from './lab.ts';
import type { PostgresQuestion } from './postgres.ts';

/** What a market asks, as data: requests of ours, and the same of PostgreSQL. */
export interface MarketQuestion {
  /** `{kind}`: that of its wallets. */
  readonly name: string;
  readonly kind: QuestionKind;
  /** The kind of its subjects; absent for a question about all wallets. */
  readonly of?: 'merchants' | 'payers and merchants' | 'pairs' | 'transactions' | 'pages of wallets';
  readonly kinds?: readonly WalletKind[];
  /** Whether its cost may depend only weakly on the size of the index; `but hot`: those wallets are added up by day. */
  readonly bounded?: true | 'but hot';
  /** Most milliseconds of the median from 10 and from 50 million rows on; absent where it is only shown. */
  readonly goalMs?: Partial<Record<WalletKind | 'all', readonly [at10Million: number, at50Million: number]>>;
  /** Whether `goalMs` is for the time in the API process, not for that at its client. */
  readonly judgedInApi?: true;
  readonly kept?: true;
  /** `{1}`, `{2}` stand for its subjects. */
  readonly path: string;
  readonly reworded?: (path: string, round: number) => string;
  /** A list in our answer, with its columns; or the lines. */
  readonly ours: Parameters<typeof listed> | ((body: unknown) => readonly string[]);
  readonly oursAbout?: (body: unknown) => readonly number[];
  /** `$1`, `$2` stand for its subjects, `{today-30}` for the first second of the day 30 days ago. */
  readonly sql: readonly string[];
  /** Columns of the first statement's page; or the lines. */
  readonly theirs: readonly number[] | PostgresQuestion['lines'];
  readonly theirsAbout?: PostgresQuestion['about'];
}

/** How PostgreSQL answers, which decides how many times as fast (`<question>-faster-than-postgres`) we must be. */
const QUESTION_KINDS = {
  /** It reads rows of many wallets. */
  scan: 20,
  /** It descends an index to the rows of one wallet, pair or transaction: 0.5 ms, where our engine's floor is 1.35. */
  point: 1 / 16,
  /** It takes the newest rows of all from the end of an index. */
  newest: 1,
  /** It adds up its materialised days: shown. */
  days: undefined,
} as const;
type QuestionKind = keyof typeof QUESTION_KINDS;

export const LIMIT = 50;
export const WALLETS_PATH = `/v0/wallets?chain=all&limit=${LIMIT}`;
const WALLET_PAGES = 12;
const ABOVE_ALL = `0x${'ff'.repeat(21)}`;
/** Rows a bounded question may read, whatever the size of the index. */
const ROWS_READ_GOAL = 300_000;
const ROWS_FOR_GOALS = [10_000_000, 50_000_000] as const;

/** One for each kind of wallet. */
export async function questionsOf(lab: Lab, markets: readonly MarketQuestion[]) {
  const subjects = await subjectsOf(lab);
  return markets.flatMap((market) =>
    (market.kinds ?? [undefined]).map((wallets) =>
      questionOf(lab, market, wallets, subjects(market.of ?? 'nothing', wallets)),
    ),
  );
}

/** Whether an answer is judged depends on the size of the index: few rows are not. */
function questionOf(
  { rows, todayStart }: Lab,
  { bounded, judgedInApi, path, reworded, ours, theirs, ...market }: MarketQuestion,
  wallets: WalletKind | undefined,
  subjects: readonly Subject[],
): Question<PostgresQuestion> {
  const isByDay = bounded === 'but hot' && wallets === 'hot';
  const kind = isByDay ? 'days' : market.kind;
  const most = market.goalMs?.[wallets ?? 'all']?.[ROWS_FOR_GOALS.findLastIndex((from) => rows >= from)];
  const dayBefore = (_: string, days: string): string =>
    `to_timestamp(${todayStart - Number(days) * DAY_SECONDS})`;
  return {
    name: market.name.replace('{kind}', wallets ?? ''),
    kept: market.kept,
    goals: {
      p50Max: judgedInApi ? undefined : most,
      apiP50Max: judgedInApi ? most : undefined,
      rowsReadBelow: bounded === undefined || isByDay ? undefined : ROWS_READ_GOAL,
      fasterThanPeer: rows < ROWS_FOR_GOALS[0] ? undefined : QUESTION_KINDS[kind],
    },
    asks: subjects.map(({ words, literals }) => {
      const filled = path.replaceAll(/\{(\d)\}/g, (_, number) => words[number - 1] ?? '');
      return {
        path: filled,
        reworded: reworded && ((round) => reworded(filled, round)),
        lines: typeof ours === 'function' ? ours : listed(...ours),
        about: market.oursAbout,
        peer: {
          statements: market.sql.map((text) => ({
            ...{ text: text.replaceAll(/\{today-?(\d*)\}/g, dayBefore), literals },
          })),
          prepared: kind === 'point' || kind === 'newest',
          lines: typeof theirs === 'function' ? theirs : columns(theirs),
          about: market.theirsAbout,
        },
      };
    }),
  };
}

/** For the path, and for PostgreSQL. */
interface Subject {
  readonly words: readonly string[];
  readonly literals: readonly string[];
}

async function subjectsOf({ api, engine, wallets: { merchants, payers } }: Lab) {
  const settlements = await rowsOf(
    engine,
    sql`SELECT concat('0x', lower(hex(payer))), concat('0x', lower(hex(payee))), concat('0x', lower(hex(tx_hash)))
      FROM (SELECT payer, payee, tx_hash, del FROM settlements FINAL) WHERE del = 0 AND payer != payee
      ORDER BY cityHash64(tx_hash) LIMIT 20`,
  );
  const pages = await pagesOfWallets(api);
  const one = (...words: unknown[]): Subject => ({
    words: words.map(String),
    literals: words.map((word) => bytea(String(word))),
  });
  return (of: NonNullable<MarketQuestion['of']> | 'nothing', kind: WalletKind = 'mid'): readonly Subject[] =>
    ({
      nothing: [one()],
      merchants: merchants[kind].map((wallet) => one(wallet)),
      'payers and merchants': [...payers[kind], ...merchants[kind]].map((wallet) => one(wallet)),
      pairs: settlements.map(([payer, payee]) => one(payer, payee)),
      transactions: settlements.map(([, , hash]) => one(hash)),
      'pages of wallets': pages,
    })[of];
}

/** From the highest address down: the request for each page, and the address that it is below. */
async function pagesOfWallets(api: MeasuredApi): Promise<Subject[]> {
  const pages: Subject[] = [];
  let next: unknown = '';
  let bound: string | undefined = ABOVE_ALL;
  while (pages.length < WALLET_PAGES && next !== null && bound !== undefined) {
    const before = next === '' ? '' : `&before=${next}`;
    pages.push({ words: [before], literals: [bytea(bound)] });
    const { body } = await api.get(WALLETS_PATH + before);
    bound = listed('wallets', 'wallet')(body).at(-1);
    next = at(body, 'next_before');
  }
  return pages;
}

/** An address or a hash as a literal of PostgreSQL. */
function bytea(hex: string): string {
  return `'\\x${hex.slice(2)}'::bytea`;
}

/** Columns of a page of the first statement's rows; nothing is a sum of nothing. */
function columns(picked: readonly number[]): PostgresQuestion['lines'] {
  return ([rows = []]) =>
    rows.slice(0, LIMIT).map((row) => picked.map((column) => row[column] || '0').join(' '));
}
