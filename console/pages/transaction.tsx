import { segment } from '../api.ts';
import { useChains } from '../chains.ts';
import { Chip } from '../components/chip.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import {
  blockText,
  chainText,
  countText,
  groupDigits,
  isSolana,
  microsOf,
  placeText,
  shortAddress,
  smallCoinText,
  tokenText,
} from '../format.ts';
import { EvidenceChip } from '../parts/evidence.tsx';
import { EvidenceLadder } from '../parts/evidence-ladder.tsx';
import { ExplorerLink } from '../parts/explorer-link.tsx';
import { SettlementAmount } from '../parts/settlement-amount.tsx';
import { NamedWallet } from '../parts/wallet-name.tsx';
import { Link, useTitle } from '../router.tsx';
import { channelPath, type PageProps, pairPath, walletPath } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Settlement, Transaction } from '../wire.ts';

/** One transaction with all its settlements: payer, payee and amount, how sure it is that it was x402, and its fee. */
export function TransactionPage({ params, query }: PageProps) {
  const hash = params['hash'] ?? '';
  useTitle(`Transaction ${shortAddress(hash)}`);
  const { answer, problem, reload } = useAnswer<Transaction>(`/transactions/${segment(hash)}`, {
    query: { chain: query.get('chain') },
  });
  return (
    <>
      <header class="entity-head">
        <div class="entity-title">
          <p class="kicker">Transaction</p>
          <h1>
            <span class="mono">{hash}</span> <CopyButton text={hash} what="transaction hash" />
          </h1>
        </div>
      </header>
      {problem === null ? null : <TransactionProblem hash={hash} problem={problem} reload={reload} />}
      {answer === null && problem === null ? <Loading what="the transaction" lines={8} /> : null}
      {answer === null ? null : <TransactionBody answer={answer} />}
    </>
  );
}

type Problem = NonNullable<ReturnType<typeof useAnswer>['problem']>;

interface ProblemProps {
  readonly hash: string;
  readonly problem: Problem;
  reload(): void;
}

function TransactionProblem({ hash, problem, reload }: ProblemProps) {
  if (problem.body.code !== 'transaction_not_found')
    return <ProblemState problem={problem} onRetry={reload} />;
  return (
    <EmptyState
      title="The index has no settlement of this transaction"
      actions={
        <>
          <button type="button" class="button" onClick={reload}>
            Look again
          </button>
          <Link to={channelPath(hash)}>Look for a payment channel</Link>
          <Link to="/status">How far the index is</Link>
          <Link to="/transactions">All settlements</Link>
        </>
      }
    >
      <p>
        It may not be an x402 payment, may not be indexed yet, may have been taken back by a reorg, or may be
        on a chain that is not indexed here.
      </p>
    </EmptyState>
  );
}

