import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, uint32 } from '../../clickhouse/engine/sql.ts';
import { ORIGIN } from './offer-terms.ts';

/**
 * Origins of resources that listings disagree about: their own /.well-known/x402 is asked, because it decides. Anybody can start a contest
 * by listing a URL, so these origins are strangers' and their number is bounded.
 */

/** Each is asked once an hour at most. Four at a time, with ten seconds to answer, all of them take a quarter of an hour at worst. */
const ORIGINS_MAX = 300;
/** Of one origin; its file is read for these only. */
const RESOURCES_MAX = 1_000;
const MAX_SECONDS = 30;

export interface ContestedOrigin {
  readonly origin: string;
  readonly resources: ReadonlySet<string>;
}

/** Those that answered already come first, so that none is forgotten for a new contest; then those that are paid most. */
export async function loadContestedOrigins(writer: Writer): Promise<ContestedOrigin[]> {
  const { rows } = await writer.rows({
    name: 'endpoint-list-contested-origins',
    sql: sql`SELECT ${ORIGIN} AS origin, arraySort(groupUniqArray(${uint32(RESOURCES_MAX)})(resource))
      FROM endpoint_list FINAL WHERE del = 0 AND contested = 1 AND origin != ''
      GROUP BY origin ORDER BY max(is_published) DESC, max(settlement_count) DESC, origin LIMIT ${uint32(ORIGINS_MAX)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: ORIGINS_MAX,
  });
  return rows.map(([origin, resources]) => ({
    origin: String(origin),
    resources: new Set(Array.isArray(resources) ? resources.map(String) : []),
  }));
}
