import { dailyVolume } from './daily-volume-question.ts';
import { FACILITATORS } from './facilitators-question.ts';
import { graphOfDays, graphOfWallet, graphOfWindow } from './graph-question.ts';
import type { Lab } from './lab.ts';
import { merchantProfile } from './profile-question.ts';
import type { Ask, Question } from './question.ts';
import { settlementPage } from './settlement-page-question.ts';
import { walletPages } from './wallet-list-question.ts';
import { WALLET_KINDS } from './wallets.ts';

const GRAPH_WALLET_DAYS = 90;
const GRAPH_WINDOW = 50_000;
const GRAPH_DAYS = 30;

/** Everything that is asked, at every size of the index. */
export async function questionsOf({ api, wallets, todayStart }: Lab): Promise<readonly Question[]> {
  return [
    ...WALLET_KINDS.map((kind) => ({
      name: `merchant-${kind}`,
      kind: kind === 'hot' ? ('aggregate' as const) : ('page' as const),
      bounded: kind !== 'hot',
      asks: wallets.merchants[kind].map((wallet) => merchantProfile(wallet, todayStart)),
    })),
    ...WALLET_KINDS.map((kind) => ({
      name: `settlements-of-${kind}-wallet`,
      kind: 'page' as const,
      bounded: true,
      asks: [...wallets.payers[kind], ...wallets.merchants[kind]].map(settlementPage),
    })),
    await walletPages(api),
    FACILITATORS,
    dailyVolume(todayStart),
    ...WALLET_KINDS.map((kind) => ({
      name: `graph-of-${kind}-wallet`,
      kind: kind === 'hot' ? ('aggregate' as const) : ('page' as const),
      bounded: kind !== 'hot',
      asks: wallets.merchants[kind].map((wallet) => graphOfWallet(wallet, GRAPH_WALLET_DAYS, todayStart)),
    })),
    everybody('graph-of-window', graphOfWindow(GRAPH_WINDOW)),
    everybody('graph-of-days', graphOfDays(GRAPH_DAYS, todayStart)),
  ];
}

function everybody(name: string, ask: Ask): Question {
  return { name, kind: 'aggregate', bounded: false, asks: [ask] };
}
