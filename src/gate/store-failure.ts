import { StoreUnavailable } from '../control/control-store.ts';
import { fail } from '../errors.ts';

/** Seconds: a Redis fails over in a few, a SQLite file that is locked is free again sooner. */
const STORE_RETRY_AFTER_SECONDS = 2;

/** What the caller is told when the store of accounts does not answer; anything else is a bug and passes through unchanged. */
export function asAccountsUnavailable(cause: unknown): unknown {
  if (!(cause instanceof StoreUnavailable)) return cause;
  return fail('upstream_unavailable', {
    detail: 'Accounts and units cannot be read right now. Nothing was charged.',
    resource: 'accounts',
    retryAfterSeconds: STORE_RETRY_AFTER_SECONDS,
    cause,
  });
}

/** Awaits a call of the store; a store that does not answer becomes 503 `upstream_unavailable` naming `accounts`. */
export async function askStore<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    throw asAccountsUnavailable(error);
  }
}
