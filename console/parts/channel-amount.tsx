import { Money } from '../components/money.tsx';
import { groupDigits, shortAddress, tokenText, usdText } from '../format.ts';
import type { Channel } from '../wire.ts';

interface ChannelAmountProps {
  readonly channel: Pick<Channel, 'asset' | 'asset_symbol' | 'decimals'>;
  readonly money: Channel['deposited'];
  /** With every digit, for parts that a reader adds up. */
  readonly isExact?: boolean;
}

/** Money of a channel: in dollars, or in its token where that has no dollar value. */
export function ChannelAmount({ channel, money, isExact = false }: ChannelAmountProps) {
  const { asset, asset_symbol: symbol, decimals } = channel;
  const token = symbol === '' ? shortAddress(asset) : symbol;
  const note = `${groupDigits(money.amount)} atomic units of ${token}`;
  if (money.usd !== null && isExact)
    return (
      <span class="money" title={note}>
        {usdText(money.usd)}
      </span>
    );
  if (money.usd !== null) return <Money usd={money.usd} note={note} />;
  return (
    <span class="money" title={note}>
      {decimals === null ? groupDigits(money.amount) : tokenText(money.amount, decimals)}
      <span class="unit">{token}</span>
    </span>
  );
}
