import { type Sql, sql } from '../../clickhouse/engine/sql.ts';

/**
 * The terms of an offer, as expressions over table `endpoint_offers`: a payment fits them by payee, chain, asset and amount. Offers
 * of one origin on the same terms cannot be told apart by what was paid; offers of two origins must not share it.
 */

/** Scheme, host and port of the resource: who answers there. */
export const ORIGIN: Sql = sql`extract(resource, '^[a-z]+://[^/?#]+')`;
/** `exact` signs the amount itself, every other scheme a ceiling. */
export const IS_RANGE: Sql = sql`toUInt8(scheme != 'exact')`;
/** Only sources of this kind are held to one origin, their own (sync-source.ts), so its domain itself says what they list. */
export const IS_PUBLISHED: Sql = sql`startsWith(source, 'well_known:')`;
