import { segment } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Figure, Time } from '../components/figures.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { chainText, countText, timeText, usdText } from '../format.ts';
import { AgentCard } from '../parts/agents.tsx';
import { Counterparties } from '../parts/counterparties.tsx';
import { DailyChart } from '../parts/daily-chart.tsx';
import { DataQualityCard } from '../parts/data-quality.tsx';
import { EvidenceBreakdown } from '../parts/evidence.tsx';
import { FilterForm, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { Identicon } from '../parts/wallet-link.tsx';
import { Link, useTitle } from '../router.tsx';
import { type PageProps, type WalletRole, walletPath } from '../routes.ts';
import { DEFAULT_TIER, fragmentOf } from '../sql/query-text.ts';
import { useAnswer } from '../use-answer.ts';
import { type CursorList, useCursorList } from '../use-list.ts';
import type { EntitySettlements, Profile, Settlement } from '../wire.ts';

/** A wallet in the role of a payee. */
export function MerchantPage({ params, query }: PageProps) {
  const wallet = params['address'] ?? '';
  return <WalletView key={wallet} wallet={wallet} party="payee" query={query} />;
}

/** A wallet in the role of a payer. */
export function AgentPage({ params, query }: PageProps) {
  const wallet = params['wallet'] ?? '';
  return <WalletView key={wallet} wallet={wallet} party="payer" query={query} />;
}

interface WalletViewProps {
  readonly wallet: string;
  /** A payee is judged as a merchant, a payer as an agent. */
  readonly party: WalletRole;
  readonly query: URLSearchParams;
}

function WalletView({ wallet, party, query }: WalletViewProps) {
  const chain = query.get('chain');
  const path = party === 'payee' ? `/merchants/${segment(wallet)}` : `/agents/${segment(wallet)}`;
  const { answer, problem, reload } = useAnswer<Profile>(path, { query: { chain } });
  const address = answer?.wallet ?? wallet;
  const name = answer?.name ?? null;
  useTitle(`${name ?? wallet} as ${party === 'payee' ? 'merchant' : 'agent'}`);
  return (
    <>
      <WalletHead wallet={address} party={party} name={name} profile={answer} />
      <ChainChoice wallet={address} party={party} query={query} />
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the wallet" /> : null}
      {answer === null ? null : <WalletBody key={`${address} ${chain}`} profile={answer} party={party} />}
    </>
  );
}

interface WalletHeadProps {
  readonly wallet: string;
  readonly party: WalletRole;
  readonly name: string | null;
  readonly profile: Profile | null;
}

function WalletHead({ wallet, party, name, profile }: WalletHeadProps) {
  return (
    <header class="wallet-head">
      <Identicon address={wallet} size={52} />
      <div class="wallet-title">
        <h1>{name ?? <span class="mono">{wallet}</span>}</h1>
        <p class="wallet-line">
          {name === null ? null : <span class="mono wallet-whole">{wallet}</span>}
          <CopyButton text={wallet} what="address" />
          {entityTexts(profile?.entities ?? []).map((text) => (
            <span key={text} class="badge quiet">
              {text}
            </span>
          ))}
        </p>
      </div>
      <nav class="segmented" aria-label="Judged as">
        <Link to={walletPath(wallet, 'payee')} current={party === 'payee'}>
          As merchant
        </Link>
        <Link to={walletPath(wallet, 'payer')} current={party === 'payer'}>
          As agent
        </Link>
      </nav>
      <Link class="button" to={walletSqlPath(wallet, party)}>
        Query this in SQL
      </Link>
    </header>
  );
}

/** The entries of the catalogues for the address, each kind once. */
function entityTexts(entities: Profile['entities']): string[] {
  const endpoints = entities.filter(({ kind }) => kind === 'endpoint').length;
  const relayers = entities
    .filter(({ kind }) => kind === 'relayer')
    .map(({ name, facilitator }) => `relayer of ${name ?? facilitator ?? 'a facilitator'}`);
  return [
    ...(entities.some(({ kind }) => kind === 'payee') ? ['catalogued payee'] : []),
    ...new Set(relayers),
    ...(endpoints === 0 ? [] : [`${countText(endpoints)} ${endpoints === 1 ? 'endpoint' : 'endpoints'}`]),
  ];
}

/** The chain of the figures, or the sum over all chains. Hidden where there is only one chain. */
function ChainChoice({ wallet, party, query }: WalletViewProps) {
  const chains = useChainOptions('default chain');
  if (chains.length <= 2) return null;
  return (
    <FilterForm label="Chain of the figures">
      <SelectFilter
        path={walletPath(wallet, party)}
        query={query}
        label="Chain"
        name="chain"
        options={[...chains, { value: 'all', label: 'all, added up' }]}
      />
    </FilterForm>
  );
}

function WalletBody({ profile, party }: { readonly profile: Profile; readonly party: WalletRole }) {
  // Lists and the graph are about the chain of the figures; null for all.
  const { chain } = profile.meta;
  const { wallet, coverage, aggregates, erc8004_agents: agents } = profile;
  const settlements = useWalletSettlements(coverage.known ? wallet : null, party, chain);
  if (!coverage.known && agents.length === 0) return <UnknownWallet />;
  return (
    <>
      {coverage.known ? <WalletFigures profile={profile} /> : <UnknownWallet />}
      {coverage.known ? (
        <div class="panel chart-panel">
          <DailyChart aggregates={aggregates} />
        </div>
      ) : null}
      {coverage.known ? (
        <div class="columns">
          <DataQualityCard quality={profile.data_quality} />
          <EvidenceBreakdown aggregates={aggregates} party={party} rows={settlements.rows ?? []} />
        </div>
      ) : null}
      {agents.length === 0 ? null : (
        <section aria-labelledby="agents-title">
          <h2 id="agents-title">ERC-8004 identities ({countText(profile.erc8004_agents_total)})</h2>
          <div class="cards">
            {agents.map((agent) => (
              <AgentCard key={`${agent.chain}/${agent.agent_id}`} agent={agent} />
            ))}
          </div>
        </section>
      )}
      {coverage.known ? <Counterparties wallet={wallet} chain={chain} /> : null}
      {coverage.known ? <WalletSettlements settlements={settlements} party={party} /> : null}
    </>
  );
}

/** Not an error: a wallet without settlements is an answer of the API. */
function UnknownWallet() {
  return (
    <EmptyState title="The index has no settlement of this wallet">
      <p>
        It may never have paid or been paid over x402, its settlements may not be indexed yet, or they may be
        on a chain that is not indexed here.
      </p>
    </EmptyState>
  );
}

function WalletFigures({ profile: { aggregates, coverage, meta } }: { readonly profile: Profile }) {
  const isEstimated = aggregates.basis.distinct_counterparties === 'estimated';
  return (
    <dl class="figures panel figures-panel">
      <Figure name="Received" note={`${countText(aggregates.inbound_count)} settlements`}>
        {usdText(aggregates.inbound_usd)}
      </Figure>
      <Figure name="Paid" note={`${countText(aggregates.outbound_count)} settlements`}>
        {usdText(aggregates.outbound_usd)}
      </Figure>
      <Figure name="Organic" note="without payments to itself">
        {usdText(aggregates.organic_usd)}
      </Figure>
      <Figure name="To itself">{usdText(aggregates.self_payment_usd)}</Figure>
      <Figure name="Counterparties" {...(isEstimated ? { note: 'estimated' } : {})}>
        {isEstimated ? '≈ ' : ''}
        {countText(aggregates.distinct_counterparties)}
      </Figure>
      {coverage.first_seen === null || coverage.last_seen === null ? null : (
        <Figure name="Last seen" note={`first ${timeText(coverage.first_seen)}`}>
          <Time at={coverage.last_seen} ago />
        </Figure>
      )}
      {meta.chain === null ? null : <Figure name="Chain">{chainText(meta.chain)}</Figure>}
    </dl>
  );
}

const PAGE_ROWS = 50;

/** The wallet's settlements in one role, newest first. A wallet of null reads nothing. */
function useWalletSettlements(wallet: string | null, party: WalletRole, chain: string | null) {
  return useCursorList<EntitySettlements, Settlement>(
    wallet === null ? null : `/entities/${segment(wallet)}/settlements`,
    { role: party, chain, limit: PAGE_ROWS },
    ({ settlements }) => settlements,
  );
}

interface WalletSettlementsProps {
  readonly settlements: CursorList<Settlement>;
  readonly party: WalletRole;
}

function WalletSettlements({ settlements: { rows, ...list }, party }: WalletSettlementsProps) {
  const title = party === 'payee' ? 'Settlements received' : 'Settlements paid';
  return (
    <section aria-labelledby="settlements-title">
      <h2 id="settlements-title">{title}</h2>
      <SettlementTable
        caption={`${title}, newest first`}
        rows={rows}
        own={party}
        list={{ what: 'settlements in this role', ...list }}
      />
    </section>
  );
}

const COUNTERPARTIES_SQL = `SELECT counterparty, count() AS settlements, sum(amount_usd) AS usd, max(block_time) AS newest
FROM wallet_settlements
WHERE wallet = {wallet:String} AND role = {role:String}
GROUP BY counterparty
ORDER BY usd DESC
LIMIT 100`;

/** The SQL page with a query about a wallet and its parameters filled in. */
function walletSqlPath(wallet: string, party: WalletRole): string {
  return `/sql${fragmentOf({ sql: COUNTERPARTIES_SQL, tier: DEFAULT_TIER, params: { wallet: wallet.toLowerCase(), role: party } })}`;
}
