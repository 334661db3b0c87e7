import { SHARE_SCALE } from '../../../core/domain/data-quality.ts';
import { expressions } from '../../engine/account.ts';
import { type WalletIdKey, walletIdText } from '../../tables/wallet-ids.ts';
import type { ViewBody } from './body.ts';

/** Wallets over all days, their names and their rings. */

const NOTHING = "CAST(0, 'Decimal(38, 6)')";
const UNNAMED = "(toUInt8(0), '', '')";
const NEVER = "toDateTime(0, 'UTC')";

/**
 * Over other public tables, not over stored ones: on a cluster the days of a wallet lie on several nodes, and only the tables over
 * all nodes have all of them. Names come in as further rows, because a join would be run also where no name is selected.
 */
export function walletsBody(published: string, idKey: WalletIdKey): ViewBody<'wallets'> {
  const isIn = (column: string, table: string): string =>
    `CAST(t.address IN (SELECT ${column} FROM ${published}.${table}), 'Bool')`;
  const known = (column: string): string => `nullIf(${column}, '')`;
  return {
    columns: {
      name: known('t.best.2'),
      name_source: "CAST(nullIf(t.best.3, ''), 'LowCardinality(Nullable(String))')",
      first_settled_at: 't.first',
      last_settled_at: 't.last',
      paid_count: 't.paid_n',
      paid_usd: 't.paid',
      received_count: 't.received_n',
      received_usd: 't.received',
      self_payment_count: 't.self_n',
      self_payment_usd: 't.self',
      paid_proven_usd: 't.paid_proven',
      received_proven_usd: 't.received_proven',
      is_agent: isIn('wallet', 'agents'),
      is_listed: isIn('pay_to', 'endpoints'),
      is_relayer: isIn('address', 'facilitators'),
      in_ring: isIn('wallet', 'wallet_rings'),
      wallet_id: walletIdText(idKey, 't.address'),
    },
    from: `(
  SELECT address, minIf(at_first, at_last != ${NEVER}) AS first, max(at_last) AS last, sum(n_paid) AS paid_n, sum(usd_paid) AS paid,
    sum(n_received) AS received_n, sum(usd_received) AS received, sum(n_self) AS self_n, sum(usd_self) AS self,
    sum(proven_paid) AS paid_proven, sum(proven_received) AS received_proven,
    arraySort(groupUniqArrayIf(toString(chain), at_last != ${NEVER})) AS chains, minIf(label, label.1 != 0) AS best
  FROM (
    SELECT payer AS address, chain, first_settled_at AS at_first, last_settled_at AS at_last, settlement_count AS n_paid,
      settled_usd AS usd_paid, toUInt64(0) AS n_received, ${NOTHING} AS usd_received, self_payment_count AS n_self,
      self_payment_usd AS usd_self, proven_usd AS proven_paid, ${NOTHING} AS proven_received, ${UNNAMED} AS label
    FROM ${published}.payer_days
    UNION ALL
    SELECT payee, chain, first_settled_at, last_settled_at, 0, ${NOTHING}, settlement_count, settled_usd, 0, ${NOTHING}, ${NOTHING},
      proven_usd, ${UNNAMED}
    FROM ${published}.merchant_days
    UNION ALL
    SELECT address, chain, ${NEVER}, ${NEVER}, 0, ${NOTHING}, 0, ${NOTHING}, 0, ${NOTHING}, ${NOTHING}, ${NOTHING},
      (toUInt8(if(name_source = 'facilitator', 2, 1)), name, toString(name_source))
    FROM ${published}.wallet_names WHERE name_source IN ('operator_catalogue', 'facilitator')
  )
  GROUP BY address
  HAVING last != ${NEVER}
) AS t`,
  };
}

/** Names as they are shown elsewhere, but those that imitate a facilitator are found by code (core/domain/imitated-name.ts). */
export function walletNamesBody(database: string): ViewBody<'wallet_names'> {
  const of = (facts: {
    readonly source: string;
    readonly address: string;
    readonly name: string;
    readonly agentId?: string;
    readonly resource?: string;
    readonly facilitator?: string;
    readonly from: string;
  }): string =>
    `SELECT chain, ${expressions.accountText(facts.address)} AS address, toString(${facts.name}) AS label, ${facts.source} AS origin,
    CAST(${facts.agentId ?? 'NULL'}, 'Nullable(UInt256)') AS agent, ${facts.resource ?? "''"} AS about, ${facts.facilitator ?? "''"} AS relays_for
  FROM ${database}.${facts.from}`;
  const parts = [
    of({
      source: "'agent_card'",
      address: 'wallet',
      name: 'name',
      agentId: 'agent_id',
      from: `agents FINAL WHERE del = 0 AND name != '' AND domain_proof != 'refuted' AND wallet != ${expressions.noAccount}`,
    }),
    of({
      source: "if(source = 'bazaar', 'endpoint_catalogue', 'operator_catalogue')",
      address: 'address',
      name: 'name',
      resource: 'resource',
      from: `catalogued_payees FINAL WHERE del = 0 AND name != ''`,
    }),
    of({
      source: "'facilitator'",
      address: 'address',
      name: 'facilitator_name',
      facilitator: 'toString(facilitator)',
      from: `facilitator_relayers FINAL WHERE del = 0 AND facilitator_name != ''`,
    }),
  ];
  return {
    columns: {
      name: 't.label',
      name_source: "CAST(t.origin, 'LowCardinality(String)')",
      agent_id: 't.agent',
      resource: "nullIf(t.about, '')",
      facilitator: "CAST(nullIf(t.relays_for, ''), 'LowCardinality(Nullable(String))')",
    },
    from: `(${parts.join('\n  UNION ALL\n  ')}) AS t`,
  };
}

/** Of the pass that was published last (clickhouse/tables/generations.ts). */
export function walletRingsBody(database: string): ViewBody<'wallet_rings'> {
  return {
    columns: {
      member_count: 't.length',
    },
    from: `${database}.wallet_rings AS t WHERE t.gen IN (SELECT max(gen) FROM ${database}.ring_passes)`,
  };
}

/** Of the pass that was published last; shares are stored in ten-thousandths, -1 for none. */
export function walletVerdictsBody(database: string): ViewBody<'wallet_verdicts'> {
  const share = (column: string): string => `if(t.${column} < 0, NULL, t.${column} / ${SHARE_SCALE})`;
  return {
    columns: {
      reasons: "CAST(t.reasons, 'Array(String)')",
      self_payment_share: share('self_share'),
      concentration: share('concentration'),
      largest_share: share('largest_share'),
      reciprocity: share('reciprocal_share'),
    },
    from: `${database}.wallet_verdicts AS t WHERE t.gen IN (SELECT max(gen) FROM ${database}.verdict_passes)`,
  };
}
