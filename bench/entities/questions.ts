import type { Lab } from './lab.ts';
import { merchantProfile } from './profile-question.ts';
import type { Question } from './question.ts';
import { settlementPage } from './settlement-page-question.ts';
import { WALLET_KINDS } from './wallets.ts';

/** Everything that is asked, at every size of the index. */
export function questionsOf({ wallets, todayStart }: Lab): readonly Question[] {
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
  ];
}
