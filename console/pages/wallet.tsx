import { keptCase } from '../account-texts.ts';
import { segment } from '../api.ts';
import { useChains } from '../chains.ts';
import { DayChart } from '../chart/day-chart.tsx';
import { COUNT_TYPE, USD_TYPE } from '../chart/spec.ts';
import { Chip } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Identicon } from '../components/identicon.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { chainText, countText, microsOf, shareText, timeText } from '../format.ts';
import { nameSourceText } from '../name-source.ts';
import { AgentCard } from '../parts/agents.tsx';
import { ChainChoice, Narrowed } from '../parts/chain-choice.tsx';
import { WalletChannels } from '../parts/channel-table.tsx';
import { Counterparties } from '../parts/counterparties.tsx';
import { CounterpartyTable } from '../parts/counterparty-table.tsx';
import { DataQualityCard } from '../parts/data-quality.tsx';
import { EvidenceBreakdown } from '../parts/evidence-breakdown.tsx';
import { ExplorerLink } from '../parts/explorer-link.tsx';
import { LinkedWallets } from '../parts/linked-wallets.tsx';
import { PayAnswer } from '../parts/pay-answer.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { UnknownWallet } from '../parts/unknown-wallet.tsx';
import { WindowChoice } from '../parts/window-choice.tsx';
import { WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { Link, useTitle } from '../router.tsx';
import { type PageProps, type WalletRole, walletPath, withQuery } from '../routes.ts';
import { DEFAULT_TIER, fragmentOf } from '../sql/query-text.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
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

const WINDOW_DEFAULT = '30d';

function WalletView({ wallet, party, query }: WalletViewProps) {
  const chain = query.get('chain');
  const window = windowOf(query, WINDOW_DEFAULT);
  const path = party === 'payee' ? `/merchants/${segment(wallet)}` : `/agents/${segment(wallet)}`;
  const { answer, problem, reload } = useAnswer<Profile>(path, { query: { chain, window } });
  const address = answer?.wallet ?? wallet;
  const name = answer?.name ?? null;
  useTitle(`${name ?? wallet} as ${party}`);
  return (
    <>
      <WalletHead wallet={address} party={party} profile={answer} query={query} />
      {/* An answer about an address that the API refused would be refused in the same words. */}
      {party === 'payee' && problem === null ? <PayAnswer wallet={address} chain={chain} /> : null}
      <div class="window-bar">
        <ChainChoice path={walletPath(address, party)} query={query} />
        <WindowChoice path={walletPath(address, party)} query={query} fallback={WINDOW_DEFAULT} />
      </div>
      {answer === null ? null : (
        <Narrowed path={walletPath(address, party)} query={query} elsewhere={answer.elsewhere} />
      )}
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the wallet" lines={8} /> : null}
      {answer === null ? null : (
        <WalletBody
          key={`${address} ${chain}`}
          profile={answer}
          party={party}
          window={window}
          query={query}
          path={withQuery(walletPath(address, party), query, { window: 'all' })}
        />
      )}
    </>
  );
}

interface WalletHeadProps {
  readonly wallet: string;
  readonly party: WalletRole;
  readonly profile: Profile | null;
  readonly query: URLSearchParams;
}

function WalletHead({ wallet, party, profile, query }: WalletHeadProps) {
  const name = profile?.name ?? null;
  return (
    <header class="wallet-head">
      <Identicon address={wallet} size={44} />
      <div class="wallet-title">
        <h1>{name ?? <span class="mono">{wallet}</span>}</h1>
        <p class="wallet-line">
          {name === null ? null : <span class="mono wallet-whole">{wallet}</span>}
          <CopyButton text={wallet} what="address" />
          {name === null ? null : <span class="source-line">{nameSourceText(profile?.name_source)}</span>}
          {entityTexts(profile?.entities ?? []).map((text) => (
            <Chip key={text}>{text}</Chip>
          ))}
        </p>
        <WalletExplorers wallet={wallet} profile={profile} />
      </div>
      <nav class="segmented" aria-label="Role">
        <Link to={withQuery(walletPath(wallet, 'payee'), query, {})} current={party === 'payee'}>
          As payee
        </Link>
        <Link to={withQuery(walletPath(wallet, 'payer'), query, {})} current={party === 'payer'}>
          As payer
        </Link>
      </nav>
      <Link class="button" to={walletSqlPath(wallet, party)}>
        Query this in SQL
      </Link>
    </header>
  );
}

/** One link for each chain on which the wallet has settlements. */
function WalletExplorers({ wallet, profile }: Pick<WalletHeadProps, 'wallet' | 'profile'>) {
  const chains = useChains();
  const shown = (profile?.aggregates.chain_split ?? []).filter(
    ({ chain }) => (chains.get(chain)?.explorerUrl ?? null) !== null,
  );
  if (shown.length === 0) return null;
  return (
    <p class="wallet-line small">
      Explorers:
      {shown.map(({ chain }) => (
        <ExplorerLink key={chain} chain={chain} page="address" id={wallet}>
          {chainText(chain)}
        </ExplorerLink>
      ))}
    </p>
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

interface WalletBodyProps {
  readonly profile: Profile;
  readonly party: WalletRole;
  readonly window: ReturnType<typeof windowOf>;
  readonly query: URLSearchParams;
  /** This page about all of time. */
  readonly path: string;
}

function WalletBody({ profile, party, window, query, path }: WalletBodyProps) {
  // Lists and the graph are about the chain of the figures; null for all.
  const { chain } = profile.meta;
  const { wallet, coverage, in_window: figures, erc8004_agents: agents } = profile;
  const span = WINDOW_DURING[window];
  const isKnown = coverage.known && figures !== undefined;
  const channels =
    profile.channels === undefined ? null : (
      <WalletChannels wallet={wallet} party={party} chain={chain} sides={profile.channels} query={query} />
    );
  const unknown = <UnknownWallet chain={query.get('chain')} hasChannels={channels !== null} />;
  if (!isKnown && agents.length === 0 && channels === null) return unknown;
  return (
    <>
      {isKnown ? (
        <>
          <WalletFigures profile={profile} figures={figures} party={party} span={span} allOfTime={path} />
          <LinkedWallets profile={profile} party={party} />
          <div class="panel chart-panel">
            <DayChart
              title={`Dollars by day, ${span}`}
              days={figures.daily}
              {...figures.daily_window}
              figures={[
                { name: 'received', type: USD_TYPE, value: (day) => day.inbound_usd },
                { name: 'paid', type: USD_TYPE, value: (day) => day.outbound_usd },
                {
                  name: 'settlements received',
                  type: COUNT_TYPE,
                  value: (day) => day.inbound_count,
                  isTableOnly: true,
                },
                {
                  name: 'settlements paid',
                  type: COUNT_TYPE,
                  value: (day) => day.outbound_count,
                  isTableOnly: true,
                },
              ]}
            />
          </div>
          <div class="columns">
            <EvidenceBreakdown figures={figures} party={party} span={span} />
            <DataQualityCard quality={profile.data_quality} />
          </div>
          <CounterpartyTable wallet={wallet} party={party} window={window} chain={chain} span={span} />
          {channels}
          <WalletSettlements
            wallet={wallet}
            party={party}
            chain={chain}
            since={figures.window.since}
            span={span}
          />
        </>
      ) : (
        <>
          {unknown}
          <LinkedWallets profile={profile} party={party} />
          {channels}
        </>
      )}
      <WalletAgents profile={profile} />
      {isKnown ? <Counterparties wallet={wallet} chain={chain} /> : null}
    </>
  );
}

interface WalletFiguresProps {
  readonly profile: Profile;
  readonly figures: NonNullable<Profile['in_window']>;
  readonly party: WalletRole;
  readonly span: string;
  readonly allOfTime: string;
}

function WalletFigures({ profile, figures, party, span, allOfTime }: WalletFiguresProps) {
  const { aggregates, coverage, meta } = profile;
  const { usd, settlement_count: count, self_payment_usd: self, tiers } = figures;
  const proven = tiers.find(({ tier }) => tier === 'proven')?.usd ?? 0;
  const share = shareText(microsOf(proven), microsOf(usd));
  const isPayee = party === 'payee';
  const isEstimated = aggregates.basis.distinct_counterparties === 'estimated';
  return (
    <Stats>
      <Stat name={isPayee ? 'Received' : 'Paid'} note={`${countText(count)} settlements ${span}`}>
        <Money usd={usd} />
      </Stat>
      <Stat name="Proven x402" note={share === null ? span : `${share} of it`}>
        <Money usd={proven} />
      </Stat>
      <Stat name="To itself" note={span}>
        <Money usd={self} />
      </Stat>
      <Stat
        name={isPayee ? 'Received, all of time' : 'Paid, all of time'}
        to={allOfTime}
        note={`${countText(isPayee ? aggregates.inbound_count : aggregates.outbound_count)} settlements`}
      >
        <Money usd={isPayee ? aggregates.inbound_usd : aggregates.outbound_usd} />
      </Stat>
      <Stat
        name="Counterparties, all of time"
        note={isEstimated ? 'estimated, within 2%' : 'both directions'}
      >
        {isEstimated ? '≈ ' : ''}
        {countText(aggregates.distinct_counterparties)}
      </Stat>
      {coverage.first_seen === null || coverage.last_seen === null ? null : (
        <Stat name="Last seen" note={`first ${timeText(coverage.first_seen)}`}>
          <Time at={coverage.last_seen} ago />
        </Stat>
      )}
      <Stat name="Chain">{meta.chain === null ? 'all' : chainText(meta.chain)}</Stat>
    </Stats>
  );
}

function WalletAgents({ profile }: { readonly profile: Profile }) {
  const { erc8004_agents: agents, erc8004_agents_total: total } = profile;
  if (agents.length === 0) return null;
  // Agents whose card names the wallet are shown, and are not in the total of those that the registry gives it.
  const count = Math.max(total, agents.length);
  return (
    <section aria-labelledby="agents-title">
      <h2 id="agents-title">ERC-8004 identities ({countText(count)})</h2>
      <div class="cards">
        {agents.map((agent) => (
          <AgentCard key={`${agent.chain}/${agent.agent_id}`} agent={agent} />
        ))}
      </div>
    </section>
  );
}

const PAGE_ROWS = 50;

interface WalletSettlementsProps {
  readonly wallet: string;
  readonly party: WalletRole;
  /** Null for all chains. */
  readonly chain: string | null;
  /** Null for all of time. */
  readonly since: string | null;
  readonly span: string;
}

/** The wallet's settlements of the window in one role, newest first. */
function WalletSettlements({ wallet, party, chain, since, span }: WalletSettlementsProps) {
  const { rows, ...list } = useCursorList<EntitySettlements, Settlement>(
    `/entities/${segment(wallet)}/settlements`,
    { role: party, chain, since, limit: PAGE_ROWS },
    ({ settlements }) => settlements,
  );
  const title = party === 'payee' ? 'Settlements received' : 'Settlements paid';
  return (
    <section aria-labelledby="settlements-title">
      <h2 id="settlements-title">
        {title} <span class="muted h2-note">{span}</span>
      </h2>
      <SettlementTable
        caption={`${title} ${span}, newest first`}
        rows={rows}
        own={party}
        list={{ what: `settlements in this role ${span}`, ...list }}
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
  return `/sql${fragmentOf({ sql: COUNTERPARTIES_SQL, tier: DEFAULT_TIER, params: { wallet: keptCase(wallet), role: party } })}`;
}
