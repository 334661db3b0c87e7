import { fail } from '../../core/errors.ts';
import { StoreUnavailable } from './store.ts';

/** A Redis fails over in a few seconds; a locked SQLite file is free again sooner. */
const STORE_RETRY_AFTER_SECONDS = 2;

const NOT_READ = 'Accounts and units cannot be read right now. Nothing was charged.';
const NOT_CAPTURED =
  'Accounts and units cannot be written right now, so the answer is withheld. Units that were held for it come back within minutes, unless the store had captured them before it stopped answering.';

/** The failure of a charge whose outcome is not known: a store that did not answer may have made it. */
export function asChargeUnknown(cause: unknown): unknown {
  return unavailable(cause, NOT_CAPTURED);
}

/** A store that does not answer becomes 503; anything else is a bug and passes through unchanged. */
function unavailable(cause: unknown, detail: string): unknown {
  if (!(cause instanceof StoreUnavailable)) return cause;
  return fail('upstream_unavailable', {
    detail,
    resource: 'accounts',
    retryAfterSeconds: STORE_RETRY_AFTER_SECONDS,
    cause,
  });
}

/** Awaits a call of the store; a store that does not answer becomes 503 `upstream_unavailable` naming `accounts`. */
export function askStore<Answer>(call: Promise<Answer>): Promise<Answer> {
  return call.catch(refuseAsUnavailable);
}

function refuseAsUnavailable(cause: unknown): never {
  throw unavailable(cause, NOT_READ);
}
