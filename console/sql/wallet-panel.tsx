import { useEffect, useRef } from 'preact/hooks';
import { segment } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Identicon } from '../components/identicon.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { countText } from '../format.ts';
import { Link } from '../router.tsx';
import { walletPath } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Profile } from '../wire.ts';

interface WalletPanelProps {
  readonly wallet: string;
  onClose(): void;
}

/** A wallet of the result, next to it: the rows and the scroll position stay. Escape closes it. */
export function WalletPanel({ wallet, onClose }: WalletPanelProps) {
  const { answer, problem, reload } = useAnswer<Profile>(`/merchants/${segment(wallet)}`);
  const close = useRef<HTMLButtonElement>(null);
  const opener = useRef(document.activeElement);
  useEffect(() => {
    close.current?.focus({ preventScroll: true });
    const focused = opener.current;
    return () => {
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside
      class="wallet-panel"
      aria-label="Wallet"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <div class="wallet-panel-head">
        <Identicon address={wallet} size={28} />
        <h2>{answer?.name ?? 'Wallet'}</h2>
        <button ref={close} type="button" class="button small-button" onClick={onClose}>
          Close
        </button>
      </div>
      <p class="wallet-panel-address">
        <code>{wallet}</code> <CopyButton text={wallet} what="address" />
      </p>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the wallet" /> : null}
      {answer === null ? null : <Facts profile={answer} />}
      <p class="row">
        <Link class="button" to={walletPath(wallet, 'payee')}>
          As merchant
        </Link>
        <Link class="button" to={walletPath(wallet, 'payer')}>
          As agent
        </Link>
      </p>
    </aside>
  );
}

function Facts({ profile: { aggregates, coverage, erc8004_agents: agents } }: { readonly profile: Profile }) {
  if (!coverage.known) return <p class="muted">The index has no settlements for this wallet.</p>;
  const isEstimated = aggregates.basis.distinct_counterparties === 'estimated';
  return (
    <>
      <Stats isPlain>
        <Stat name="Received" note={`${countText(aggregates.inbound_count)} settlements`}>
          <Money usd={aggregates.inbound_usd} />
        </Stat>
        <Stat name="Paid" note={`${countText(aggregates.outbound_count)} settlements`}>
          <Money usd={aggregates.outbound_usd} />
        </Stat>
        <Stat name="To itself">
          <Money usd={aggregates.self_payment_usd} />
        </Stat>
        <Stat name="Counterparties">
          {isEstimated ? '≈ ' : ''}
          {countText(aggregates.distinct_counterparties)}
        </Stat>
        {coverage.last_seen === null ? null : (
          <Stat name="Last seen">
            <Time at={coverage.last_seen} ago />
          </Stat>
        )}
      </Stats>
      {agents.map(({ chain, agent_id: id, name }) => (
        <p key={`${chain}/${id}`} class="small">
          ERC-8004 agent {id}
          {name === null ? '' : `, “${name}”`}
        </p>
      ))}
    </>
  );
}
