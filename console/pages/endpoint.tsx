import { unobservedMeaning } from '../../core/domain/unobserved.ts';
import { isAddressText } from '../account-texts.ts';
import { segment } from '../api.ts';
import { Chip } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { chainText, countText, groupDigits, shortAddress } from '../format.ts';
import { CallEndpoint } from '../parts/call-endpoint.tsx';
import { ImplausibleMark, NotObserved } from '../parts/endpoint-table.tsx';
import { PayAnswer } from '../parts/pay-answer.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import { Link, useTitle } from '../router.tsx';
import { endpointPath, type PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
import type { Endpoint, Endpoints, EntitySettlements, Settlement } from '../wire.ts';

type Offer = Endpoint['accepts'][number];
type Claimant = Endpoint['claimants'][number];

/** One listed resource: who is to be paid, for how much, and what was observed. Its URL is the `url` of the address. */
export function EndpointPage({ params, query }: PageProps) {
  const url = query.get('url');
  const host = params['host'] ?? '';
  const { answer, problem, reload } = useAnswer<Endpoints>(url === null ? null : '/endpoints', {
    query: { resource: url },
  });
  const found = answer?.endpoints ?? [];
  const endpoint = found.find(({ method }) => method === query.get('method')) ?? found[0] ?? null;
  useTitle(endpoint?.service_name ?? url ?? host);
  return (
    <>
      <EndpointHead url={url ?? host} endpoint={endpoint} methods={found} />
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {url !== null && answer === null && problem === null ? <Loading what="the endpoint" lines={8} /> : null}
      {url === null || answer?.endpoints.length === 0 ? <NotListed url={url} host={host} /> : null}
      {endpoint === null ? null : <EndpointBody key={endpoint.method} endpoint={endpoint} />}
    </>
  );
}

interface EndpointHeadProps {
  readonly url: string;
  readonly endpoint: Endpoint | null;
  /** The same URL under each of its methods. */
  readonly methods: readonly Endpoint[];
}

/** Names and descriptions are claims of the listings: the page neither loads the URL nor links to it. */
function EndpointHead({ url, endpoint, methods }: EndpointHeadProps) {
  return (
    <header class="entity-head">
      <div class="entity-title">
        <p class="kicker">Endpoint</p>
        <h1>{endpoint?.service_name ?? <span class="mono">{url}</span>}</h1>
        <p class="wallet-line">
          <span class="mono wallet-whole">
            {endpoint === null ? null : `${endpoint.method} `}
            {url}
          </span>
          <CopyButton text={url} what="URL" />
          {endpoint?.service_name ? <span class="source-line">named by its listing</span> : null}
        </p>
        {endpoint === null || endpoint.description === null ? null : (
          <p class="note">{endpoint.description}</p>
        )}
        {endpoint === null ? null : <EndpointChips endpoint={endpoint} />}
      </div>
      {methods.length < 2 ? null : (
        <nav class="segmented" aria-label="HTTP method">
          {methods.map(({ method }) => (
            <Link key={method} to={endpointPath(url, method)} current={method === endpoint?.method}>
              {method}
            </Link>
          ))}
        </nav>
      )}
    </header>
  );
}

function EndpointChips({ endpoint }: { readonly endpoint: Endpoint }) {
  return (
    <p class="tags">
      {endpoint.published_by_domain ? (
        <Chip tone="good" title="The domain publishes the headline offer in its own /.well-known/x402.">
          published by its domain
        </Chip>
      ) : null}
      {endpoint.contested ? (
        <Chip tone="warn" title="Listings name more than one address to be paid.">
          contested
        </Chip>
      ) : null}
      {endpoint.stale ? (
        <Chip tone="warn" title="No source that lists it has answered well of late: it may be outdated.">
          stale
        </Chip>
      ) : null}
      {endpoint.capabilities.map((slug) => (
        <Chip key={slug} to={`/capabilities/${slug}`}>
          {slug}
        </Chip>
      ))}
      {endpoint.tags.map((tag) => (
        <Chip key={`tag ${tag}`} title="A tag of its listing">
          #{tag}
        </Chip>
      ))}
    </p>
  );
}

function NotListed({ url, host }: { readonly url: string | null; readonly host: string }) {
  return (
    <EmptyState
      title={url === null ? 'No URL in this address' : 'No source lists this URL'}
      actions={
        <>
          <Link class="button" to={`/endpoints?q=${encodeURIComponent(host)}`}>
            Endpoints of {host}
          </Link>
          <Link to="/endpoints">All endpoints</Link>
        </>
      }
    >
      <p>
        An endpoint is listed when a facilitator’s discovery, the domain’s own <code>/.well-known/x402</code>{' '}
        or the catalogue of this service names it.
      </p>
    </EmptyState>
  );
}

function EndpointBody({ endpoint }: { readonly endpoint: Endpoint }) {
  const { pay_to: payTo } = endpoint;
  const headline = headlineOffer(endpoint);
  const payee = payTo !== null && isAddressText(payTo) ? payTo : null;
  return (
    <>
      <EndpointFigures endpoint={endpoint} chain={headline?.chain ?? null} />
      {payee !== null ? <PayAnswer wallet={payee} chain={null} title="Should I pay its payee?" /> : null}
      <CallEndpoint endpoint={endpoint} />
      <section aria-labelledby="offers-title">
        <h2 id="offers-title">Offers</h2>
        <DataTable
          caption="Ways to pay, cheapest first"
          columns={offerColumns(headline)}
          rows={endpoint.accepts}
          keyOf={(offer) =>
            [offer.scheme, offer.network, offer.asset, offer.pay_to, offer.amount, offer.source].join(' ')
          }
        />
      </section>
      <section aria-labelledby="claimants-title">
        <h2 id="claimants-title">
          Who asks to be paid{' '}
          <span class="muted h2-note">{endpoint.contested ? 'listings disagree' : 'listings agree'}</span>
        </h2>
        <DataTable
          caption="Every address that a listing of this resource names"
          columns={CLAIMANT_COLUMNS}
          rows={endpoint.claimants}
          keyOf={({ pay_to: address }) => address}
          empty={<p class="state muted">No listing names an address.</p>}
        />
      </section>
      {payee !== null && headline !== null && endpoint.observed !== null ? (
        <FittingPayments payTo={payee} offer={headline} since={endpoint.observed.since} />
      ) : null}
    </>
  );
}

/** The offer that the price is of. */
function headlineOffer({ accepts, pay_to: payTo, network, price_usd: price }: Endpoint): Offer | null {
  const fitting = accepts.filter((offer) => offer.pay_to === payTo && offer.network === network);
  return fitting.find(({ price_usd: usd }) => usd === price) ?? fitting[0] ?? null;
}

interface EndpointFiguresProps {
  readonly endpoint: Endpoint;
  /** The chain of the headline offer; null for a network that is no EVM chain. */
  readonly chain: string | null;
}

function EndpointFigures({ endpoint, chain }: EndpointFiguresProps) {
  const { price_usd: price, observed, payee_observed: payee, network } = endpoint;
  const others = observed?.resources_on_same_terms ?? 0;
  return (
    <>
      <Stats>
        <Stat name="Price" note={`on ${chain === null ? network : chainText(chain)}`}>
          {price === null ? 'not in dollars' : <Money usd={price} />}
          {endpoint.price_implausible ? <ImplausibleMark /> : null}
        </Stat>
        <ObservedStats endpoint={endpoint} />
        <Stat
          name="Its payee, for anything"
          note={`${countText(payee.settlement_count_30d)} payments of ${countText(payee.unique_payers_30d)} payers, 30 days`}
        >
          <Money usd={payee.settled_usd_30d} />
        </Stat>
        <Stat name="Listing changed">
          {endpoint.last_updated === null ? 'not stated' : <Time at={endpoint.last_updated} ago />}
        </Stat>
      </Stats>
      {others === 0 ? null : (
        <p class="note muted">
          {countText(others)} more {others === 1 ? 'resource' : 'resources'} of this origin ask the same price
          at the same address. Payments do not say which of them they were for, so each shows all.
        </p>
      )}
    </>
  );
}

function ObservedStats({ endpoint }: { readonly endpoint: Endpoint }) {
  const { observed, unobserved_reason: reason } = endpoint;
  if (observed === null)
    return (
      <Stat name="Payments, 30 days" note={reason === null ? '' : unobservedMeaning(reason)}>
        not observed
      </Stat>
    );
  return (
    <>
      <Stat name="Payments, 30 days" note={`of ${countText(observed.unique_payers_30d)} payers`}>
        {countText(observed.settlement_count_30d)}
      </Stat>
      <Stat
        name="Dollars, 30 days"
        note={endpoint.contested ? 'to the address above' : 'on the offers below'}
      >
        <Money usd={observed.settled_usd_30d} />
      </Stat>
      <Stat name="Last paid">
        {observed.last_settled_at === null ? 'never seen' : <Time at={observed.last_settled_at} ago />}
      </Stat>
    </>
  );
}

function offerColumns(headline: Offer | null): readonly Column<Offer>[] {
  return [
    {
      name: 'Price',
      cell: (offer) => (
        <>
          {offer.scheme === 'upto' ? <span class="muted">up to </span> : null}
          {offer.price_usd === null ? (
            <span class="muted">not in dollars</span>
          ) : (
            <Money usd={offer.price_usd} />
          )}
        </>
      ),
    },
    { name: 'Paid to', cell: ({ pay_to: payTo }) => <PaidTo address={payTo} /> },
    {
      name: 'Network',
      cell: ({ network, chain }) => (
        <span title={network}>{chain === null ? network : chainText(chain)}</span>
      ),
    },
    {
      name: 'Amount',
      isFigure: true,
      priority: 3,
      cell: ({ amount, asset }) => (
        <span title={`Atomic units of ${asset}`}>{amount === null ? '–' : groupDigits(amount)}</span>
      ),
    },
    {
      name: 'Payments, 30 days',
      isFigure: true,
      cell: (offer) =>
        offer.settlement_count_30d === null ? (
          <NotObserved endpoint={offer} />
        ) : (
          countText(offer.settlement_count_30d)
        ),
    },
    { name: 'Scheme', priority: 2, cell: ({ scheme }) => scheme },
    {
      name: 'Valid for',
      isFigure: true,
      priority: 3,
      cell: ({ max_timeout_seconds: seconds }) => (seconds === 0 ? '–' : `${countText(seconds)} s`),
    },
    {
      name: 'Listed by',
      priority: 2,
      cell: (offer) => (
        <>
          {offer.source}{' '}
          {offer === headline ? <Chip title="The price above is of this offer">headline</Chip> : null}
        </>
      ),
    },
  ];
}

/** Chains that are not indexed have addresses of other forms, which have no page. */
function PaidTo({ address }: { readonly address: string | null }) {
  if (address === null) return <span class="muted">not published</span>;
  if (isAddressText(address)) return <WalletLink wallet={address} party="payee" />;
  return (
    <span class="mono" title={address}>
      {shortAddress(address)}
    </span>
  );
}

const CLAIMANT_COLUMNS: readonly Column<Claimant>[] = [
  { name: 'Address', cell: ({ pay_to: payTo }) => <PaidTo address={payTo} /> },
  {
    name: 'Proof',
    cell: ({ published_by_domain: isPublished }) =>
      isPublished ? (
        <Chip tone="good" title="/.well-known/x402 of the resource’s own origin says so.">
          published by its domain
        </Chip>
      ) : (
        <span class="muted">a listing says so</span>
      ),
  },
  { name: 'Payments, 30 days', isFigure: true, cell: ({ settlement_count_30d: count }) => countText(count) },
  { name: 'Networks', priority: 2, cell: ({ networks }) => networks.map(chainText).join(', ') },
  { name: 'Listed by', priority: 2, cell: ({ sources }) => sources.join(', ') },
  { name: 'Listed', priority: 3, cell: ({ listed_since: at }) => <Time at={at} ago /> },
];

const PAGE_ROWS = 20;

interface FittingPaymentsProps {
  readonly payTo: string;
  readonly offer: Offer;
  readonly since: string;
}

/** Payments to the payee in the asset and at the price of the headline offer: the payments that activity counts, newest first. */
function FittingPayments({ payTo, offer, since }: FittingPaymentsProps) {
  const { chain, asset, price_usd: price, scheme } = offer;
  const canAsk = chain !== null && isAddressText(asset) && price !== null;
  const { rows, ...list } = useCursorList<EntitySettlements, Settlement>(
    canAsk ? `/entities/${segment(payTo)}/settlements` : null,
    {
      role: 'payee',
      chain,
      asset,
      since,
      max_usd: price,
      ...(scheme === 'upto' ? {} : { min_usd: price }),
      limit: PAGE_ROWS,
    },
    ({ settlements }) => settlements,
  );
  if (!canAsk) return null;
  return (
    <section aria-labelledby="fitting-title">
      <h2 id="fitting-title">
        Payments that fit the headline offer <span class="muted h2-note">whatever their evidence</span>
      </h2>
      <SettlementTable
        caption="Payments to the payee at this price, newest first"
        rows={rows}
        own="payee"
        list={{ what: 'payments that fit the offer', ...list }}
      />
    </section>
  );
}
