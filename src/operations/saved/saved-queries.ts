import type { SqlDeps } from '../sql/kept.ts';
import type { ListedQuery, SavedContent, SavedQuery, SavedSettings } from './definition.ts';

export interface SavedDeps extends SqlDeps {
  readonly accounts: SqlDeps['accounts'] & { readonly saved: SavedQueries };
}

/** Saved queries as operations use them. Rejects with a `Failure`. */
export interface SavedQueries {
  /** The handle of the organization; null before it has one. */
  handleOf(organizationId: string): Promise<string | null>;
  /** Gives the organization its handle for good. `has_other`: it has one. `taken`: another has it, or one that looks like it. */
  claimHandle(claim: {
    readonly organizationId: string;
    readonly handle: string;
  }): Promise<'claimed' | 'replayed' | 'has_other' | 'taken'>;
  /**
   * Saves a query. Other content than that of the latest version makes the next one; settings hold for all versions. Rejects with
   * `query_limit` above what an organization may have.
   */
  save(query: {
    readonly organizationId: string;
    readonly owner: string;
    readonly slug: string;
    readonly content: SavedContent;
    readonly settings: SavedSettings;
  }): Promise<{
    readonly outcome: 'created' | 'new_version' | 'changed' | 'unchanged';
    readonly query: SavedQuery;
  }>;
  /** One of the organization; null where there is no such query or version. Version null: the latest. */
  find(query: OwnQuery & { readonly version: number | null }): Promise<SavedQuery | null>;
  /** The same by handle, whatever its visibility: the caller decides who may see it. */
  findByHandle(query: {
    readonly owner: string;
    readonly slug: string;
    readonly version: number | null;
  }): Promise<SavedQuery | null>;
  /** By slug, those after it. */
  list(page: {
    readonly organizationId: string;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly SavedQuery[]>;
  /** The queries of an owner that everyone may see, by slug; null for an unknown handle. */
  ownerOf(handle: string): Promise<string | null>;
  /** Newest first. */
  versions(query: OwnQuery): Promise<readonly VersionFacts[]>;
  /** Short forms by owner and slug: the organization's queries, or all that are public. */
  listings(page: {
    readonly organizationId: string | null;
    readonly after: { readonly handle: string; readonly slug: string } | null;
    readonly limit: number;
  }): Promise<readonly ListedQuery[]>;
  /** False where there was none. */
  remove(query: OwnQuery): Promise<boolean>;
  /** Runs that were to keep the result warm, newest first. */
  refreshes(query: OwnQuery): Promise<readonly RefreshRun[]>;
}

interface OwnQuery {
  readonly organizationId: string;
  readonly slug: string;
}

interface VersionFacts {
  readonly version: number;
  readonly title: string;
  readonly createdAtMs: number;
}

export interface RefreshRun {
  readonly atMs: number;
  readonly state: 'succeeded' | 'failed';
  readonly version: number;
  readonly units: number;
  readonly job: string | null;
  readonly code: string | null;
  readonly detail: string | null;
  /** Null where none follows. */
  readonly nextAtMs: number | null;
}
