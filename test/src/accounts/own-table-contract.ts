import { afterEach, describe, expect, test } from 'vitest';
import type { ControlStore } from '../../../src/accounts/store.ts';
import type { OpenedStore } from './control-store.ts';

/** The contract of `OwnTableStore` over whatever `open` gives. */
export function ownTableContract(name: string, open: () => Promise<OpenedStore>): void {
  const opened: OpenedStore[] = [];
  const fresh = async (): Promise<ControlStore> => {
    const one = await open();
    opened.push(one);
    for (const id of ['acme', 'a/b ü', 'other'])
      await one.store.accounts.createOrganization({ id, displayName: id, plan: 'free', createdAtMs: 1 });
    return one.store;
  };
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  const table = (over: object = {}) => ({
    organizationId: 'acme',
    name: 'labels',
    id: 'one',
    facts: '{"rows":1}',
    bytes: 10,
    atMs: 5,
    content: Buffer.from([0, 255, 10, 13, 0]),
    tablesMax: 2,
    bytesMax: 30,
    ...over,
  });

  describe(`${name}: own tables`, () => {
    test('a table is listed without its content, and read by the id of its upload alone', async () => {
      const { ownTables } = await fresh();
      expect(await ownTables.put(table())).toBe('created');
      expect(await ownTables.put(table())).toBe('replaced');
      const { content, tablesMax: _tables, bytesMax: _bytes, ...record } = table();
      expect(await ownTables.list('acme')).toEqual([record]);
      expect(Buffer.from((await ownTables.content(record)) ?? [])).toEqual(content);
      expect(await ownTables.put(table({ id: 'two', content: Buffer.from('new'), atMs: 6 }))).toBe(
        'replaced',
      );
      expect(await ownTables.content(record)).toBeNull();
      expect(String(await ownTables.content({ ...record, id: 'two' }))).toBe('new');
    });

    test('the table of another organization is neither listed, read nor removed, also under the same name and id', async () => {
      const { ownTables } = await fresh();
      await ownTables.put(table());
      for (const organizationId of ['other', 'a/b ü']) {
        expect(await ownTables.list(organizationId)).toEqual([]);
        expect(await ownTables.content({ organizationId, name: 'labels', id: 'one' })).toBeNull();
        expect(await ownTables.remove({ organizationId, name: 'labels' })).toBe(false);
        expect(await ownTables.put(table({ organizationId, facts: organizationId }))).toBe('created');
        expect((await ownTables.list(organizationId)).map(({ facts }) => facts)).toEqual([organizationId]);
      }
      expect((await ownTables.list('acme')).map(({ facts }) => facts)).toEqual(['{"rows":1}']);
    });

    test('the quota counts the other tables, and a refused table changes nothing', async () => {
      const { ownTables } = await fresh();
      expect(await ownTables.put(table({ organizationId: 'nobody' }))).toBe('unknown_organization');
      expect(await ownTables.put(table({ bytes: 31 }))).toBe('too_large');
      await ownTables.put(table({ bytes: 20 }));
      expect(await ownTables.put(table({ name: 'b', bytes: 11 }))).toBe('too_large');
      expect(await ownTables.put(table({ name: 'b', bytes: 10 }))).toBe('created');
      expect(await ownTables.put(table({ name: 'c', bytes: 0 }))).toBe('too_many');
      expect(await ownTables.put(table({ bytes: 21 }))).toBe('too_large');
      expect(await ownTables.put(table({ bytes: 1 }))).toBe('replaced');
      expect((await ownTables.list('acme')).map(({ name: of, bytes }) => [of, bytes])).toEqual([
        ['b', 10],
        ['labels', 1],
      ]);
      expect(await ownTables.remove({ organizationId: 'acme', name: 'b' })).toBe(true);
      expect(await ownTables.remove({ organizationId: 'acme', name: 'b' })).toBe(false);
      expect(await ownTables.put(table({ name: 'c', bytes: 29 }))).toBe('created');
    });
  });
}
