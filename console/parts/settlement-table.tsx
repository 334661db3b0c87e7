import { Chip } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import type { List } from '../components/list-state.tsx';
import { Time } from '../components/time.tsx';
import { settlementKey } from '../flow/live-copy.ts';
import { blockText, chainText, placeText, shortAddress } from '../format.ts';
import { Link } from '../router.tsx';
import { facilitatorPath, type WalletRole } from '../routes.ts';
import type { Settlement } from '../wire.ts';
import { EvidenceChip } from './evidence.tsx';
import { FacilitatorSwatch } from './facilitator-swatch.tsx';
import { SettlementAmount } from './settlement-amount.tsx';
import { WalletLink } from './wallet-link.tsx';

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
  card: 'meta',
  cell: ({ block_time: at, finality }) => (
    <>
      <Time at={at} ago />
      {finality === 'head' ? <NotFinalMark /> : null}
    </>
  ),
};

const PAYER: Column<Settlement> = {
  name: 'Payer',
  card: 'head',
  cell: ({ payer, payer_name: name, payer_name_source: source }) => (
    <WalletLink wallet={payer} party="payer" name={name} source={source} />
  ),
};

const PAYEE: Column<Settlement> = {
  name: 'Payee',
  card: 'head',
  cell: ({ payee, payee_name: name, payee_name_source: source }) => (
    <WalletLink wallet={payee} party="payee" name={name} source={source} />
  ),
};

const DETAILS: readonly Column<Settlement>[] = [
  {
    name: 'Amount',
    card: 'meta',
    isFigure: true,
    cell: (row) => <SettlementAmount row={row} />,
  },
  { name: 'Facilitator', priority: 2, cell: (row) => <Facilitator row={row} /> },
  { name: 'Evidence', card: 'meta', cell: ({ evidence }) => <EvidenceChip evidence={evidence} /> },
  {
    name: 'Chain and transaction',
    class: 'where',
    cell: ({ chain, tx_hash: hash, log_index: log, block_number: block }) => (
      <>
        <span title={chain}>{chainText(chain)}</span>
        <Link
          class="hash"
          to={`/transactions/${hash}`}
          title={`${hash}, ${placeText(chain, log)}, ${blockText(chain, block)}`}
        >
          {shortAddress(hash)}
        </Link>
      </>
    ),
  },
];

const COLUMNS: Readonly<Record<WalletRole | 'both', readonly Column<Settlement>[]>> = {
  both: [TIME, PAYER, markingSelfPayments(PAYEE, 'to itself'), ...DETAILS],
  payer: [TIME, markingSelfPayments(PAYEE, 'itself'), ...DETAILS],
  payee: [TIME, markingSelfPayments(PAYER, 'itself'), ...DETAILS],
};

/** A chip in front of the wallet in settlements whose payer is the payee. */
function markingSelfPayments(column: Column<Settlement>, text: string): Column<Settlement> {
  return {
    ...column,
    cell: (row) => (
      <>
        {row.is_self_payment ? <Chip>{text}</Chip> : null}
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
  const { facilitator: id, facilitator_name: name, relayer, payer } = row;
  if (id === null)
    return (
      <span class="facilitator muted" title={`Relayed by ${relayer}, which belongs to no named facilitator.`}>
        <FacilitatorSwatch id={null} />
        {relayer === payer ? 'payer itself' : <span class="mono">{shortAddress(relayer)}</span>}
      </span>
    );
  return (
    <span class="facilitator" title={`Relayed by ${relayer}`}>
      <FacilitatorSwatch id={id} />
      <Link to={facilitatorPath(id)}>{name ?? id}</Link>
    </span>
  );
}
