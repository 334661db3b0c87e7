import { Time } from '../components/figures.tsx';
import { chainText, countText, groupDigits, shortAddress, usdText } from '../format.ts';
import type { WalletRole } from '../routes.ts';
import type { Settlement } from '../wire.ts';
import { type Column, DataTable, type List } from './data-table.tsx';
import { EvidenceBadge } from './evidence.tsx';
import { WalletLink } from './wallet-link.tsx';

/** Chain, transaction and the log index of its transfer identify a settlement. */
export function settlementKey({ chain, tx_hash, log_index }: Settlement): string {
  return `${chain}/${tx_hash}/${log_index}`;
}

interface SettlementTableProps {
  readonly caption: string;
  readonly rows: readonly Settlement[] | null;
  readonly list?: List;
  /** Marks rows that have just arrived. */
  readonly isNew?: (key: string) => boolean;
  /** On the page of a wallet: its role in every row, which then has no column. */
  readonly own?: WalletRole;
}

export function SettlementTable({ isNew, own, ...table }: SettlementTableProps) {
  return (
    <DataTable
      {...table}
      class="settlements"
      columns={COLUMNS[own ?? 'both']}
      keyOf={settlementKey}
      rowClass={(row) => (isNew?.(settlementKey(row)) ? 'is-new' : undefined)}
    />
  );
}

const TIME: Column<Settlement> = {
  name: 'Time',
  class: 'when',
  cell: ({ block_time: at, finality }) => (
    <>
      <Time at={at} ago />
      {finality === 'head' ? <NotFinalMark /> : null}
    </>
  ),
};

const PAYER: Column<Settlement> = {
  name: 'Payer',
  cell: ({ payer, payer_name: name }) => <WalletLink wallet={payer} party="payer" name={name} />,
};

const PAYEE: Column<Settlement> = {
  name: 'Payee',
  cell: ({ payee, payee_name: name }) => <WalletLink wallet={payee} party="payee" name={name} />,
};

const DETAILS: readonly Column<Settlement>[] = [
  {
    name: 'Amount',
    isFigure: true,
    cell: ({ amount, amount_usd: usd, asset_symbol: symbol }) => (
      <>
        <span class="amount" title={`${groupDigits(amount)} atomic units of ${symbol}`}>
          {usdText(usd)}
        </span>
        <span class="unit">{symbol}</span>
      </>
    ),
  },
  { name: 'Facilitator', cell: (row) => <Facilitator row={row} /> },
  { name: 'Evidence', cell: ({ evidence }) => <EvidenceBadge evidence={evidence} /> },
  {
    name: 'Chain and transaction',
    class: 'where',
    cell: ({ chain, tx_hash: hash, log_index: log, block_number: block }) => (
      <>
        <span class="chain" title={chain}>
          {chainText(chain)}
        </span>
        <span class="hash" title={`${hash}, log ${log}, block ${countText(block)}`}>
          {shortAddress(hash)}
        </span>
      </>
    ),
  },
];

const COLUMNS: Readonly<Record<WalletRole | 'both', readonly Column<Settlement>[]>> = {
  both: [TIME, PAYER, markingSelfPayments(PAYEE, 'to itself'), ...DETAILS],
  payer: [TIME, markingSelfPayments(PAYEE, 'itself'), ...DETAILS],
  payee: [TIME, markingSelfPayments(PAYER, 'itself'), ...DETAILS],
};

/** A badge in front of the wallet in settlements whose payer is the payee. */
function markingSelfPayments(column: Column<Settlement>, text: string): Column<Settlement> {
  return {
    ...column,
    cell: (row) => (
      <>
        {row.is_self_payment ? <span class="badge quiet">{text}</span> : null}
        {column.cell(row)}
      </>
    ),
  };
}

function NotFinalMark() {
  return (
    <span class="fresh-mark" title="Not final yet: a reorg may still remove it.">
      <span class="visually-hidden">not final</span>
    </span>
  );
}

function Facilitator({ row }: { readonly row: Settlement }) {
  if (row.facilitator === null)
    return (
      <span class="muted" title={`Relayed by ${row.relayer}, which belongs to no named facilitator.`}>
        {row.relayer === row.payer ? 'payer itself' : <span class="mono">{shortAddress(row.relayer)}</span>}
      </span>
    );
  return <span title={`Relayed by ${row.relayer}`}>{row.facilitator_name ?? row.facilitator}</span>;
}
