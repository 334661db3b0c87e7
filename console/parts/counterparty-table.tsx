import { segment } from '../api.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { countText } from '../format.ts';
import { nameSourceText } from '../name-source.ts';
import { Link } from '../router.tsx';
import { pairPath, type WalletRole, withQuery } from '../routes.ts';
import { useCursorList } from '../use-list.ts';
import type { Counterparties, Counterparty } from '../wire.ts';
import { WalletLink } from './wallet-link.tsx';

interface CounterpartyTableProps {
  readonly wallet: string;
  readonly party: WalletRole;
  readonly window: string;
  /** Null for all chains. */
  readonly chain: string | null;
  /** In a sentence: `in the last 30 days`. */
  readonly span: string;
}

const PAGE_ROWS = 20;

/** Those who paid a wallet, or were paid by it, largest sums first, each with a link to the pair. */
export function CounterpartyTable({ wallet, party, window, chain, span }: CounterpartyTableProps) {
  const { rows, ...list } = useCursorList<Counterparties, Counterparty>(
    `/entities/${segment(wallet)}/counterparties`,
    { role: party, window, chain, limit: PAGE_ROWS },
    ({ counterparties }) => counterparties,
  );
  const title = party === 'payee' ? 'Payers' : 'Payees';
  return (
    <section aria-labelledby="counterparties-title">
      <h2 id="counterparties-title">
        {title} <span class="muted h2-note">{span}</span>
      </h2>
      <DataTable
        caption={`${title} ${span}, largest sum first`}
        columns={columnsOf(wallet, party, { window, chain })}
        rows={rows}
        keyOf={({ wallet: other }) => other}
        list={{ what: party === 'payee' ? 'payers' : 'payees', ...list }}
        empty={
          <p class="state muted">
            {party === 'payee' ? 'No other wallet paid it' : 'It paid no other wallet'} {span}. Payments to
            itself are not listed here.
          </p>
        }
      />
    </section>
  );
}

const NO_QUERY = new URLSearchParams();

function columnsOf(
  wallet: string,
  party: WalletRole,
  scope: { readonly window: string; readonly chain: string | null },
): readonly Column<Counterparty>[] {
  const isPayee = party === 'payee';
  const pair = (other: string): string =>
    withQuery(isPayee ? pairPath(other, wallet) : pairPath(wallet, other), NO_QUERY, scope);
  return [
    {
      name: isPayee ? 'Payer' : 'Payee',
      cell: ({ wallet: other, name, name_source: source }) => (
        <>
          <WalletLink wallet={other} party={isPayee ? 'payer' : 'payee'} name={name} />
          {name === null ? null : <span class="source-line">{nameSourceText(source)}</span>}
        </>
      ),
    },
    {
      name: isPayee ? 'Paid it' : 'Was paid',
      isFigure: true,
      cell: (row) => <Money usd={isPayee ? row.inbound_usd : row.outbound_usd} />,
    },
    {
      name: 'Settlements',
      isFigure: true,
      cell: (row) => countText(isPayee ? row.inbound_count : row.outbound_count),
    },
    { name: 'Proven', isFigure: true, priority: 2, cell: ({ proven_usd: usd }) => <Money usd={usd} /> },
    { name: 'Days', isFigure: true, priority: 3, cell: ({ days_active: days }) => countText(days) },
    { name: 'First', priority: 3, cell: ({ first_seen: at }) => <Time at={at} ago /> },
    { name: 'Last', priority: 2, cell: ({ last_seen: at }) => <Time at={at} ago /> },
    {
      name: 'Pair',
      cell: ({ wallet: other }) => <Link to={pair(other)}>Payments</Link>,
    },
  ];
}
