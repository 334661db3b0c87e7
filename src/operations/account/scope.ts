import { fail } from '../../../core/errors.ts';
import type { AnyOperation } from '../define.ts';
import type { Caller } from '../deps.ts';
import type { ByManager, OrganizationScope, UsageScope } from './own-account.ts';

/** Which parts of an account each caller may see and change. */

/**
 * Whose runs, jobs and figures a caller sees: a key that manages keys, and a bearer token, see all of their organization; any other key
 * sees what it did itself.
 */
export function organizationScope({ organization, key }: Caller): OrganizationScope {
  if (organization === null)
    throw fail('api_key_required', {
      detail: 'Send the key of an organization: only organizations have this.',
    });
  return {
    organizationId: organization.id,
    keyId: key == null || key.managesKeys ? null : key.id,
  };
}

export function usageScope(caller: Caller): UsageScope {
  const { standing, key } = caller;
  if (standing === 'trial' && key != null) return { trialKeyId: key.id };
  return organizationScope(caller);
}

/** Only a key that manages keys may change any. */
export function keyManager(caller: Caller): ByManager {
  const { organizationId } = organizationScope(caller);
  const { key } = caller;
  if (key?.managesKeys === true) return { organizationId, by: key };
  throw fail('key_restricted', {
    detail:
      key == null
        ? 'Keys are managed with a key of the organization that manages keys, not with a bearer token.'
        : 'This key does not manage keys. Use one that does, or ask the operator.',
  });
}

/** What a key may always ask, whatever operations it is limited to. */
export function isOfOwnAccount({ path }: Pick<AnyOperation, 'path'>): boolean {
  return path === '/account' || path.startsWith('/account/');
}
