import fc from 'fast-check';
import { sql } from '../../clickhouse/engine/sql.ts';
import { address } from '../../core/domain/account.ts';
import type { Catalogue } from '../../ingest/grading/catalogue.ts';
import type { UngradedSettlement } from '../../ingest/grading/grade.ts';
import {
  ALICE,
  ANN,
  BOB,
  CAFE,
  catalogueWith,
  DAY,
  found,
  MIDNIGHT,
  type RegradeWorld,
  SHOP,
} from './regrade-world.ts';
import { BASE, POLYGON } from './rows.ts';

/** Random rows and catalogues, and the rows as they must be after every change of the catalogue. */

const COLLECTOR = address('0x4020806089470a89826cB9fB1f4059150b550004');
const CHAINS = [BASE, POLYGON] as const;
const CODES = ['', 'ann_code', 'bob_code', 'who'] as const;
/** Days before and after which relayers are named, and rows around each midnight, over three partitions. */
const DAYS = [-45, -20, 0] as const;

/** What happens to a row after it was written: a repeated window, a reorg, and a reorg with another event in its place. */
type Fate = 'stays' | 'written again' | 'retracted' | 'replaced';

export interface DrawnRow {
  readonly fields: Partial<UngradedSettlement>;
  readonly fate: Fate;
}

export const drawnRow: fc.Arbitrary<DrawnRow> = fc.record({
  fields: fc.record({
    chain: fc.constantFrom(...CHAINS),
    blockTime: fc
      .tuple(fc.constantFrom(...DAYS), fc.constantFrom(-1, 0, 40_000))
      .map(([day, seconds]) => MIDNIGHT + day * DAY + seconds),
    relayer: fc.constantFrom(ALICE, ANN, BOB),
    payer: fc.constantFrom(ALICE, SHOP),
    payee: fc.constantFrom(ALICE, SHOP, CAFE, COLLECTOR),
    marker: fc.constantFrom('authorization' as const, 'permit2' as const, 'none' as const),
    builderFacilitator: fc.constantFrom(...CODES),
    directCall: fc.boolean(),
    relayedByPayer: fc.boolean(),
    relayedByPayee: fc.boolean(),
    selfPayment: fc.boolean(),
    received: fc.boolean(),
    viaX402Contract: fc.boolean(),
  }),
  fate: fc.constantFrom('stays', 'stays', 'written again', 'retracted', 'replaced'),
});

const drawnFacilitator = (id: string, code: string) =>
  fc.record({
    id: fc.constant(id),
    name: fc.constant(id),
    builderCodes: fc.subarray([code]),
    relayers: fc.uniqueArray(
      fc.record({
        chain: fc.constantFrom(...CHAINS),
        address: fc.constant(id === 'ann' ? ANN : BOB),
        firstSeen: fc
          .constantFrom(...DAYS)
          .map((day) => new Date((MIDNIGHT + day * DAY) * 1_000).toISOString().slice(0, 10)),
      }),
      { selector: ({ chain }) => chain },
    ),
  });

export const drawnCatalogue: fc.Arbitrary<Catalogue> = fc
  .record({
    facilitators: fc.tuple(drawnFacilitator('ann', 'ann_code'), drawnFacilitator('bob', 'bob_code')),
    payees: fc.subarray(
      CHAINS.flatMap((chain) =>
        [CAFE, SHOP, COLLECTOR].map((at) => ({ chain, address: at, name: '', resource: '' })),
      ),
    ),
  })
  .map(({ facilitators, payees }) => catalogueWith({ facilitators, payees }));

/** The rows of a database under a changing catalogue, and what an index made by the same events would hold. */
export interface RegradeHistory {
  /** Writes rows under the catalogue that is published. */
  write(drawn: readonly DrawnRow[]): Promise<void>;
  change(wanted: Catalogue): Promise<void>;
  /** What the engine holds, and what it must hold: grades, all other columns, and both sides of the wallet log. */
  held(): Promise<unknown>;
  expected(): Promise<unknown>;
}

export function regradeHistory(world: RegradeWorld): RegradeHistory {
  let catalogue = catalogueWith();
  let alive: UngradedSettlement[] = [];
  const untouched = new Map<number, unknown>();
  const graded = () => world.expected(alive, catalogue);
  const others = async () =>
    await world.rowsOf(
      sql`SELECT block_number, toString(cityHash64(* EXCEPT (facilitator, method, seen, ver, del))) FROM settlements FINAL WHERE del = 0`,
    );
  const logged = async (role: string) =>
    await world.rowsOf(
      sql`SELECT block_number, facilitator, toString(method), seen FROM wallet_rows FINAL
        WHERE del = 0 AND toString(role) = ${{ kind: 'value', type: 'String', value: role }} ORDER BY block_number`,
    );
  return {
    async write(drawn) {
      for (const { fields, fate } of drawn) {
        const row = found(fields);
        // Nothing is read of a plain transfer to others.
        if (row.marker !== 'none' || catalogue.isPayee(row.chain, row.payee))
          alive.push(...(await writtenRow(world, row, fate, catalogue)));
      }
      for (const [block, hash] of await others()) untouched.set(Number(block), hash);
    },
    async change(wanted) {
      await world.regrade(wanted);
      catalogue = wanted;
      // A plain transfer whose payee was left out once is read from the chain again or never.
      alive = alive.filter((row) => row.marker !== 'none' || catalogue.isPayee(row.chain, row.payee));
    },
    async held() {
      return {
        settlements: (await world.live()).map(({ ver: _, ...row }) => row),
        others: Object.fromEntries(await others()),
        payers: await logged('payer'),
        payees: await logged('payee'),
      };
    },
    async expected() {
      const rows = graded();
      const log = rows.map(({ block, facilitator, method, seen }) => [
        String(block),
        facilitator,
        method,
        seen,
      ]);
      return {
        settlements: rows,
        others: Object.fromEntries(rows.map(({ block }) => [block, untouched.get(block)])),
        payers: log,
        payees: log,
      };
    },
  };
}

/** Writes a row and the events that follow; answers the rows that are left. */
async function writtenRow(
  world: RegradeWorld,
  row: UngradedSettlement,
  fate: Fate,
  catalogue: Catalogue,
): Promise<UngradedSettlement[]> {
  await world.ingest([row], catalogue);
  switch (fate) {
    case 'stays':
      return [row];
    case 'written again':
      await world.ingest([row], catalogue);
      return [row];
    case 'retracted':
      await world.retract([row], catalogue);
      return [];
    case 'replaced': {
      const next = replacing(row);
      await world.retract([row], catalogue);
      await world.ingest([next], catalogue);
      return [next];
    }
  }
}

/** Another event in the same place of the chain, after a reorg: other parties, another relayer, no code. */
function replacing(row: UngradedSettlement): UngradedSettlement {
  const relayer = row.relayer === ANN ? BOB : ANN;
  return { ...row, relayer, payer: CAFE, payee: SHOP, marker: 'authorization', builderFacilitator: '' };
}
