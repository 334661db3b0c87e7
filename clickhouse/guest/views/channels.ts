import { accountLiteral } from '../../engine/account.ts';
import { accountText, known, transactionText, USD, type ViewBody } from './body.ts';
import { decimalsText, type PublicFacts } from './facts.ts';
import { CHANNEL_TEXT, TIER } from './settlements.ts';

/** Payment channels and escrowed payments. */

export function channelEventsBody(database: string, facts: PublicFacts): ViewBody<'channel_events'> {
  return {
    columns: {
      channel: CHANNEL_TEXT,
      tx_hash: transactionText('tx_hash'),
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
 * channel has one each of, so that a condition on them narrows the read.
 *
 * A refund of an escrowed payment comes from the operator after a capture: it returns money that the escrow held no more. A charge takes
 * money that was never deposited.
 */
export function channelsBody(published: string): ViewBody<'channels'> {
  const sums = (column: string): string => `
    sumIf(${column}, kind = 'deposit'), sumIf(${column}, kind = 'payment'),
    sumIf(${column}, kind IN ('refund', 'withdrawal', 'void')),
    sumIf(${column}, kind != 'deposit' AND NOT (scheme = 'auth-capture' AND kind = 'refund'))`;
  const balance = (sum: string): string =>
    `multiIf(t.${sum}.1 >= t.${sum}.4, t.${sum}.1 - t.${sum}.4, t.scheme = 'auth-capture' AND t.${sum}.1 = 0, t.${sum}.1, NULL)`;
  return {
    columns: {
      deposited: 't.units.1',
      paid: 't.units.2',
      returned: 't.units.3',
      balance: balance('units'),
      deposited_usd: 't.usd.1',
      paid_usd: 't.usd.2',
      returned_usd: 't.usd.3',
      balance_usd: balance('usd'),
    },
    from: `(
  SELECT channel, chain, scheme, payer, payee, asset, any(asset_symbol) AS asset_symbol, any(asset_decimals) AS asset_decimals,
    tuple(${sums('amount')}) AS units, tuple(${sums('amount_usd')}) AS usd, countIf(kind = 'payment') AS payment_count,
    min(block_time) AS opened_at, max(block_time) AS last_event_at
  FROM ${published}.channel_events
  GROUP BY channel, chain, scheme, payer, payee, asset
) AS t`,
  };
}
