import type { BearerTokens } from './bearer-token.ts';
import { addressQuota, readToken, unknownKey } from './caller.ts';
import type { GateRequest } from './gate.ts';
import { type RequestCounter, refuseOverLimit } from './rate-limit.ts';

interface TokenCheck {
  readonly bearer: BearerTokens | null;
  readonly count: RequestCounter['count'];
  readonly requestsPerMinute: number;
}

/** `checkToken` of the gate. What it refuses is counted for its address, like everything whose sender is not known. */
export async function checkToken(
  { bearer, count, requestsPerMinute }: TokenCheck,
  request: Pick<GateRequest, 'credentials' | 'address' | 'onRate'>,
): Promise<void> {
  const token = bearer === null ? null : readToken(request.credentials);
  if (token === null || (await bearer?.read(token)) !== null) return;
  const quota = addressQuota(request.address, { requestsPerMinute });
  const decision = await count(quota);
  request.onRate(decision, null);
  refuseOverLimit(decision, quota);
  throw unknownKey();
}
