import { NO_ACCOUNT } from '../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../clickhouse/engine/counted-rows.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql, texts, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import {
  COVERAGE,
  closedSlices,
  DAY_SECONDS,
  decodeCoverage,
  openRows,
} from '../../clickhouse/tables/coverage.ts';
import { PROPOSAL_PASSES, PROPOSED_RELAYERS } from '../../clickhouse/tables/generations.ts';
import { insertRows, reading } from '../../clickhouse/tables/table.ts';
import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { SEEN } from '../../core/domain/evidence.ts';
import {
  FUNDED_RELAYERS_MIN,
  PROPOSAL_DAYS,
  PROPOSAL_MIN_PAYERS,
  PROPOSAL_MIN_SCORE,
  PROPOSAL_MIN_SETTLEMENTS,
  proposalScore,
  SHARED_PAYERS_MIN,
} from '../../core/domain/relayer-proposal.ts';
import type { Log } from '../../core/log.ts';
import { type DerivedTable, derive } from '../passes/derived-table.ts';
import { type Pass, restOf } from '../passes/repeat.ts';
import { COMPUTE_SETTINGS } from '../rollup/close.ts';

/**
 * Proposes relayers by what they do: the rollups give the relayers that send enough payments of enough payers and that no catalogue names, one
 * statement over the payments of the last days gives their figures, and the score decides which of them are listed.
 */

/** The figures are of a month: more passes would say the same. */
const REST = restOf({ perPass: 60, minMs: 60_000 });
const COMPUTE_MAX_SECONDS = 900;
/** Whose figures one pass reads, the busiest: wallets that send their own payments are excluded by their single payer. */
export const RELAYERS_LOOKED_AT_MAX = 5_000;
/** Without a row to join, a payee is not shared. */
const SETTINGS = { ...COMPUTE_SETTINGS, join_use_nulls: 0 } as const;

interface ProposalPassDeps {
  readonly writer: Writer;
  /** That are served. */
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  /** Tests lower it. */
  readonly scoreMin?: number;
}

export function proposalPasses(deps: ProposalPassDeps & { readonly log: Log }): Pass[] {
  return [
    {
      name: 'proposals',
      failureText: 'looking for unnamed facilitators failed; the last proposals stay',
      restMs: REST,
      async run(signal) {
        signal.throwIfAborted();
        const { lookedAt, proposed, tookMs } = await proposalPass(deps);
        deps.log.debug({ lookedAt, proposed, tookMs }, 'relayers proposed');
        return 'done';
      },
    },
  ];
}

const PROPOSALS: DerivedTable = { name: 'proposal', rows: [PROPOSED_RELAYERS], passes: PROPOSAL_PASSES };

export interface ProposalPass {
  readonly gen: bigint;
  readonly lookedAt: number;
  readonly proposed: number;
  readonly tookMs: number;
}

/** One pass; nothing to look at publishes an empty list. */
export async function proposalPass(deps: ProposalPassDeps): Promise<ProposalPass> {
  const { writer, chains, clock, scoreMin = PROPOSAL_MIN_SCORE } = deps;
  const startedMs = performance.now();
  const nowMs = clock.nowMs();
  const nowSeconds = Math.floor(nowMs / 1_000);
  const proposals = (await readFigures(writer, chains, nowSeconds)).map((row) => ({
    ...row,
    score: proposalScore(row),
  }));
  const rows = proposals.filter(({ score }) => score >= scoreMin);
  let tookMs = 0;
  const gen = await derive(writer, PROPOSALS, {
    fresh: BigInt(nowMs),
    async write(gen) {
      await insertRows(writer, { name: 'proposed-relayers', table: PROPOSED_RELAYERS, rows, fixed: { gen } });
      tookMs = Math.round(performance.now() - startedMs);
      return {
        proposed_at: dateTime(nowSeconds),
        looked_at: uint64(proposals.length),
        took_ms: uint64(tookMs),
      };
    },
  });
  return { gen, lookedAt: proposals.length, proposed: rows.length, tookMs };
}

