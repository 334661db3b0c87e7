import { segment } from '../api.ts';
import { channelWords, depositedParts } from '../channel-words.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { settlementKey } from '../flow/live-copy.ts';
import { chainText, countText, shortAddress, timeText } from '../format.ts';
import { ChannelAmount } from '../parts/channel-amount.tsx';
import { EvidenceChip } from '../parts/evidence.tsx';
import { ExplorerLink } from '../parts/explorer-link.tsx';
import { AmountOf } from '../parts/settlement-amount.tsx';
import { NamedWallet } from '../parts/wallet-name.tsx';
import { Link, useTitle } from '../router.tsx';
import { type PageProps, pairPath, transactionPath } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
import type { Channel, ChannelAnswer, EntitySettlements, Settlement } from '../wire.ts';

/** A payment channel or an escrowed payment: its parties, what it holds, and everything that moved in it. */
export function ChannelPage({ params }: PageProps) {
  const id = params['id'] ?? '';
  useTitle(`Channel ${shortAddress(id)}`);
  const { answer, problem, reload } = useAnswer<ChannelAnswer>(`/channels/${segment(id)}`);
  const thing = answer === null ? 'Payment channel' : channelWords(answer.channel).thing;
  return (
    <>
      <header class="entity-head">
        <div class="entity-title">
          <p class="kicker">{thing}</p>
          <h1>
            <span class="mono">{answer?.channel.channel ?? id}</span>{' '}
            <CopyButton text={id} what="channel id" />
          </h1>
        </div>
      </header>
      {problem === null ? null : <ChannelProblem id={id} problem={problem} reload={reload} />}
      {answer === null && problem === null ? <Loading what="the channel" lines={8} /> : null}
      {answer === null ? null : <ChannelBody answer={answer} />}
    </>
  );
}

interface ProblemProps {
  readonly id: string;
  readonly problem: NonNullable<ReturnType<typeof useAnswer>['problem']>;
  reload(): void;
}

function ChannelProblem({ id, problem, reload }: ProblemProps) {
  if (problem.body.code !== 'channel_not_found') return <ProblemState problem={problem} onRetry={reload} />;
  return (
    <EmptyState
      title="The index has no event of this channel"
      actions={
        <>
          <button type="button" class="button" onClick={reload}>
            Look again
          </button>
          <Link to={transactionPath(id)}>Look for a transaction</Link>
          <Link to="/status">How far the index is</Link>
        </>
      }
    >
      <p>
        It may be the hash of a transaction, may not be indexed yet, may have been taken back by a reorg, or
        may be on a chain that is not indexed here.
      </p>
    </EmptyState>
  );
}

export function ChannelBody({ answer }: { readonly answer: ChannelAnswer }) {
  const { channel } = answer;
  return (
    <>
      <ChannelFacts answer={answer} />
      <div class="columns">
        <Parties channel={channel} />
        <MoneyCard channel={channel} />
      </div>
      <ChannelEvents answer={answer} />
    </>
  );
}

function ChannelFacts({ answer }: { readonly answer: ChannelAnswer }) {
  const { channel, settlements } = answer;
  const { chain, contract, asset, asset_symbol: symbol, payment_count: count, balance } = channel;
  const block = settlements[0]?.block_number ?? null;
  const words = channelWords(channel);
  return (
    <Stats>
      <Stat
        name="Balance, not yet claimed"
        {...(balance === null ? { note: 'its first deposit is not indexed' } : {})}
      >
        {balance === null ? '–' : <ChannelAmount channel={channel} money={balance} />}
      </Stat>
      <Stat
        name={words.paid}
        note={`in ${countText(count)} ${words.kinds.payment.toLowerCase()}${count === 1 ? '' : 's'}`}
      >
        <ChannelAmount channel={channel} money={channel.paid} />
      </Stat>
      <Stat name="Opened" note={timeText(channel.opened_at)}>
        <Time at={channel.opened_at} ago />
      </Stat>
      <Stat name="Last event" note={timeText(channel.last_event_at)}>
        <Time at={channel.last_event_at} ago />
      </Stat>
      <Stat name="Scheme">
        {channel.scheme}
        <span class="stat-note">
          contract{' '}
          <ExplorerLink chain={chain} page="address" id={contract} block={block}>
            <span class="mono" title={contract}>
              {shortAddress(contract)}
            </span>
          </ExplorerLink>{' '}
          <CopyButton text={contract} what="address of the contract" />
        </span>
      </Stat>
      <Stat name="Chain and token">
        {chainText(chain)}
        <span class="stat-note">
          {symbol === '' ? 'token' : symbol}{' '}
          <ExplorerLink chain={chain} page="address" id={asset} block={block}>
            <span class="mono" title={asset}>
              {shortAddress(asset)}
            </span>
          </ExplorerLink>
        </span>
      </Stat>
    </Stats>
  );
}

