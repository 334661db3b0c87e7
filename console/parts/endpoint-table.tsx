import { Time } from '../components/figures.tsx';
import { countText, usdText } from '../format.ts';
import { Link } from '../router.tsx';
import { Cell } from './settlement-table.tsx';
import { WalletLink } from './wallet-link.tsx';
import type { Endpoint } from './wire.ts';

const FIGURES = ['Price', '30-day settlements', '30-day payers', '30-day dollars'];

/** Everything but what was observed is what listings say; nothing of theirs is loaded or linked to. */
export function EndpointTable({
  caption,
  endpoints,
}: {
  readonly caption: string;
  readonly endpoints: readonly Endpoint[];
}) {
  return (
    <div class="table-wrap">
      <table class="data endpoints">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">Paid to</th>
            {FIGURES.map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
            <th scope="col">Last paid</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow key={`${endpoint.method} ${endpoint.resource}`} endpoint={endpoint} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EndpointRow({ endpoint }: { readonly endpoint: Endpoint }) {
  const { observed } = endpoint;
  return (
    <tr>
      <Cell name="Resource" class="resource">
        <strong>{endpoint.service_name ?? hostOf(endpoint.resource)}</strong>
        <span class="mono small resource-url">
          <span class="muted">{endpoint.method}</span> {endpoint.resource}
        </span>
        {endpoint.description === null ? null : <span class="clamp small">{endpoint.description}</span>}
        <span class="tags">
          {endpoint.stale ? <span class="badge verdict-mixed">stale</span> : null}
          {endpoint.capabilities.map((slug) => (
            <Link key={slug} class="badge quiet" to={`/capabilities/${slug}`}>
              {slug}
            </Link>
          ))}
        </span>
      </Cell>
      <Cell name="Paid to">
        <PaidTo endpoint={endpoint} />
        <ClaimMark endpoint={endpoint} />
      </Cell>
      <Cell name="Price" class="number">
        {endpoint.price_usd === null ? (
          <span class="muted">not in dollars</span>
        ) : (
          usdText(endpoint.price_usd)
        )}
      </Cell>
      <Cell name="30-day settlements" class="number">
        {countText(observed.settlement_count_30d)}
      </Cell>
      <Cell name="30-day payers" class="number">
        {countText(observed.unique_payers_30d)}
      </Cell>
      <Cell name="30-day dollars" class="number">
        {usdText(observed.settled_usd_30d)}
        {observed.resources_on_same_terms > 0 ? (
          <SameTermsMark count={observed.resources_on_same_terms} />
        ) : null}
      </Cell>
      <Cell name="Last paid">
        {observed.last_settled_at === null ? (
          <span class="muted">never seen</span>
        ) : (
          <Time at={observed.last_settled_at} ago />
        )}
      </Cell>
    </tr>
  );
}

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/;

/** Offers on chains that are not indexed have addresses of other kinds, without a page. */
function PaidTo({ endpoint }: { readonly endpoint: Endpoint }) {
  if (EVM_ADDRESS.test(endpoint.pay_to)) return <WalletLink wallet={endpoint.pay_to} party="payee" />;
  return (
    <span class="mono clamp" title={endpoint.network}>
      {endpoint.pay_to}
    </span>
  );
}

/** Whether who is to be paid is disputed, and whether the domain itself has said so. */
function ClaimMark({ endpoint }: { readonly endpoint: Endpoint }) {
  const { contested, published_by_domain: isPublished, claimants } = endpoint;
  return (
    <>
      {contested ? (
        <span
          class="badge verdict-mixed"
          title={`Listings name ${claimants.length} addresses to be paid: ${claimants.map((one) => one.pay_to).join(', ')}`}
        >
          contested
        </span>
      ) : null}
      {isPublished ? (
        <span class="badge tier-proven" title="The domain’s own /.well-known/x402 publishes this offer.">
          by its domain
        </span>
      ) : null}
    </>
  );
}

function SameTermsMark({ count }: { readonly count: number }) {
  return (
    <span
      class="badge quiet"
      title={`${countText(count)} more resources of this origin ask the same price at the same address; each of them shows the whole.`}
    >
      shared
    </span>
  );
}

function hostOf(resource: string): string {
  try {
    return new URL(resource).host;
  } catch {
    return resource;
  }
}
