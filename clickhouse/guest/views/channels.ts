import { accountLiteral } from '../../engine/account.ts';
import { channelSums } from '../../tables/channel-rows.ts';
import { accountText, dollars, known, transactionText, USD, type ViewBody } from './body.ts';
import { decimalsText, type PublicFacts } from './facts.ts';
import { CHANNEL_TEXT, TIER } from './settlements.ts';

/** Payment channels and escrowed payments. */

export function channelEventsBody(database: string, facts: PublicFacts): ViewBody<'channel_events'> {
  return {
    columns: {
      channel: CHANNEL_TEXT,
      tx_hash: transactionText('tx_hash'),
      contract: accountText('contract'),
      payer: accountText('payer'),
      payee: accountText('payee'),
      asset: accountText('asset'),
      asset_decimals: decimalsText(facts, accountLiteral),
      amount_usd: USD,
      relayer: accountText('relayer'),
      facilitator: known('facilitator'),
      evidence_tier: TIER,
    },
    from: `${database}.channel_rows AS t FINAL WHERE t.del = 0`,
  };
}

/**
 * Over the public table of its rows, not over the stored one: on a cluster only that has all of them. Grouped by the parties too, which a
 * channel has one each of, so that a condition on them narrows the read. A charge of an escrow takes money that was never deposited.
 */
export function channelsBody(published: string): ViewBody<'channels'> {
  const isBalanced = "t.units.1 >= t.units.4 OR (t.scheme = 'auth-capture' AND t.units.1 = 0)";
  const isEmptied = 't.units.1 < t.units.4';
  const valued = (of: string): string => dollars(`if(t.is_valued, ${of}, NULL)`);
  return {
    columns: {
      asset_symbol: "CAST(t.symbol, 'LowCardinality(String)')",
      asset_decimals: 't.decimals',
      deposited: 't.units.1',
      paid: 't.units.2',
      returned: 't.units.3',
      balance: `CAST(if(${isBalanced}, if(${isEmptied}, t.units.1, toUInt256(t.units.1 - t.units.4)), NULL), 'Nullable(UInt256)')`,
      deposited_usd: valued('t.usd.1'),
      paid_usd: valued('t.usd.2'),
      returned_usd: valued('t.usd.3'),
      balance_usd: valued(`if(${isBalanced}, if(${isEmptied}, t.usd.1, t.usd.1 - t.usd.4), NULL)`),
    },
    from: `(
  SELECT channel, chain, scheme, any(contract) AS contract, payer, payee, asset, any(asset_symbol) AS symbol, any(asset_decimals) AS decimals,
    tuple(${channelSums('amount')}) AS units, tuple(${channelSums('ifNull(amount_usd, 0)')}) AS usd, count(amount_usd) > 0 AS is_valued,
    countIf(kind = 'payment') AS payment_count, min(block_time) AS opened_at, max(block_time) AS last_event_at
  FROM ${published}.channel_events
  GROUP BY channel, chain, scheme, payer, payee, asset
) AS t`,
  };
}
