import { unobservedMeaning } from '../../core/domain/unobserved.ts';
import { isAddressText } from '../account-texts.ts';
import { Chip } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import type { List } from '../components/list-state.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { countText } from '../format.ts';
import { Link } from '../router.tsx';
import { endpointPath, hostOf } from '../routes.ts';
import type { Endpoint } from '../wire.ts';
import { WalletLink } from './wallet-link.tsx';

interface EndpointTableProps {
  readonly caption: string;
  readonly rows: readonly Endpoint[] | null;
  readonly list?: List;
}

/** All texts but the 30-day figures are claims of the listings: the page neither loads nor links to their URLs. */
export function EndpointTable(props: EndpointTableProps) {
  return <DataTable {...props} columns={COLUMNS} keyOf={({ method, resource }) => `${method} ${resource}`} />;
}

const COLUMNS: readonly Column<Endpoint>[] = [
  { name: 'Resource', class: 'resource', cell: (endpoint) => <Resource endpoint={endpoint} /> },
  { name: 'Paid to', cell: (endpoint) => <PaidTo endpoint={endpoint} /> },
  {
    name: 'Price',
    isFigure: true,
    cell: ({ price_usd: usd, price_implausible: isImplausible }) => (
      <>
        {usd === null ? <span class="muted">not in dollars</span> : <Money usd={usd} />}
        {isImplausible ? <ImplausibleMark /> : null}
      </>
    ),
  },
  {
    name: '30-day settlements',
    isFigure: true,
    priority: 2,
    cell: (endpoint) =>
      endpoint.observed === null ? (
        <NotObserved endpoint={endpoint} />
      ) : (
        countText(endpoint.observed.settlement_count_30d)
      ),
  },
  {
    name: '30-day payers',
    isFigure: true,
    priority: 2,
    cell: ({ observed }) => (observed === null ? '–' : countText(observed.unique_payers_30d)),
  },
  {
    name: '30-day dollars',
    isFigure: true,
    cell: ({ observed }) =>
      observed === null ? (
        '–'
      ) : (
        <>
          <Money usd={observed.settled_usd_30d} />
          {observed.resources_on_same_terms > 0 ? (
            <SharedMark others={observed.resources_on_same_terms} />
          ) : null}
        </>
      ),
  },
  {
    name: 'Last paid',
    cell: ({ observed }) => {
      if (observed === null) return '–';
      const { last_settled_at: at } = observed;
      return at === null ? <span class="muted">never seen</span> : <Time at={at} ago />;
    },
  },
];

function Resource({ endpoint }: { readonly endpoint: Endpoint }) {
  return (
    <>
      <Link class="resource-name" to={endpointPath(endpoint.resource, endpoint.method)}>
        {endpoint.service_name ?? hostOf(endpoint.resource)}
      </Link>
      <span class="mono small resource-url">
        <span class="muted">{endpoint.method}</span> {endpoint.resource}
      </span>
      {endpoint.description === null ? null : <span class="clamp small">{endpoint.description}</span>}
      <span class="tags">
        {endpoint.stale ? <Chip tone="warn">stale</Chip> : null}
        {endpoint.capabilities.map((slug) => (
          <Chip key={slug} to={`/capabilities/${slug}`}>
            {slug}
          </Chip>
        ))}
      </span>
    </>
  );
}

function Payee({ pay_to: payTo, network }: Pick<Endpoint, 'pay_to' | 'network'>) {
  if (payTo === null) return <span class="muted">not published</span>;
  if (isAddressText(payTo)) return <WalletLink wallet={payTo} party="payee" />;
  // Chains that are not indexed have addresses of other forms, which have no page.
  return (
    <span class="mono clamp" title={network}>
      {payTo}
    </span>
  );
}

/** The payee, whether listings disagree about it, and whether the domain itself publishes the offer. */
function PaidTo({ endpoint }: { readonly endpoint: Endpoint }) {
  const { contested, published_by_domain: isPublished, claimants } = endpoint;
  return (
    <>
      <Payee {...endpoint} />
      {contested ? (
        <Chip
          tone="warn"
          title={`Listings name ${claimants.length} different payees: ${claimants.map((one) => one.pay_to).join(', ')}`}
        >
          contested
        </Chip>
      ) : null}
      {isPublished ? (
        <Chip tone="good" title="The domain publishes this offer in its own /.well-known/x402.">
          by its domain
        </Chip>
      ) : null}
    </>
  );
}

/** Not 0: this service could not have seen a payment. */
export function NotObserved({ endpoint }: { readonly endpoint: Pick<Endpoint, 'unobserved_reason'> }) {
  const reason = endpoint.unobserved_reason;
  return (
    <span class="muted" {...(reason === null ? {} : { title: unobservedMeaning(reason) })}>
      not observed
    </span>
  );
}

export function ImplausibleMark() {
  return (
    <Chip tone="warn" title="Most likely the listing mistakes the units of its amount.">
      implausible
    </Chip>
  );
}

function SharedMark({ others }: { readonly others: number }) {
  return (
    <Chip
      title={`${countText(others)} more resources of this origin ask the same price at the same address. A payment does not show for which one it was, so each resource shows the total.`}
    >
      shared
    </Chip>
  );
}
