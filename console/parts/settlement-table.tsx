import type { ComponentChildren } from 'preact';
import { Time } from '../components/figures.tsx';
import { chainText, countText, groupDigits, shortAddress, usdText } from '../format.ts';
import { EvidenceBadge } from './evidence-badge.tsx';

import { WalletLink, type WalletRole } from './wallet-link.tsx';
import type { NamedSettlement } from './wire.ts';

/** A settlement is identified by chain, transaction and the log index of its transfer. */
export function settlementKey({ chain, tx_hash, log_index }: NamedSettlement): string {
  return `${chain}/${tx_hash}/${log_index}`;
}

interface SettlementTableProps {
  readonly caption: string;
  readonly rows: readonly NamedSettlement[];
  /** Rows that were not there a moment ago are lit up once. */
  readonly isNew?: (key: string) => boolean;
  /** On the page of a wallet: the side that it is on itself, in every row, needs no column. */
  readonly own?: WalletRole;
}

const COLUMNS = ['Time', 'Payer', 'Payee', 'Amount', 'Facilitator', 'Evidence', 'Chain and transaction'];

export function SettlementTable({ caption, rows, isNew, own }: SettlementTableProps) {
  return (
    <div class="table-wrap">
      <table class="data settlements">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columnsWithout(own).map((name) => (
              <th key={name} scope="col" class={name === 'Amount' ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = settlementKey(row);
            return <SettlementRow key={key} row={row} isNew={isNew?.(key) ?? false} own={own} />;
          })}
        </tbody>
      </table>
    </div>
  );
}

function columnsWithout(own: WalletRole | undefined): readonly string[] {
  const left = { payer: 'Payer', payee: 'Payee' } as const;
  return own === undefined ? COLUMNS : COLUMNS.filter((name) => name !== left[own]);
}

interface SettlementRowProps {
  readonly row: NamedSettlement;
  readonly isNew: boolean;
  readonly own: WalletRole | undefined;
}

function SettlementRow({ row, isNew, own }: SettlementRowProps) {
  return (
    <tr class={isNew ? 'is-new' : undefined}>
      <Cell name="Time" class="when">
        <Time at={row.block_time} ago />
        {row.finality === 'head' ? <FreshMark /> : null}
      </Cell>
      {own === 'payer' ? null : (
        <Cell name="Payer">
          {own === 'payee' && row.is_self_payment ? <span class="badge quiet">itself</span> : null}
          <WalletLink wallet={row.payer} party="payer" name={row.payer_name} />
        </Cell>
      )}
      {own === 'payee' ? null : (
        <Cell name="Payee">
          {row.is_self_payment ? (
            <span class="badge quiet">{own === 'payer' ? 'itself' : 'to itself'}</span>
          ) : null}
          <WalletLink wallet={row.payee} party="payee" name={row.payee_name} />
        </Cell>
      )}
      <Cell name="Amount" class="number">
        <span class="amount" title={`${groupDigits(row.amount)} atomic units of ${row.asset_symbol}`}>
          {usdText(row.amount_usd)}
        </span>
        <span class="unit">{row.asset_symbol}</span>
      </Cell>
      <Cell name="Facilitator">
        <FacilitatorOf row={row} />
      </Cell>
      <Cell name="Evidence">
        <EvidenceBadge evidence={row.evidence} />
      </Cell>
      <Cell name="Chain and transaction" class="where">
        <span class="chain" title={row.chain}>
          {chainText(row.chain)}
        </span>
        <span
          class="hash"
          title={`${row.tx_hash}, log ${row.log_index}, block ${countText(row.block_number)}`}
        >
          {shortAddress(row.tx_hash)}
        </span>
      </Cell>
    </tr>
  );
}

/** Not final yet: a reorg may still take it back. */
function FreshMark() {
  return (
    <span class="fresh-mark" title="Near the tip: not final yet, a reorg may take it back.">
      <span class="visually-hidden">not final</span>
    </span>
  );
}

function FacilitatorOf({ row }: { readonly row: NamedSettlement }) {
  if (row.facilitator === null)
    return (
      <span class="muted" title={`Relayed by ${row.relayer}, which no named facilitator uses.`}>
        {row.relayer === row.payer ? 'payer itself' : <span class="mono">{shortAddress(row.relayer)}</span>}
      </span>
    );
  return <span title={`Relayed by ${row.relayer}`}>{row.facilitator_name ?? row.facilitator}</span>;
}

interface CellProps {
  /** On narrow screens rows become cards, where each value carries the name of its column. */
  readonly name: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Cell({ name, class: className, children }: CellProps) {
  return (
    <td data-name={name} class={className}>
      {children}
    </td>
  );
}
