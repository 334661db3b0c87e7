import { dailyVolume } from './daily-volume-question.ts';
import { FACILITATORS } from './facilitators-question.ts';
import { graphOfDays, graphOfWallet, graphOfWindow } from './graph-question.ts';
import type { Lab } from './lab.ts';
import {
  counterparties,
  merchantRanking,
  NEWEST_FLOWS,
  pair,
  pickSettlements,
  summary,
  transaction,
} from './point-questions.ts';
import { merchantProfile } from './profile-question.ts';
import type { Ask, Question } from './question.ts';
import { settlementPage } from './settlement-page-question.ts';
import { walletPages } from './wallet-list-question.ts';
import { WALLET_KINDS, type WalletKind } from './wallets.ts';

const GRAPH_WALLET_DAYS = 90;
const GRAPH_WINDOW = 50_000;
const GRAPH_DAYS = 30;
const FACILITATORS_KEPT: Question = { ...FACILITATORS, name: 'facilitators-kept', kind: 'days', kept: true };

type Goal = Pick<Question, 'goalMs'>;
/** Most milliseconds; what has none is shown. */
const PROFILE: Readonly<Record<WalletKind, Goal>> = {
  hot: { goalMs: [10, 10] },
  mid: { goalMs: [12, 12] },
  cold: {},
};
const WALLET_PAGE: Readonly<Record<WalletKind, Goal>> = { hot: {}, mid: { goalMs: [8, 10] }, cold: {} };

/** Everything that is asked. */
export async function questionsOf({ api, engine, wallets, todayStart }: Lab): Promise<readonly Question[]> {
  const { merchants, payers } = wallets;
  const { pairs, hashes } = await pickSettlements(engine.reader);
  const ranking = merchantRanking(todayStart);
  const ofWallets = (
    name: (kind: WalletKind) => string,
    kinds: readonly WalletKind[],
    goals: Readonly<Partial<Record<WalletKind, Goal>>>,
    ask: (wallet: string) => Ask,
  ): Question[] =>
    kinds.map((kind) => ({
      name: name(kind),
      kind: kind === 'hot' ? 'days' : 'point',
      bounded: kind !== 'hot',
      ...goals[kind],
      asks: merchants[kind].map(ask),
    }));
  return [
    {
      name: 'newest-flows',
      kind: 'newest',
      bounded: true,
      kept: true,
      goalMs: [1, 1],
      judgedInApi: true,
      asks: [NEWEST_FLOWS],
    },
    ...WALLET_KINDS.map(
      (kind): Question => ({
        name: `settlements-of-${kind}-wallet`,
        kind: 'point',
        bounded: true,
        ...WALLET_PAGE[kind],
        asks: [...payers[kind], ...merchants[kind]].map(settlementPage),
      }),
    ),
    ...ofWallets((kind) => `summary-${kind}`, ['hot', 'mid'], PROFILE, summary),
    ...ofWallets(
      (kind) => `merchant-${kind}`,
      WALLET_KINDS,
      PROFILE,
      (wallet) => merchantProfile(wallet, todayStart),
    ),
    ...ofWallets(
      (kind) => `counterparties-${kind}`,
      ['hot', 'mid'],
      { mid: { goalMs: [12, 12] } },
      counterparties,
    ),
    { name: 'pair', kind: 'point', bounded: true, goalMs: [8, 8], asks: pairs.map(pair) },
    { name: 'transaction', kind: 'point', bounded: true, goalMs: [6, 6], asks: hashes.map(transaction) },
    { ...everyWallet('ranking-first', 'days', ranking), goalMs: [150, 400] },
    { ...everyWallet('ranking-kept', 'days', ranking), kept: true, goalMs: [3, 3] },
    await walletPages(api),
    FACILITATORS,
    FACILITATORS_KEPT,
    dailyVolume(todayStart),
    ...ofWallets(
      (kind) => `graph-of-${kind}-wallet`,
      WALLET_KINDS,
      {},
      (wallet) => graphOfWallet(wallet, GRAPH_WALLET_DAYS, todayStart),
    ),
    everyWallet('graph-of-window', 'scan', graphOfWindow(GRAPH_WINDOW)),
    { ...everyWallet('graph-of-days', 'scan', graphOfDays(GRAPH_DAYS, todayStart)), goalMs: [60, 200] },
  ];
}

function everyWallet(name: string, kind: Question['kind'], ask: Ask): Question {
  return { name, kind, bounded: false, asks: [ask] };
}
