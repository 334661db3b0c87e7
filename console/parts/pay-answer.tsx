import type { ComponentChildren } from 'preact';
import { REASONS_AGAINST, REASONS_FOR } from '../../core/domain/pay-reasons.ts';
import { segment } from '../api.ts';
import { Chip } from '../components/chip.tsx';
import { Money } from '../components/money.tsx';
import { Loading, ProblemState } from '../components/states.tsx';
import { chainText, countText, timeText } from '../format.ts';
import { Link } from '../router.tsx';
import { useAnswer } from '../use-answer.ts';
import type { WalletSummary } from '../wire.ts';
import { VERDICT_TONES, VERDICT_WORDS } from './data-quality.tsx';

interface PayAnswerProps {
  readonly wallet: string;
  /** The chain of the page; null for all. */
  readonly chain: string | null;
  /** Default `Should I pay this address?`. */
  readonly title?: string;
}

/** Whether to pay an address: what speaks for it and against it, and what to compare a price with. Over all of time. */
export function PayAnswer({ wallet, chain, title = 'Should I pay this address?' }: PayAnswerProps) {
  const { answer, problem, reload } = useAnswer<WalletSummary>(`/entities/${segment(wallet)}/summary`, {
    query: { chain },
  });
  return (
    <section class="card" aria-labelledby="pay-title">
      <div class="card-head">
        <h2 id="pay-title">{title}</h2>
        <span class="muted small">
          all of time{answer?.meta.chain ? `, ${chainText(answer.meta.chain)}` : ''}
        </span>
      </div>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the answer" lines={5} /> : null}
      {answer === null ? null : <AnswerBody answer={answer} />}
    </section>
  );
}

/** The answer without the request for it. */
export function AnswerBody({ answer }: { readonly answer: WalletSummary }) {
  const { reasons_for: speaksFor, reasons_against: speaksAgainst } = answer;
  return (
    <>
      <p class={`pay-verdict tone-${VERDICT_TONES[answer.verdict]}`}>{VERDICT_WORDS[answer.verdict]}</p>
      <p class="pay-headline">{headlineOf(answer)}</p>
      <div class="pay-reasons">
        <Reasons title="In its favor" kind="for" texts={speaksFor.map((reason) => REASONS_FOR[reason])} />
        <Reasons
          title="Warning signs"
          kind="against"
          texts={speaksAgainst.map((reason) => REASONS_AGAINST[reason])}
        />
        <PayFacts answer={answer} />
      </div>
    </>
  );
}

/** In words what verdict and reasons say; never more than they do. */
function headlineOf({ verdict, reasons_against: against, elsewhere = [] }: WalletSummary): string {
  switch (verdict) {
    case 'unobserved':
      return elsewhere.length === 0
        ? 'No wallet has paid it on the indexed chains.'
        : `No wallet has paid it on this chain: it is paid on ${elsewhere.map(({ chain }) => chainText(chain)).join(', ')}.`;
    case 'insufficient':
      return 'Too few payments to tell.';
    case 'suspect':
      return 'Be careful: its figures are no evidence of trade.';
    case 'mixed':
      return 'Look closer before you pay.';
    case 'clean':
      if (against.length === 0) return 'No warning signs.';
      return against.length === 1 ? 'One warning sign.' : `${against.length} warning signs.`;
  }
}

interface ReasonsProps {
  readonly title: string;
  readonly kind: 'for' | 'against';
  readonly texts: readonly string[];
}

function Reasons({ title, kind, texts }: ReasonsProps) {
  return (
    <div>
      <h3>
        {title} <span class="muted number">{texts.length}</span>
      </h3>
      {texts.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <ul class={`reasons is-${kind}`}>
          {texts.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function PayFacts({ answer }: { readonly answer: WalletSummary }) {
  const { received, refunds, first_seen: first, elsewhere = [] } = answer;
  return (
    <dl class="facts pay-facts">
      <Prices compare={answer.compare} />
      <Fact name="Received">
        <Money usd={received.usd} />{' '}
        <span class="muted">in {countText(received.settlement_count)} settlements, </span>
        <Money usd={received.proven_usd} /> <span class="muted">proven</span>
      </Fact>
      <Fact name="Refunds, 30 days">
        {refunds.settlement_count === 0 ? (
          <span class="muted">none</span>
        ) : (
          <>
            <Money usd={refunds.usd} /> <span class="muted">to {countText(refunds.payers)} payers</span>
          </>
        )}
      </Fact>
      <Fact name="Known since">
        {first === null || answer.age_days === null ? (
          <span class="muted">{elsewhere.length === 0 ? 'never paid' : 'not paid on this chain'}</span>
        ) : (
          <span title={timeText(first)}>{`${countText(answer.age_days)} days`}</span>
        )}
      </Fact>
      <Offers answer={answer} />
      <Identity answer={answer} />
    </dl>
  );
}

function Prices({ compare }: Pick<WalletSummary, 'compare'>) {
  const { median_usd: median, min_usd: min, max_usd: max, payments } = compare;
  const { listed_min_usd: listedMin, listed_max_usd: listedMax } = compare;
  return (
    <>
      <Fact name="Usual price">
        {median === null ? (
          <span class="muted">no payments to compare with</span>
        ) : (
          <>
            <Money usd={median} /> <span class="muted">median of {countText(payments)}, </span>
            <Money usd={min ?? median} /> <span class="muted">to</span> <Money usd={max ?? median} />
          </>
        )}
      </Fact>
      <Fact name="Listed price">
        {listedMin === null ? (
          <span class="muted">no listed offer has a price in dollars</span>
        ) : (
          <>
            <Money usd={listedMin} />
            {listedMax === null || listedMax === listedMin ? null : (
              <>
                {' '}
                <span class="muted">to</span> <Money usd={listedMax} />
              </>
            )}
          </>
        )}
      </Fact>
    </>
  );
}

function Offers({ answer: { offers, wallet } }: { readonly answer: WalletSummary }) {
  return (
    <Fact name="Offers">
      {offers.count === 0 ? (
        <span class="muted">none listed</span>
      ) : (
        <>
          <Link to={`/endpoints?pay_to=${wallet}`}>
            {countText(offers.count)} {offers.count === 1 ? 'endpoint' : 'endpoints'}
          </Link>
          {offers.site === null ? null : <span class="muted"> on {offers.site}</span>}{' '}
          {offers.contested > 0 ? <Chip tone="warn">{countText(offers.contested)} contested</Chip> : null}
        </>
      )}
    </Fact>
  );
}

function Identity({ answer: { identity, elsewhere } }: { readonly answer: WalletSummary }) {
  if (identity === null)
    return (
      <Fact name="Identity">
        <span class="muted">no ERC-8004 agent uses it{elsewhere === undefined ? '' : ' on this chain'}</span>
      </Fact>
    );
  return (
    <Fact name="Identity">
      agent #{identity.agent_id}
      {identity.domain === null ? null : (
        <span class="muted">
          {' '}
          of {identity.domain}, {identity.domain_proof}
        </span>
      )}
    </Fact>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
