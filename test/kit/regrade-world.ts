import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql } from '../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import type { CatalogueSection } from '../../core/config/catalogue.ts';
import { NO_CHANNEL, NO_CONTRACT } from '../../core/domain/settlement.ts';
import { buildCatalogue, type Catalogue } from '../../ingest/grading/catalogue.ts';
import { gradeSettlement, type UngradedSettlement } from '../../ingest/grading/grade.ts';
import {
  changeCatalogue,
  type RecordedPass,
  type RegradeDeps,
  type SweepOutcome,
  sweepPasses,
} from '../../ingest/grading/regrade/regrade.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { type TestEngine, testLog } from './engine.ts';
import { BASE, hash, insertSettlements, NOON, wallet } from './rows.ts';

/** A history whose rows are what ingest would have written under a catalogue, so that any catalogue can be its judge. */

export const [ALICE, SHOP, CAFE, ANN, BOB] = [
  wallet(0xa1),
  wallet(0x51),
  wallet(0xcafe),
  wallet(0xa22),
  wallet(0xb0b),
];
export const DAY = 86_400;
/** 2026-11-20T00:00:00Z. */
export const MIDNIGHT = NOON - DAY / 2;

export const relayed = (id: string, address: Settlement['relayer'], firstSeen = '2026-01-01') => ({
  id,
  name: id,
  builderCodes: [] as string[],
  relayers: [{ chain: BASE, address, firstSeen }],
});
export const payee = (address: Settlement['payee']) => ({ chain: BASE, address, name: '', resource: '' });

/** Without the tables that ship with the program. */
export const catalogueWith = (section: Partial<CatalogueSection> = {}): Catalogue =>
  buildCatalogue({ facilitators: [], payees: [], ...section }, { builtIn: [] });

let nextBlock = 1;

/** A payment of Alice to the shop, relayed by a third party, unless the fields say otherwise. */
export function found(fields: Partial<UngradedSettlement> = {}): UngradedSettlement {
  const blockNumber = fields.blockNumber ?? nextBlock++;
  return {
    blockTime: NOON,
    chain: BASE,
    blockNumber,
    logIndex: 0,
    txHash: hash(blockNumber * 10 + 1),
    payer: ALICE,
    payee: SHOP,
    asset: wallet(0xc3),
    assetSymbol: 'USDC',
    amount: 10_000n,
    amountUsdMicros: 10_000n,
    usdKnown: true,
    relayer: ANN,
    builderFacilitator: '',
    builderApps: '',
    kind: 'payment',
    scheme: 'exact',
    channel: NO_CHANNEL,
    contract: NO_CONTRACT,
    feeAmount: 0n,
    memo: '',
    marker: 'authorization',
    directCall: true,
    relayedByPayer: false,
    relayedByPayee: false,
    selfPayment: false,
    received: false,
    viaX402Contract: false,
    ...fields,
  };
}

export interface RegradeWorld {
  readonly deps: RegradeDeps;
  /** Writes what ingest would have, bare transfers to payees that are not catalogued left out; answers the rows. */
  ingest(rows: readonly UngradedSettlement[], catalogue: Catalogue): Promise<bigint>;
  /** What a reorg does to rows that were written under the catalogue. */
  retract(rows: readonly UngradedSettlement[], catalogue: Catalogue): Promise<void>;
  change(wanted: Catalogue): Promise<RecordedPass>;
  /** The change and everything that follows it. */
  regrade(wanted: Catalogue): Promise<SweepOutcome>;
  live(): Promise<GradedRow[]>;
  /** What the rows would be in an index made today. */
  expected(rows: readonly UngradedSettlement[], catalogue: Catalogue): Omit<GradedRow, 'ver'>[];
  rowsOf(statement: Sql): Promise<readonly (readonly unknown[])[]>;
}

export interface GradedRow {
  readonly block: number;
  readonly facilitator: string;
  readonly method: string;
  readonly seen: number;
  readonly ver: string;
}

export function regradeWorld(
  engine: Pick<TestEngine, 'reader' | 'writer'>,
  writer: Writer = engine.writer,
): RegradeWorld {
  const versions = createVersions(0n);
  const deps: RegradeDeps = { writer, versions, log: testLog, signal: new AbortController().signal };
  const rowsOf = async (statement: Sql) =>
    (await engine.reader.rows({ name: 'test', sql: statement, maxSeconds: 20, maxRows: 100_000 })).rows;
  return {
    deps,
    rowsOf,
    async ingest(rows, catalogue) {
      const ver = versions.next();
      await insertSettlements(engine.writer, graded(rows, catalogue), { ver });
      return ver;
    },
    async retract(rows, catalogue) {
      await insertSettlements(engine.writer, graded(rows, catalogue), { ver: versions.next(), del: 1 });
    },
    change: (wanted) => changeCatalogue(deps, wanted),
    async regrade(wanted) {
      const { pass } = await changeCatalogue(deps, wanted);
      return sweepPasses(deps, pass === null ? [] : [pass]);
    },
    async live() {
      const rows = await rowsOf(
        sql`SELECT block_number, facilitator, toString(method), seen, ver FROM settlements FINAL WHERE del = 0 ORDER BY block_number`,
      );
      return rows.map(([block, facilitator, method, seen, ver]) => ({
        block: Number(block),
        facilitator: String(facilitator),
        method: String(method),
        seen: Number(seen),
        ver: String(ver),
      }));
    },
    expected: (rows, catalogue) =>
      graded(rows, catalogue)
        .map(({ blockNumber, facilitator, method, seen }) => ({
          block: blockNumber,
          facilitator,
          method,
          seen,
        }))
        .sort((one, other) => one.block - other.block),
  };
}

function graded(rows: readonly UngradedSettlement[], catalogue: Catalogue): Settlement[] {
  return rows
    .filter((row) => row.marker !== 'none' || catalogue.isPayee(row.chain, row.payee))
    .map((row) => gradeSettlement(row, catalogue));
}
