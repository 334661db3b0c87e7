/** Links to kept results that everybody may open who knows them. A part of `ControlStore` (store.ts). */

export interface ShareRecord {
  /** SHA-256 (hex) of the token of its link; the token itself is in no store. */
  readonly id: string;
  readonly resultId: string;
  readonly organizationId: string;
  /** What its page shows besides the result; the store does not read it. */
  readonly facts: string;
  readonly createdAtMs: number;
  /** When its result expires. */
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | null;
}

/** The links of an organization to one result. */
interface SharesOf {
  readonly organizationId: string;
  readonly resultId: string;
}

export interface ShareStore {
  /** `too_many`: the organization has `max` links to this result, revoked ones too, and nothing was added. */
  add(
    share: Omit<ShareRecord, 'revokedAtMs'> & { readonly max: number },
  ): Promise<'added' | 'replayed' | 'too_many'>;
  /** Also a revoked one, and one that expired up to SHARE_REMEMBERED_MS before. */
  find(id: string): Promise<ShareRecord | null>;
  /** Newest first and by id. */
  list(of: SharesOf): Promise<readonly ShareRecord[]>;
  /** False for one that the organization does not have. A revoked one keeps the time of its first revocation. */
  revoke(share: {
    readonly id: string;
    readonly organizationId: string;
    readonly atMs: number;
  }): Promise<boolean>;
}

/** For so long after its end a link still says that it expired, or was revoked. */
export const SHARE_REMEMBERED_MS = 90 * 86_400_000;
