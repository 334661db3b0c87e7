import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import { address } from '../../core/domain/address.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { buildCatalogue } from '../../ingest/grading/catalogue.ts';
import { changeCatalogue, sweepPasses } from '../../ingest/grading/regrade/regrade.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { benchLog } from '../support/bench-engine.ts';
import { timed } from '../support/quantiles.ts';
import { syntheticAddress } from '../support/synthetic-rows.ts';

/** A relayer on the busiest chain. */
export interface BenchRelayer {
  readonly chain: Chain;
  readonly address: string;
}

export interface Regraded {
  readonly rows: number;
  readonly ms: number;
}

/** One percent of all settlements. */
const RELAYER_RANK = 20;
const CHAIN: Chain = 'eip155:8453';

export async function pickRelayer(writer: Writer): Promise<BenchRelayer> {
  const { rows } = await writer.rows({
    name: 'bench-relayer',
    maxSeconds: 10,
    maxRows: 1,
    sql: sql`SELECT concat('0x', lower(hex(${syntheticAddress('relayer', sql`${text(String(RELAYER_RANK))}`)})))`,
  });
  return { chain: CHAIN, address: String(rows[0]?.[0]) };
}

/**
 * Assigns the relayer to a facilitator from the first day on, as an edit of the catalogue does, and regrades all of its rows.
 */
export async function regradeRelayer(
  writer: Writer,
  relayer: BenchRelayer,
  facilitator: string,
): Promise<Regraded> {
  const { signal } = new AbortController();
  const deps = { writer, versions: createVersions(0n), log: benchLog(), signal };
  const relayers = [{ chain: relayer.chain, address: address(relayer.address), firstSeen: '2020-01-01' }];
  const facilitators = [{ id: facilitator, name: facilitator, builderCodes: [], relayers }];
  const catalogue = buildCatalogue({ facilitators, payees: [] }, { builtIn: [] });
  const { ms, result } = await timed(async () => {
    const { pass } = await changeCatalogue(deps, catalogue);
    return sweepPasses(deps, pass === null ? [] : [pass]);
  });
  return { rows: result.rowsChanged, ms };
}
