import { createHmac, randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { type ApiKey, apiKeyFromBytes, keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import type { SettledPayment } from '../../core/domain/payment.ts';
import type { KeyRecord } from '../accounts/account-store.ts';
import type { AuthorizationId } from '../accounts/payment-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { IDEMPOTENCY_KEY_MIN_CHARS } from '../operations/account/trial-key.ts';
import type { Accounts } from '../operations/create-deps.ts';
import { createBoards } from './dashboards.ts';
import { createOwnAccount, type OwnAccountDeps } from './own-account.ts';
import { createOwnTables } from './own-tables.ts';
import { createSavedQueries } from './saved-queries.ts';

/** What operations ask of the accounts, answered from a control store. */

const DAY_MS = 86_400_000;

interface AccountsDeps extends OwnAccountDeps {
  readonly store: Pick<
    ControlStore,
    'accounts' | 'units' | 'payments' | 'usage' | 'saved' | 'refreshes' | 'ownTables'
  >;
  readonly clock: Clock;
  /** How long a trial key is valid. */
  readonly trialKeyDays: number;
  /** Secrets of this deployment, newest first. New keys are derived from the first, repeated ones from any; without one all are random. */
  readonly secrets: readonly Uint8Array[];
}

/**
 * A trial key is random. With an Idempotency-Key that cannot be guessed it is derived from that key, the authorization and a
 * secret of the server: the same request then gets the same trial key again, although only its digest is stored.
 */
export function createAccounts(deps: AccountsDeps): Accounts {
  const { store } = deps;
  return {
    ...createOwnAccount(deps),
    saved: createSavedQueries(deps),
    boards: createBoards(deps),
    tables: createOwnTables(deps),
    balance: (organizationId) => askStore(store.units.balance(organizationId)),
    issueTrialKey: (payment, idempotencyKey) => askStore(issueTrialKey(deps, payment, idempotencyKey)),
  };
}

async function issueTrialKey(
  deps: AccountsDeps,
  payment: SettledPayment,
  idempotencyKey: string | undefined,
): ReturnType<Accounts['issueTrialKey']> {
  const { chain, asset, payer, nonce } = payment;
  const id: AuthorizationId = { chain, asset, payer, nonce };
  const repeatable = repeatableKeys(deps.secrets, id, idempotencyKey);
  const apiKey = repeatable[0] ?? mintApiKey('trial');
  const key = trialKey(deps, apiKey, payment);
  const { outcome, keyId } = await deps.store.payments.issueKey({ id, key });
  switch (outcome) {
    case 'issued':
      return { outcome: 'issued', apiKey, expiresAtMs: key.expiresAtMs };
    case 'already_issued':
      return showAgain(deps, repeatable, keyId);
    case 'unsettled':
    case 'unknown':
      throw new Error(`a payment that settled is ${outcome} to the store`);
  }
}

/** One key for each secret; none where the Idempotency-Key is absent or too short. */
function repeatableKeys(
  secrets: readonly Uint8Array[],
  { chain, asset, payer, nonce }: AuthorizationId,
  idempotencyKey: string | undefined,
): ApiKey[] {
  if (idempotencyKey === undefined || idempotencyKey.length < IDEMPOTENCY_KEY_MIN_CHARS) return [];
  // JSON keeps the parts apart: concatenated, two different lists could give one text.
  const message = JSON.stringify(['trial-key', idempotencyKey, chain, asset, payer, nonce]);
  return secrets.map((secret) =>
    apiKeyFromBytes('trial', createHmac('sha256', secret).update(message).digest()),
  );
}

function trialKey({ clock, trialKeyDays }: AccountsDeps, apiKey: ApiKey, { transaction }: SettledPayment) {
  const createdAtMs = clock.nowMs();
  return {
    id: `key_${randomUUID()}`,
    digest: keyDigest(apiKey),
    kind: 'trial',
    organizationId: null,
    label: `bought with ${transaction}`,
    createdAtMs,
    expiresAtMs: createdAtMs + trialKeyDays * DAY_MS,
    revokedAtMs: null,
  } as const satisfies KeyRecord;
}

/** The key that the payment bought, where the same request derives it again. */
async function showAgain(
  { store }: AccountsDeps,
  repeatable: readonly ApiKey[],
  keyId: string | null,
): ReturnType<Accounts['issueTrialKey']> {
  for (const apiKey of repeatable) {
    const found = await store.accounts.findKey(keyDigest(apiKey));
    if (found === null || found.key.id !== keyId) continue;
    const { expiresAtMs, revokedAtMs } = found.key;
    if (expiresAtMs !== null && revokedAtMs === null) return { outcome: 'issued', apiKey, expiresAtMs };
  }
  return { outcome: 'already_issued' };
}
