import { Chip } from '../components/chip.tsx';
import { Money } from '../components/money.tsx';
import { groupDigits, shortAddress, tokenText } from '../format.ts';
import type { Settlement } from '../wire.ts';

/** Says what is no payment. */
export function SettlementAmount({ row }: { readonly row: Settlement }) {
  return (
    <>
      <AmountOf row={row} />
      {row.kind === 'payment' ? null : <Chip>{row.kind}</Chip>}
    </>
  );
}

/** In dollars, or in the token where it has no dollar value; the unit of one that is not listed is its address. */
export function AmountOf({ row }: { readonly row: Settlement }) {
  const { amount, amount_usd: usd, asset, asset_symbol: symbol, decimals } = row;
  const note = `${groupDigits(amount)} atomic units of ${symbol === '' ? asset : symbol}`;
  return (
    <>
      <span class="amount">
        {usd === null ? (
          <span title={note}>{decimals === null ? groupDigits(amount) : tokenText(amount, decimals)}</span>
        ) : (
          <Money usd={usd} note={note} />
        )}
      </span>
      <span class="unit">{symbol === '' ? shortAddress(asset) : symbol}</span>
    </>
  );
}