/** In the order of the statement. */
const FIGURES = reading(PROPOSED_RELAYERS, [
  'chain',
  'address',
  'settlement_count',
  'relayed_count',
  'payer_count',
  'payer_spread',
  'shared_payer_count',
  'payee_count',
  'shared_payee_count',
  'shared_settlement_count',
  'shared_with',
  'supported_by',
  'funded_with',
  'first_seen',
  'last_seen',
]);

async function readFigures(writer: Writer, chains: readonly Chain[], nowSeconds: number) {
  const { rows } = await writer.rows({
    name: 'proposal-figures',
    maxSeconds: COMPUTE_MAX_SECONDS,
    maxRows: RELAYERS_LOOKED_AT_MAX,
    settings: SETTINGS,
    sql: await figuresSql(writer, chains, nowSeconds),
  });
  return rows.map(FIGURES.read);
}

/** Set by a relay: a signature of the payer, sent by a third party, and not pulled by the payee. On Solana every payer signs, so the form counts. */
const SIGNED =
  SEEN.authorization_used |
  SEEN.permit2_settled |
  SEEN.voucher_claimed |
  SEEN.escrow_captured |
  SEEN.sponsored_exact;
const IS_RELAYED: Sql = sql`bitAnd(seen, ${uint32(SEEN.third_party_relay)}) != 0 AND bitAnd(seen, ${uint32(SIGNED)}) != 0
  AND bitAnd(seen, ${uint32(SEEN.receive_with_authorization)}) = 0`;

/** Relayers that the service accepted by score are not used as named ones: a mistake would make further relayers look like facilitators. */
const NAMED: Sql = sql`(SELECT chain, address FROM facilitator_relayers FINAL WHERE del = 0 AND source != 'proposed')`;

