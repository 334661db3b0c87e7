import { USD_CURRENCY } from '../../../core/domain/amount.ts';
import { offersText, unobservedText } from '../../tables/endpoints.ts';
import { openProposalsText } from '../../tables/proposals.ts';
import { accountText, known, timeOrNull, type ViewBody } from './body.ts';
import { literal, type PublicFacts } from './facts.ts';

/** One row for each payment option and source that lists it. */
/** Payments on the offer's terms since anyone first listed it: the counts from the first start that is not before it. */
const COUNTS = 'arrayFirst(one -> one.1 >= t.since, a.counts)';

export function endpointsBody(database: string): ViewBody<'endpoints'> {
  const reason = unobservedText(`${database}.chain_status`, 't.');
  const observed = (place: string): string => `if(${reason} = '', ${COUNTS}.${place}, NULL)`;
  return {
    columns: {
      service_name: known('service_name'),
      chain: known('chain'),
      tags: "CAST(t.tags, 'Array(String)')",
      last_updated: timeOrNull('last_updated'),
      description: known('description'),
      mime_type: known('mime_type'),
      published_by_domain: `CAST(t.published, 'Bool')`,
      capabilities: "CAST(t.capabilities, 'Array(String)')",
      settlement_count_30d: observed('2'),
      unique_payers_30d: observed('3'),
      settled_usd_30d: observed('4'),
      unobserved_reason: `CAST(nullIf(${reason}, ''), 'LowCardinality(Nullable(String))')`,
      last_settled_at: `if(${reason} = '', nullIf(${COUNTS}.5, toDateTime(0, 'UTC')), NULL)`,
      counted_at: `nullIf((SELECT max(counted_at) FROM ${database}.endpoint_counts), toDateTime(0, 'UTC'))`,
    },
    from: `${offersText(`${database}.endpoint_offers`)} AS t
LEFT JOIN (SELECT pay_to, chain, asset, is_range, amount AS terms, origin,
    arraySort(groupArray((since, settlement_count, unique_payers, settled_usd, last_settled_at))) AS counts
  FROM ${database}.offer_activity FINAL WHERE del = 0 GROUP BY pay_to, chain, asset, is_range, terms, origin) AS a
ON t.pay_to = a.pay_to AND t.chain = a.chain AND t.asset = a.asset AND t.is_range = a.is_range AND t.terms = a.terms AND t.origin = a.origin`,
  };
}

export function facilitatorsBody(database: string): ViewBody<'facilitators'> {
  return {
    columns: {
      address: accountText('address'),
      name: 't.facilitator_name',
    },
    from: `${database}.facilitator_relayers AS t FINAL WHERE t.del = 0`,
  };
}

export function relayersBody(database: string): ViewBody<'relayers'> {
  return {
    columns: {
      address: accountText('address'),
      transaction_count: 't.nonce',
      read_at: 't.enriched_at',
    },
    from: `${database}.relayer_accounts AS t FINAL`,
  };
}

export function proposedRelayersBody(database: string): ViewBody<'proposed_relayers'> {
  return {
    columns: {
      address: accountText('address'),
      accepted: `CAST((t.chain, t.address) IN (SELECT chain, address FROM ${database}.facilitator_relayers FINAL WHERE del = 0), 'Bool')`,
      shared_with: "CAST(t.shared_with, 'Array(String)')",
      supported_by: "CAST(t.supported_by, 'Array(String)')",
    },
    from: `${database}.proposed_relayers AS t WHERE ${openProposalsText(`${database}.`, 't.')}`,
  };
}

/** On a cluster the views of all nodes are read together, and one of them has the rows. */
export function tokensBody({ tokens }: PublicFacts, hasRows: boolean): ViewBody<'tokens'> {
  const rows = tokens.map(
    ({ chain, address, symbol, decimals, domain, paidBy, currency, usdRate }) =>
      `(${[chain, address, symbol].map(literal).join(', ')}, toUInt8(${decimals}), ${[
        domain?.name ?? '',
        domain?.version ?? '',
        paidBy,
        currency,
        usdRate?.usd ?? (currency === USD_CURRENCY ? '1' : ''),
        usdRate?.source ?? '',
      ]
        .map(literal)
        .join(', ')})`,
  );
  const name = (at: number): string => `CAST(t.token.${at}, 'LowCardinality(String)')`;
  return {
    columns: {
      chain: name(1),
      address: 't.token.2',
      symbol: name(3),
      decimals: 't.token.4',
      kind: name(7),
      eip712_name: "nullIf(t.token.5, '')",
      eip712_version: "nullIf(t.token.6, '')",
      currency: name(8),
      usd_rate: "CAST(nullIf(t.token.9, ''), 'Nullable(Decimal(38, 9))')",
      usd_rate_source: "nullIf(t.token.10, '')",
    },
    from: `(SELECT arrayJoin([${rows.join(', ')}]) AS token) AS t${hasRows ? '' : ' WHERE 0'}`,
  };
}
