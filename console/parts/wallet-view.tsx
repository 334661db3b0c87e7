import { segment } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Time } from '../components/figures.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { chainText, countText, timeText, usdText } from '../format.ts';
import { useTitle } from '../page-title.ts';
import { Link } from '../router.tsx';
import { useAnswer } from '../use-answer.ts';
import { AgentCard } from './agent-card.tsx';
import { Counterparties } from './counterparties.tsx';
import { DailyChart } from './daily-chart.tsx';
import { DataQualityCard } from './data-quality.tsx';
import { EvidenceBreakdown } from './evidence-breakdown.tsx';
import { Figure } from './figure.tsx';
import { FilterForm, SelectFilter } from './filters.tsx';
import { Identicon } from './identicon.tsx';
import { useChainOptions } from './use-chains.ts';
import { type WalletRole, walletPath } from './wallet-link.tsx';
import { useWalletSettlements, WalletSettlements } from './wallet-settlements.tsx';
import { walletSqlPath } from './wallet-sql.ts';
import type { Entity, ProfileAnswer } from './wire.ts';

interface WalletViewProps {
  readonly wallet: string;
  /** `payee`: judged as a merchant. `payer`: judged as an agent. */
  readonly party: WalletRole;
  readonly query: URLSearchParams;
}

/** A wallet in one of its roles. */
export function WalletView({ wallet, party, query }: WalletViewProps) {
  const chain = query.get('chain');
  const path = party === 'payee' ? `/merchants/${segment(wallet)}` : `/agents/${segment(wallet)}`;
  const { answer, problem, reload } = useAnswer<ProfileAnswer>(path, { query: { chain } });
  const address = answer?.wallet ?? wallet;
  const name = answer === null ? null : nameOf(answer);
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

/** As everywhere: an agent's card before a catalogue's name. */
function nameOf({ erc8004_agents: agents, entities }: ProfileAnswer): string | null {
  return agents.find((agent) => agent.name)?.name ?? entities.find((entity) => entity.name)?.name ?? null;
}

interface WalletHeadProps {
  readonly wallet: string;
  readonly party: WalletRole;
  readonly name: string | null;
  readonly profile: ProfileAnswer | null;
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

/** What the catalogues know of the address, each kind once. */
function entityTexts(entities: readonly Entity[]): string[] {
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

/** Figures are about one chain unless somebody wants all added up; without a choice there is nothing to choose. */
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

/** Lists and the graph are about the chain that the figures are about; null for all. */
function WalletBody({ profile, party }: { readonly profile: ProfileAnswer; readonly party: WalletRole }) {
  const { chain } = profile.meta;
  const { wallet, coverage, aggregates, erc8004_agents: agents } = profile;
  const settlements = useWalletSettlements(coverage.known ? wallet : null, party, chain);
  if (!coverage.known && agents.length === 0) return <UnknownWallet />;
  return (
    <>
      {coverage.known ? <WalletFigures profile={profile} /> : <UnknownWallet />}
      {coverage.known ? (
        <div class="panel chart-panel">
          <DailyChart days={aggregates.daily} />
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
              <AgentCard key={`${agent.chain}/${agent.agent_id}`} agent={agent} isOnItsWallet />
            ))}
          </div>
        </section>
      )}
      {coverage.known ? <Counterparties wallet={wallet} chain={chain} /> : null}
      {coverage.known ? <WalletSettlements settlements={settlements} party={party} /> : null}
    </>
  );
}

/** Not an error: the index has no settlement of it, which can mean several things. */
function UnknownWallet() {
  return (
    <EmptyState title="The index has no settlement of this wallet">
      <p>
        It was never paid and never paid anybody over x402, or not yet indexed, or not on a chain that is
        indexed here.
      </p>
    </EmptyState>
  );
}

function WalletFigures({ profile: { aggregates, coverage, meta } }: { readonly profile: ProfileAnswer }) {
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
