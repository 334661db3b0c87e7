import { ApiProblem, getJson, session } from './api.ts';
import { createStore } from './store.ts';
import type { Account } from './wire.ts';

/** The answer of `/account` for the current key; null until the first one. */
export const account = createStore<Account | null>(null);
export const accountProblem = createStore<ApiProblem | null>(null);

/** Whether the dialog that takes a key is open. Any page may open it. */
export const isKeyDialogOpen = createStore(false);

let latest = 0;

/** Reads the account again: after a change of the key, and after a charge. */
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

/** Sets the balance that another answer reported, which saves a request. */
export function noteBalance(availableQu: number): void {
  const known = account.get();
  if (known?.balance) account.set({ ...known, balance: { ...known.balance, available_qu: availableQu } });
}

session.subscribe(() => {
  account.set(null);
  void refreshAccount();
});