async function figuresSql(writer: Writer, chains: readonly Chain[], nowSeconds: number): Promise<Sql> {
  const coverage = decodeCoverage((await writer.rows(COVERAGE)).rows);
  const served = sql`chain IN ${texts(chains)}`;
  // A whole day, as the rollups have them.
  const from = Math.floor(nowSeconds / DAY_SECONDS - PROPOSAL_DAYS) * DAY_SECONDS;
  const since = sql`block_time >= ${dateTime(from)}`;
  const closed = sql`SELECT * FROM relayer_day FINAL WHERE ${served} AND ${closedSlices(coverage)}`;
  const isOfDays = sql`day >= toDate(${dateTime(from)})`;
  const candidates = sql`SELECT chain, relayer FROM (
      SELECT chain, relayer, settlement_count AS counted, payers FROM (${closed}) WHERE settlement_count > 0 AND ${isOfDays}
      UNION ALL SELECT chain, relayer, count(), uniqCombined64State(14)(payer)
      FROM (SELECT chain, relayer, payer, kind, del FROM settlements FINAL WHERE ${served} AND ${since} AND ${openRows(coverage)})
      WHERE ${IS_COUNTED} GROUP BY chain, relayer)
    WHERE (chain, relayer) NOT IN ${NAMED}
    GROUP BY chain, relayer
    HAVING sum(counted) >= ${uint32(PROPOSAL_MIN_SETTLEMENTS)} AND uniqCombined64Merge(14)(payers) >= ${uint32(PROPOSAL_MIN_PAYERS)}
    ORDER BY sum(counted) DESC, chain, relayer LIMIT ${uint32(RELAYERS_LOOKED_AT_MAX)}`;
  const payments = sql`SELECT chain, relayer, payer, payee, block_time, seen
    FROM (SELECT chain, relayer, payer, payee, block_time, seen, kind, del FROM settlements FINAL WHERE ${served} AND ${since})
    WHERE ${IS_COUNTED}`;
  return sql`WITH
    candidates AS (${candidates}),
    named AS (SELECT chain, address AS relayer, toString(facilitator) AS facilitator FROM facilitator_relayers FINAL
      WHERE del = 0 AND source != 'proposed'),
    funded AS (SELECT chain, address AS relayer, funder FROM relayer_funders FINAL WHERE funder != ${NO_ACCOUNT}),
    funders AS (SELECT funder, any(facilitator) AS funded_with FROM funded INNER JOIN named USING (chain, relayer)
      GROUP BY funder HAVING uniqExact(facilitator) = 1 AND uniqExact(relayer) >= ${uint32(FUNDED_RELAYERS_MIN)}),
    shared AS (
      SELECT role, party, groupUniqArray(facilitator) AS through
      FROM (SELECT chain, relayer, payer, payee FROM (${payments}) WHERE (chain, relayer) IN ${NAMED}) AS paid
      INNER JOIN named USING (chain, relayer)
      ARRAY JOIN ['payer', 'payee'] AS role, [payer, payee] AS party, [payee, payer] AS other
      GROUP BY role, party HAVING role = 'payer' OR uniqExact(other) >= ${uint32(SHARED_PAYERS_MIN)}),
    parties AS (
      SELECT chain, relayer, role, party, count() AS n, countIf(is_relayed) AS relayed, max(block_time) AS last
      FROM (SELECT chain, relayer, payer, payee, block_time, ${IS_RELAYED} AS is_relayed FROM (${payments})
        WHERE (chain, relayer) IN (SELECT chain, relayer FROM candidates))
      ARRAY JOIN ['payer', 'payee'] AS role, [payer, payee] AS party
      GROUP BY chain, relayer, role, party),
    before AS (
      SELECT chain, relayer, min(at) AS first FROM (
        SELECT chain, relayer, first_time AS at FROM (${closed}) WHERE settlement_count > 0
        UNION ALL SELECT chain, relayer, block_time
        FROM (SELECT chain, relayer, block_time, kind, del FROM settlements FINAL WHERE ${served} AND ${openRows(coverage)}) WHERE ${IS_COUNTED})
      WHERE (chain, relayer) IN (SELECT chain, relayer FROM candidates) GROUP BY chain, relayer),
    listed AS (SELECT chain, address AS relayer, groupUniqArray(toString(facilitator)) AS by FROM supported_signers GROUP BY chain, address),
    filled AS (SELECT chain, relayer, funded_with FROM funded INNER JOIN funders USING (funder))
  SELECT ${FIGURES.columns} FROM (
    SELECT summed.chain AS chain, summed.relayer AS address, settlement_count, relayed_count, payer_count, payer_spread, shared_payer_count,
      payee_count, shared_payee_count, shared_settlement_count, shared_with, arraySort(listed.by) AS supported_by, filled.funded_with AS funded_with,
      before.first AS first_seen, summed.last AS last_seen
    FROM (
      SELECT chain, relayer, sumIf(n, parties.role = 'payer') AS settlement_count, sumIf(relayed, role = 'payer') AS relayed_count,
        countIf(role = 'payer') AS payer_count,
        pow(settlement_count, 2) / sumIf(pow(n, 2), role = 'payer') AS payer_spread,
        countIf(role = 'payer' AND notEmpty(through)) AS shared_payer_count,
        countIf(role = 'payee') AS payee_count, countIf(role = 'payee' AND notEmpty(through)) AS shared_payee_count,
        sumIf(n, role = 'payee' AND notEmpty(through)) AS shared_settlement_count,
        arraySort(groupUniqArrayArrayIf(through, role = 'payee')) AS shared_with, max(parties.last) AS last
      FROM parties LEFT JOIN shared ON parties.party = shared.party AND parties.role = shared.role
      GROUP BY chain, relayer) AS summed
    INNER JOIN before ON summed.chain = before.chain AND summed.relayer = before.relayer
    LEFT JOIN listed ON summed.chain = listed.chain AND summed.relayer = listed.relayer
    LEFT JOIN filled ON summed.chain = filled.chain AND summed.relayer = filled.relayer)
  ORDER BY chain, address`;
}
