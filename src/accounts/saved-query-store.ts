/** Saved queries, the handles of their owners, and the runs that keep results warm. Parts of `ControlStore` (store.ts), under the same rules. */

/** One version of a query, with what holds for all of its versions. */
export interface SavedQueryRecord {
  readonly organizationId: string;
  readonly handle: string;
  readonly slug: string;
  readonly version: number;
  readonly latestVersion: number;
  /** What was saved as this version, and the settings of all of them; the store does not read them. */
  readonly content: string;
  readonly settings: string;
  readonly createdAtMs: number;
  readonly versionCreatedAtMs: number;
  readonly updatedAtMs: number;
  /** When its result is to be made next; null without a refresh. */
  readonly refreshAtMs: number | null;
}

/** The short form of the latest version, for lists. */
export interface SavedListing extends SavedQueryName {
  readonly handle: string;
  readonly version: number;
  /** As it was given to `put`; the store makes it of content and settings for queries of earlier versions. */
  readonly listing: string;
  readonly updatedAtMs: number;
}

export interface SavedQueryName {
  readonly organizationId: string;
  readonly slug: string;
}

export interface SavedQueryStore {
  /**
   * Gives an organization its handle, for good. `replayed`: it has this one. `has_other`: it has another one. `taken`: another
   * organization has it, or one of the same skeleton.
   */
  claimHandle(claim: {
    readonly organizationId: string;
    readonly handle: string;
    readonly skeleton: string;
  }): Promise<'claimed' | 'replayed' | 'has_other' | 'taken' | 'unknown_organization'>;
  /** The handle of an organization, or the organization of a handle; null where there is none. */
  handle(
    question: { readonly organizationId: string } | { readonly handle: string },
  ): Promise<{ readonly organizationId: string; readonly handle: string } | null>;
  /**
   * Saves a query of an organization that has a handle (`no_handle` otherwise). Content that differs from that of the latest version
   * makes the next one; numbers are never used again, also not after `remove`. `changed`: only other settings, or a refresh that had ended. `unchanged`: nothing
   * differs. `too_many` queries, or versions of this one: nothing changes. A new version, and another `refreshSeconds`, is to be
   * run at `atMs`, and forgets its failures.
   */
  put(
    query: SavedQueryName & {
      readonly content: string;
      readonly settings: string;
      /** What lists show of it, short; the store does not read it. */
      readonly listing: string;
      readonly isPublic: boolean;
      readonly refreshSeconds: number | null;
      readonly atMs: number;
      readonly queriesMax: number;
      readonly versionsMax: number;
    },
  ): Promise<{
    readonly outcome: 'created' | 'new_version' | 'changed' | 'unchanged' | 'too_many' | 'no_handle';
    /** 0 where nothing was saved. */
    readonly version: number;
  }>;
  /** Version null: the latest. Null where the organization has no such query or version. */
  find(query: SavedQueryName & { readonly version: number | null }): Promise<SavedQueryRecord | null>;
  /** The latest versions, by slug, those after `after`. */
  list(page: {
    readonly organizationId: string;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly SavedQueryRecord[]>;
  /** Newest first; empty for an unknown query. */
  versions(
    query: SavedQueryName,
  ): Promise<readonly Pick<SavedQueryRecord, 'version' | 'content' | 'versionCreatedAtMs'>[]>;
  /**
   * Short forms by handle and slug, those after `after`: of an organization (its handle is given), or of all that are public. Reads as
   * many as the page has, however many there are and however long they are.
   */
  listings(page: {
    readonly organizationId: string | null;
    readonly after: { readonly handle: string; readonly slug: string } | null;
    readonly limit: number;
  }): Promise<readonly SavedListing[]>;
  /** Forgets it with its versions and its runs. False where there was none. */
  remove(query: SavedQueryName): Promise<boolean>;
}

/** A run that is due, and the claim on it. */
export interface DueRefresh extends SavedQueryName {
  /** When it was due: names this run. */
  readonly dueAtMs: number;
  /** Runs that failed in a row before it. */
  readonly failures: number;
}

export interface RefreshStore {
  /**
   * Takes the run that waits longest (`due <= nowMs`, and no claim or pause that lasts beyond `nowMs`); null when there is none. Until
   * `untilMs` no other process gets it.
   */
  claim(claim: { readonly nowMs: number; readonly untilMs: number }): Promise<DueRefresh | null>;
  /** Ends the claim before its time: the run is looked at again at `atMs`. Nothing where another run is due by now. */
  pause(
    refresh: Pick<DueRefresh, 'organizationId' | 'slug' | 'dueAtMs'> & { readonly atMs: number },
  ): Promise<void>;
  /**
   * Ends a run: keeps it (the newest `keptMax` of the query) and sets when the next is due; null: no other until the query is put with
   * a refresh again. False, and nothing changes, where another run is due by now or the query is not refreshed any more.
   */
  finish(
    refresh: Pick<DueRefresh, 'organizationId' | 'slug' | 'dueAtMs' | 'failures'> & {
      /** The store does not read it. */
      readonly run: string;
      readonly nextAtMs: number | null;
      readonly keptMax: number;
    },
  ): Promise<boolean>;
  /** As they were given to `finish`, newest first. */
  runs(query: SavedQueryName): Promise<readonly string[]>;
}
