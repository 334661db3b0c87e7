import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, expect, test } from 'vitest';
import { openSqliteStore } from '../../../../src/accounts/sqlite/store.ts';

const directory = mkdtempSync(join(tmpdir(), 'settlement-index-listing-'));
afterAll(() => rmSync(directory, { recursive: true }));

const MIGRATIONS = new URL('../../../../src/accounts/sqlite/migrations/', import.meta.url);
const LISTING = '0009-query-listing.sql';

/** A file as the version before left it. */
function before(path: string, fill: (db: Database.Database) => void): void {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name < LISTING)
    .sort();
  const db = new Database(path);
  for (const name of files) db.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
  db.exec(`PRAGMA user_version = ${files.length}`);
  fill(db);
  db.close();
}

test('queries of an earlier version are listed in short, and only public ones to everyone', async () => {
  const path = join(directory, 'control.db');
  const parameters = Array.from({ length: 30 }, (_, at) => ({ name: `p${at}` }));
  const content = {
    title: 'T€',
    description: 'd'.repeat(900),
    sql: 'x'.repeat(60_000),
    parameters,
    tier: 'heavy',
    maxQu: 3,
  };
  before(path, (db) => {
    db.exec(`INSERT INTO organization (id, display_name, plan, created_at_ms, handle, handle_skeleton)
      VALUES ('acme', 'Acme', 'free', 1, 'the-acme', 'x')`);
    for (const [slug, visibility] of [
      ['open', 'public'],
      ['own', 'private'],
    ] as const) {
      const settings = JSON.stringify({ visibility, priceQu: 7 });
      db.prepare(
        `INSERT INTO saved_query (organization_id, slug, latest_version, settings, is_public, created_at_ms, updated_at_ms)
         VALUES ('acme', ?, 2, ?, ?, 1, 5)`,
      ).run(slug, settings, visibility === 'public' ? 1 : 0);
      for (const [version, text] of [
        [1, '{}'],
        [2, JSON.stringify(content)],
      ] as const)
        db.prepare(`INSERT INTO saved_query_version VALUES ('acme', ?, ?, ?, 1)`).run(slug, version, text);
    }
    db.exec(`INSERT INTO saved_query (organization_id, slug, latest_version, settings, is_public, created_at_ms, updated_at_ms)
      VALUES ('acme', 'removed', 1, NULL, 0, 1, 5)`);
  });
  const store = openSqliteStore({ path });
  const listed = async (organizationId: string | null) =>
    (await store.saved.listings({ organizationId, after: null, limit: 9 })).map(({ listing, ...one }) => ({
      ...one,
      listing: JSON.parse(listing),
    }));
  const open = {
    organizationId: 'acme',
    handle: 'the-acme',
    slug: 'open',
    version: 2,
    updatedAtMs: 5,
    listing: {
      title: 'T€',
      description: 'd'.repeat(300),
      tier: 'heavy',
      maxQu: 3,
      parameters: parameters.slice(0, 20).map(({ name }) => name),
      visibility: 'public',
      priceQu: 7,
    },
  };
  expect(await listed(null)).toEqual([open]);
  expect(await listed('acme')).toEqual([
    open,
    { ...open, slug: 'own', listing: { ...open.listing, visibility: 'private' } },
  ]);
  await store.close();
  const db = new Database(path);
  const plan = db
    .prepare(
      `EXPLAIN QUERY PLAN SELECT slug FROM saved_query WHERE listed_at > 'a b' ORDER BY listed_at LIMIT 3`,
    )
    .all()
    .map((row) => (row as { readonly detail: string }).detail);
  expect(plan).toEqual([
    expect.stringMatching(/^SEARCH saved_query USING (COVERING )?INDEX saved_query_listed/),
  ]);
  db.close();
});
