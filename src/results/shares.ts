import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { sha256Of } from '../../core/text.ts';
import type { ShareRecord } from '../accounts/share-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import type { KeptResult } from './results.ts';

/** Links to kept results: whoever has one reads the result until it expires or the link is revoked. Rejects with a `Failure`. */
export interface Shares {
  /** The token is given here once: the store has only its hash. Null where the result has as many links as it may have. */
  make(link: {
    readonly result: KeptResult;
    readonly organizationId: string;
    readonly page: SharedPage;
  }): Promise<{ readonly share: Share; readonly token: string } | null>;
  /** Null for a token of no link. One that ended long ago is forgotten. */
  find(token: string): Promise<Share | null>;
  /** Newest first. */
  list(of: { readonly organizationId: string; readonly resultId: string }): Promise<readonly Share[]>;
  /** False for one that the organization does not have. */
  revoke(share: { readonly id: string; readonly organizationId: string }): Promise<boolean>;
}

/** What the page of a link shows besides the result. */
export interface SharedPage {
  readonly title: string;
  /** The choice of chart, as the console writes it. */
  readonly chart: string | null;
}

export interface Share extends Omit<ShareRecord, 'facts'>, SharedPage {
  readonly state: 'open' | 'revoked' | 'expired';
}

/** Links of an organization to one result. */
export const SHARES_MAX = 50;
const TOKEN_BYTES = 32;
/** 32 bytes in base64url. */
export const SHARE_TOKEN = /^[A-Za-z0-9_-]{43}$/;

export function createShares({
  store,
  clock,
}: {
  readonly store: Pick<ControlStore, 'shares'>;
  readonly clock: Clock;
}): Shares {
  const shareOf = ({ facts, ...record }: ShareRecord): Share => {
    // Written by `make`.
    const page = JSON.parse(facts) as SharedPage;
    return { ...record, ...page, state: stateOf(record, clock.nowMs()) };
  };
  return {
    make: async ({ result, organizationId, page: { title, chart } }) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const record = {
        id: sha256Of(token),
        resultId: result.id,
        organizationId,
        facts: JSON.stringify({ title, chart }),
        createdAtMs: clock.nowMs(),
        expiresAtMs: result.expiresAtMs,
      };
      const outcome = await askStore(store.shares.add({ ...record, max: SHARES_MAX }));
      return outcome === 'too_many' ? null : { share: shareOf({ ...record, revokedAtMs: null }), token };
    },
    find: async (token) => {
      if (!SHARE_TOKEN.test(token)) return null;
      const record = await askStore(store.shares.find(sha256Of(token)));
      return record === null ? null : shareOf(record);
    },
    list: async (of) => (await askStore(store.shares.list(of))).map(shareOf),
    revoke: (share) => askStore(store.shares.revoke({ ...share, atMs: clock.nowMs() })),
  };
}

function stateOf(
  { revokedAtMs, expiresAtMs }: Pick<ShareRecord, 'revokedAtMs' | 'expiresAtMs'>,
  nowMs: number,
): Share['state'] {
  if (revokedAtMs !== null) return 'revoked';
  return expiresAtMs <= nowMs ? 'expired' : 'open';
}