function Parties({ channel }: { readonly channel: Channel }) {
  const { payer, payee } = channel;
  return (
    <section class="card" aria-labelledby="parties-title">
      <div class="card-head">
        <h2 id="parties-title">Parties</h2>
      </div>
      <dl class="parties">
        <div>
          <dt>Payer</dt>
          <dd>
            <NamedWallet
              wallet={payer}
              party="payer"
              name={channel.payer_name}
              source={channel.payer_name_source}
            />
          </dd>
        </div>
        <div>
          <dt>Payee</dt>
          <dd>
            <NamedWallet
              wallet={payee}
              party="payee"
              name={channel.payee_name}
              source={channel.payee_name_source}
            />
          </dd>
        </div>
      </dl>
      <p class="card-links">
        <Link to={pairPath(payer, payee)}>All payments between them</Link>
      </p>
    </section>
  );
}

/** What was put in is what came out and what is left. */
function MoneyCard({ channel }: { readonly channel: Channel }) {
  const parts = depositedParts(channel);
  const words = channelWords(channel);
  return (
    <section class="card" aria-labelledby="money-title">
      <div class="card-head">
        <h2 id="money-title">Where the money is</h2>
      </div>
      {parts === null ? (
        <NoParts channel={channel} />
      ) : (
        <dl class="sum">
          <div class="sum-whole">
            <dt>{words.deposited}</dt>
            <dd class="number">
              <ChannelAmount channel={channel} money={channel.deposited} isExact />
            </dd>
          </div>
          {parts.map(({ name, money }, at) => (
            <div key={name}>
              <dt>
                <span class="sum-sign" aria-hidden="true">
                  {at === 0 ? '=' : '+'}
                </span>
                {name}
              </dt>
              <dd class="number">
                <ChannelAmount channel={channel} money={money} isExact />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {channel.scheme === 'auth-capture' && channel.refunded.amount !== '0' ? (
        <p class="note muted">
          Refunded after the capture, out of the operator’s money:{' '}
          <ChannelAmount channel={channel} money={channel.refunded} />
        </p>
      ) : null}
    </section>
  );
}

function NoParts({ channel }: { readonly channel: Channel }) {
  return (
    <p class="note muted">
      {channel.balance === null
        ? 'The index begins after its first deposit: what it holds is not known.'
        : 'It was charged at once: no money waits in it.'}
    </p>
  );
}

const PAGE_ROWS = 50;

/** The answer has the newest events; of a channel with more of them all are read page by page. */
function ChannelEvents({ answer }: { readonly answer: ChannelAnswer }) {
  const { channel, event_count: count, settlements } = answer;
  const isWhole = settlements.length === count;
  const { rows, ...list } = useCursorList<EntitySettlements, Settlement>(
    isWhole ? null : `/entities/${segment(channel.payer)}/settlements`,
    { role: 'payer', channel: channel.channel, chain: channel.chain, limit: PAGE_ROWS },
    (page) => page.settlements,
  );
  const table = {
    caption: 'Events of the channel, newest first',
    columns: eventColumns(channel),
    keyOf: settlementKey,
  };
  return (
    <section aria-labelledby="events-title">
      <h2 id="events-title">
        {countText(count)} {count === 1 ? 'event' : 'events'}{' '}
        <span class="muted h2-note">
          newest first; only a {channelWords(channel).kinds.payment.toLowerCase()} counts as a payment
        </span>
      </h2>
      {isWhole ? (
        <DataTable {...table} rows={settlements} />
      ) : (
        <DataTable {...table} rows={rows} list={{ what: 'events', ...list }} />
      )}
    </section>
  );
}

function eventColumns(channel: Channel): readonly Column<Settlement>[] {
  const { kinds } = channelWords(channel);
  return [
    {
      name: 'Event',
      isRowHeader: true,
      card: 'head',
      cell: ({ kind }) => <span title={`kind ${kind}`}>{kinds[kind]}</span>,
    },
    { name: 'Time', class: 'when', card: 'meta', cell: ({ block_time: at }) => <Time at={at} ago /> },
    { name: 'Amount', isFigure: true, card: 'lead', cell: (row) => <AmountOf row={row} /> },
    {
      name: 'Evidence',
      priority: 2,
      cell: ({ kind, evidence }) =>
        kind === 'payment' ? <EvidenceChip evidence={evidence} /> : <span class="muted">–</span>,
    },
    {
      name: 'Sent by',
      priority: 2,
      cell: ({ relayer, facilitator, facilitator_name: name }) => (
        <span title={relayer}>
          {facilitator === null ? <span class="mono">{shortAddress(relayer)}</span> : (name ?? facilitator)}
        </span>
      ),
    },
    {
      name: 'Transaction',
      card: 'meta',
      cell: ({ tx_hash: hash, log_index: log, block_number: block }) => (
        <Link
          class="mono small"
          to={transactionPath(hash)}
          title={`${hash}, log ${log}, block ${countText(block)}`}
        >
          {shortAddress(hash)}
        </Link>
      ),
    },
  ];
}
