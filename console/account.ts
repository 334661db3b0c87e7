import { getJson } from './api.ts';
import { ApiProblem } from './problem.ts';
import { session } from './session.ts';
import { createStore } from './store.ts';

/** Who the caller is: the fields of `/v0/account` that the shell and the SQL page use. */
export interface Account {
  readonly authenticated: boolean;
  readonly key_recognised: boolean | null;
  readonly tier: string;
  readonly lane: string;
  readonly organisation: { readonly id: string; readonly display_name: string } | null;
  readonly balance: { readonly available_qu: number; readonly low_balance: boolean } | null;
  readonly balance_note?: string;
  readonly sql_tiers: readonly SqlTier[];
  readonly top_up_url: string;
  readonly summary: string;
}

export interface SqlTier {
  readonly tier: string;
  readonly timeout_seconds: number;
  readonly max_qu: number;
  readonly requests_per_minute: number;
  readonly allowed: boolean;
}

/** Null until the first answer. Of the key that is in use now. */
export const account = createStore<Account | null>(null);
export const accountProblem = createStore<ApiProblem | null>(null);

let latest = 0;

/** Reads it again: after a change of the key, and after something was charged. */
export async function refreshAccount(): Promise<void> {
  latest += 1;
  const turn = latest;
  try {
    const answer = await getJson<Account>('/account');
    if (turn !== latest) return;
    account.set(answer);
    accountProblem.set(null);
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    if (turn === latest) accountProblem.set(error);
  }
}

/** What a call said about the balance, without asking again. */
export function noteBalance(availableQu: number): void {
  const known = account.get();
  if (known?.balance) account.set({ ...known, balance: { ...known.balance, available_qu: availableQu } });
}

session.subscribe(() => {
  account.set(null);
  void refreshAccount();
});
