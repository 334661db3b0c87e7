import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Clock } from '../../core/clock.ts';
import { OWN_TABLE_QUOTAS, type OwnTableFacts } from '../../core/domain/own-table.ts';
import { fail } from '../../core/errors.ts';
import type { OwnTableRecord } from '../accounts/own-table-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import type { KeptTable, KeptTables } from '../operations/own-tables.ts';

/** Tables of organizations, answered from a control store, which holds their rows packed. */

const pack = promisify(gzip);
const unpack = promisify(gunzip);
const ID_BYTES = 16;

export function createOwnTables({
  store: { ownTables },
  clock,
}: {
  readonly store: Pick<ControlStore, 'ownTables'>;
  readonly clock: Clock;
}): KeptTables {
  const keptOf = ({ facts, atMs, ...record }: OwnTableRecord): KeptTable => ({
    ...record,
    ...(JSON.parse(facts) as OwnTableFacts), // written by `put`
    updatedAtMs: atMs,
    read: async () => {
      const content = await askStore(ownTables.content(record));
      return content === null ? null : unpack(content);
    },
  });
  return {
    list: async (organizationId) => (await askStore(ownTables.list(organizationId))).map(keptOf),
    put: async ({ organizationId, plan, name, table: { native, ...facts } }) => {
      const { tables: tablesMax, bytes: bytesMax } = OWN_TABLE_QUOTAS[plan];
      const outcome = await askStore(
        ownTables.put({
          ...{ organizationId, name, tablesMax, bytesMax },
          id: randomBytes(ID_BYTES).toString('hex'),
          facts: JSON.stringify(facts),
          bytes: native.length,
          atMs: clock.nowMs(),
          content: await pack(native),
        }),
      );
      if (outcome === 'created' || outcome === 'replaced') return outcome;
      if (outcome === 'unknown_organization') throw new Error('an organization that was just read is gone');
      throw fail('table_limit', {
        detail: `The plan ${plan} has ${tablesMax} tables of ${bytesMax / 1e6} MB together, and this one would be beyond that. Nothing was changed.`,
      });
    },
    remove: (table) => askStore(ownTables.remove(table)),
  };
}
