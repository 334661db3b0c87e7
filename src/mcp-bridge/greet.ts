import { fetch } from 'undici';
import type { ServiceUrls } from './service-url.ts';

/** Long enough for a service that is far away; nothing waits for it. */
const GREETING_TIMEOUT_MS = 10_000;

/**
 * Asks the service who it takes us for, and says so in one line. Nothing depends on the answer: a service that is not there yet may
 * come, and one that does not know the key says so again to each call.
 */
export async function greet(
  { account, shown }: ServiceUrls,
  key: string | undefined,
  leaving: AbortSignal,
): Promise<string> {
  try {
    const answer = await fetch(account, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      redirect: 'manual',
      signal: AbortSignal.any([leaving, AbortSignal.timeout(GREETING_TIMEOUT_MS)]),
    });
    const body = answer.ok ? await answer.json().catch(() => null) : null;
    if (typeof body !== 'object' || body === null || !('lane' in body))
      return `${shown} does not answer like a Settlement Index (status ${answer.status}). Is --url right?`;
    return words(shown, body);
  } catch {
    return `${shown} does not answer yet. Is it running, and is --url right? Calls are tried all the same.`;
  }
}

function words(shown: string, account: object): string {
  if (Reflect.get(account, 'key_recognised') === false)
    return `${shown} does not know this key, or it is revoked or expired. Only tools that need none will answer.`;
  if (Reflect.get(account, 'key_present') !== true)
    return `connected to ${shown} without a key. Free tools answer; others say that they need one (SETTLEMENT_INDEX_KEY).`;
  return `connected to ${shown}, plan or kind of the key: ${String(Reflect.get(account, 'tier'))}.`;
}