function TransactionBody({ answer }: { readonly answer: Transaction }) {
  const { settlements, settlement_count: count } = answer;
  const [first] = settlements;
  if (first === undefined) return null;
  const sum = settlements.reduce((total, { amount_usd: usd }) => total + microsOf(usd), 0n);
  const isWhole = settlements.length === count;
  return (
    <>
      <TransactionFacts answer={answer} first={first} sum={sum} />
      <section aria-labelledby="settlements-title">
        <h2 id="settlements-title">
          {count === 1 ? 'The settlement' : `${countText(count)} settlements, in the order of their logs`}
        </h2>
        {isWhole ? null : (
          <p class="note muted">The first {countText(settlements.length)} are shown; sums are of these.</p>
        )}
        <ol class="settlement-cards">
          {settlements.map((row, at) => (
            <li key={row.log_index}>
              <SettlementCard row={row} isOpen={count === 1 || at < CARDS_OPEN} />
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

/** Ladders of the first settlements are open; a batch has hundreds. */
const CARDS_OPEN = 3;

interface FactsProps {
  readonly answer: Transaction;
  readonly first: Settlement;
  readonly sum: bigint;
}

function TransactionFacts({ answer, first, sum }: FactsProps) {
  const { chain, block_number: block, relayer, facilitator, finality } = first;
  return (
    <Stats>
      <Stat
        name="Settled"
        note={`${countText(answer.settlement_count)} ${answer.settlement_count === 1 ? 'settlement' : 'settlements'}`}
      >
        <Money usd={sum} />
      </Stat>
      <Stat name="Time">
        <Time at={first.block_time} ago />
        <span class="stat-note">
          <Time at={first.block_time} />
        </span>
      </Stat>
      <Stat name="Chain and block">
        {chainText(chain)}
        <span class="stat-note">
          {blockText(chain, block)}{' '}
          <ExplorerLink chain={chain} page="block" id={String(block)} block={block} />
        </span>
      </Stat>
      <Stat name="Finality">
        {finality === 'finalized' ? (
          <Chip tone="good" title="No reorg can undo it.">
            final
          </Chip>
        ) : (
          <Chip tone="warn" title="A reorg can still undo it.">
            not final yet
          </Chip>
        )}
      </Stat>
      <Stat name="Relayed by">
        {facilitator === null ? (
          <span class="mono">{shortAddress(relayer)}</span>
        ) : (
          <Link to={`/facilitators/${segment(facilitator)}`}>{first.facilitator_name ?? facilitator}</Link>
        )}
        <span class="stat-note">
          <span class="mono" title={relayer}>
            {shortAddress(relayer)}
          </span>{' '}
          <CopyButton text={relayer} what="address of the relayer" />
          {facilitator === null ? ' of no named facilitator ' : null}
          <ExplorerLink chain={chain} page="address" id={relayer} block={block} />
        </span>
      </Stat>
      <Stat name="Fee paid by the relayer">
        <Fee fee={answer.fee} chain={chain} />
      </Stat>
      {answer.memo === null ? null : <Stat name="Memo">{answer.memo}</Stat>}
      <Stat name="Explorer">
        <ExplorerLink chain={chain} page="tx" id={answer.tx_hash} block={block} />
        <NoExplorer chain={chain} block={block} />
      </Stat>
    </Stats>
  );
}

function Fee({ fee, chain }: { readonly fee: Transaction['fee']; readonly chain: string }) {
  if (fee === null)
    return (
      <>
        –
        <span class="stat-note">
          {isSolana(chain) ? 'fees on Solana are not read' : 'its receipt is not read yet'}
        </span>
      </>
    );
  const price = groupDigits(fee.gas_price_wei);
  return (
    <span title={`${groupDigits(fee.fee_wei)} wei`} data-exact={`${groupDigits(fee.fee_wei)} wei`}>
      {smallCoinText(fee.fee_wei)}
      <span class="unit">native coin</span>
      <span
        class="stat-note"
        title={`${price} wei a unit of gas, ${groupDigits(fee.l1_fee_wei)} wei for data`}
      >
        {countText(fee.gas_used)} gas
      </span>
    </span>
  );
}

export function SettlementCard({ row, isOpen }: { readonly row: Settlement; readonly isOpen: boolean }) {
  const { payer, payee, chain, asset, block_number: block } = row;
  return (
    <article class="card" id={`log-${row.log_index}`}>
      <div class="settlement-line">
        <span class="settlement-amount">
          <SettlementAmount row={row} />
        </span>
        <EvidenceChip evidence={row.evidence} />
        {row.fee_amount === null || row.fee_amount === '0' ? null : (
          <span class="muted small">
            {row.decimals === null ? groupDigits(row.fee_amount) : tokenText(row.fee_amount, row.decimals)}{' '}
            {row.asset_symbol} of it to a fee receiver
          </span>
        )}
        {row.is_self_payment ? <Chip tone="warn">to itself</Chip> : null}
        <span class="muted small">
          {placeText(chain, row.log_index)} · token{' '}
          <ExplorerLink chain={chain} page="address" id={asset} block={block}>
            <span class="mono">{shortAddress(asset)}</span>
          </ExplorerLink>
          {row.scheme === 'unknown' ? null : ` · scheme ${row.scheme}`}
        </span>
      </div>
      <dl class="parties">
        <div>
          <dt>From</dt>
          <dd>
            <NamedWallet wallet={payer} party="payer" name={row.payer_name} source={row.payer_name_source} />
          </dd>
        </div>
        <div>
          <dt>To</dt>
          <dd>
            <NamedWallet wallet={payee} party="payee" name={row.payee_name} source={row.payee_name_source} />
          </dd>
        </div>
      </dl>
      <p class="card-links">
        {row.channel === null ? null : <Link to={channelPath(row.channel)}>{CHANNEL_LINKS[row.scheme]}</Link>}
        <Link to={pairPath(payer, payee)}>All payments between them</Link>
        <Link to={walletPath(payee, 'payee')}>Should I pay this address?</Link>
      </p>
      <details class="ladder-fold" open={isOpen}>
        <summary>How sure it is that this was an x402 payment</summary>
        <EvidenceLadder evidence={row.evidence} />
      </details>
    </article>
  );
}

const CHANNEL_LINKS: Readonly<Partial<Record<Settlement['scheme'], string>>> = {
  'batch-settlement': 'Its payment channel',
  'auth-capture': 'Its escrow',
};

function NoExplorer({ chain, block }: { readonly chain: string; readonly block: number }) {
  const facts = useChains().get(chain);
  if (facts === undefined) return null;
  if (facts.sampleDataTo !== null && block <= facts.sampleDataTo)
    return <span class="muted">none: sample data</span>;
  return facts.explorerUrl === null ? <span class="muted">none shows this chain</span> : null;
}
