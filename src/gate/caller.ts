import type { Caller } from '../catalogue/operation.ts';
import { fail } from '../errors.ts';

/** The headers that can carry a key. */
export interface CredentialHeaders {
  readonly authorization?: string | undefined;
  readonly 'x-api-key'?: string | string[] | undefined;
}

/** Who is calling. No key resolves to an account yet, so a key that was sent is a key that is not known. */
export function readCaller(headers: CredentialHeaders): Caller {
  const keyPresent = hasText(headers.authorization) || hasText([headers['x-api-key']].flat()[0]);
  return {
    keyPresent,
    keyRecognised: keyPresent ? false : null,
    standing: 'anonymous',
    organization: null,
    organizationMissing: false,
  };
}

function hasText(header: string | undefined): boolean {
  return header !== undefined && header.trim() !== '';
}

/** Refuses a key that resolves to nothing, except where the operation answers it (read-api.md 5.3). */
export function admit(caller: Caller, operation: { readonly acceptsUnknownKey: boolean }): void {
  if (caller.keyRecognised !== false || operation.acceptsUnknownKey) return;
  throw fail('invalid_api_key', {
    detail:
      'The key that was sent is not known here, or is revoked or expired. This route is open without a key.',
  });
}
