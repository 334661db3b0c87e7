import type { ComponentChildren } from 'preact';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Time } from '../components/time.tsx';
import { settlementKey } from '../flow/live-copy.ts';
import { useLiveFlow } from '../flow/use-live-flow.ts';
import { chainText } from '../format.ts';
import { FacilitatorSwatch } from '../parts/facilitator-swatch.tsx';
import { LiveSign } from '../parts/live-sign.tsx';
import { SettlementAmount } from '../parts/settlement-amount.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import { Link } from '../router.tsx';
import type { BoardPanel, Settlement } from '../wire.ts';

const PAYMENTS_SHOWN = 10;
/** Problems that a key solves: readers without one see the kept rows. */
const NEEDS_KEY: ReadonlySet<string> = new Set(['payment_required', 'api_key_required', 'insufficient_qu']);

interface NewestPaymentsProps extends Pick<BoardPanel, 'title' | 'width'> {
  /** For readers who may not list payments: the kept rows. */
  readonly children: ComponentChildren;
}

/** The newest payments of every chain, as they arrive. */
export function NewestPayments({ title, width, children }: NewestPaymentsProps) {
  const flow = useLiveFlow({ most: PAYMENTS_SHOWN });
  const { rows, meta, problem, reload, isNew } = flow;
  if (problem !== null && NEEDS_KEY.has(problem.body.code)) return <>{children}</>;
  return (
    <section class={`panel move-card board-panel is-${width}`} aria-labelledby="newest-payments">
      <header>
        <h2 id="newest-payments">{title}</h2>
        <span class="move-links">
          <LiveSign isAsking={flow.isAsking} hasProblem={problem !== null} />
          <Link to="/flow">
            All<span class="visually-hidden">: newest payments</span>
          </Link>
        </span>
      </header>
      <DataTable
        caption={title}
        class="compact move"
        columns={PAYMENT_COLUMNS}
        rows={rows}
        keyOf={settlementKey}
        rowClass={(row) => (isNew(settlementKey(row)) ? 'is-new' : undefined)}
        skeletonRows={PAYMENTS_SHOWN}
        list={{ what: 'payments', meta, problem, reload }}
      />
    </section>
  );
}

const PAYMENT_COLUMNS: readonly Column<Settlement>[] = [
  {
    name: 'Time',
    class: 'muted',
    cell: ({ block_time: at, chain }) => (
      <span title={chainText(chain)}>
        <Time at={at} ago />
      </span>
    ),
  },
  {
    name: 'Payee',
    class: 'move-subject',
    isRowHeader: true,
    cell: ({ payee, payee_name: name, payee_name_source: source }) => (
      <WalletLink wallet={payee} party="payee" name={name} source={source} />
    ),
  },
  {
    name: 'Via',
    cell: ({ facilitator: id, facilitator_name: name }) => (
      <span class="facilitator" title={id === null ? 'No named facilitator' : (name ?? id)}>
        <FacilitatorSwatch id={id} />
        <span class="visually-hidden">{name ?? id ?? 'not named'}</span>
      </span>
    ),
  },
  { name: 'Amount', isFigure: true, cell: (row) => <SettlementAmount row={row} /> },
];
