import { segment } from '../api.ts';
import { DayChart } from '../chart/day-chart.tsx';
import { COUNT_TYPE, USD_TYPE } from '../chart/spec.ts';
import { Chip } from '../components/chip.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { chainText, countText, microsOf, shareText, timeText } from '../format.ts';
import { ChainChoice, Narrowed } from '../parts/chain-choice.tsx';
import { SettlementTable } from '../parts/settlement-table.tsx';
import { NamedWallet } from '../parts/wallet-name.tsx';
import { WindowChoice } from '../parts/window-choice.tsx';
import { WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { Link, useTitle } from '../router.tsx';
import { type PageProps, pairPath, withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList } from '../use-list.ts';
import type { EntitySettlements, Pair, Settlement } from '../wire.ts';

const WINDOW_DEFAULT = 'all';
const PAGE_ROWS = 50;

/** What one wallet paid another, and what came back. */
export function PairPage({ params, query }: PageProps) {
  const payer = params['payer'] ?? '';
  const payee = params['payee'] ?? '';
  const window = windowOf(query, WINDOW_DEFAULT);
  const chain = query.get('chain');
  const path = pairPath(payer, payee);
  useTitle('Payments between two wallets');
  const { answer, problem, reload } = useAnswer<Pair>(`/pairs/${segment(payer)}/${segment(payee)}`, {
    query: { window, chain },
  });
  return (
    <>
      <header class="entity-head">
        <div class="entity-title">
          <p class="kicker">Payments between two wallets</p>
          <h1 class="pair-title">
            <NamedWallet
              wallet={answer?.payer ?? payer}
              party="payer"
              name={answer?.payer_name}
              source={answer?.payer_name_source}
            />
            <span class="pair-arrow">paid</span>
            <NamedWallet
              wallet={answer?.payee ?? payee}
              party="payee"
              name={answer?.payee_name}
              source={answer?.payee_name_source}
            />
          </h1>
        </div>
        <div class="entity-tools">
          <ChainChoice path={path} query={query} />
          <WindowChoice path={path} query={query} fallback={WINDOW_DEFAULT} />
        </div>
      </header>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the pair" lines={6} /> : null}
      {answer === null ? null : <Narrowed path={path} query={query} elsewhere={answer.elsewhere} />}
      {answer === null ? null : <PairBody answer={answer} query={query} />}
    </>
  );
}

function PairBody({ answer, query }: { readonly answer: Pair; readonly query: URLSearchParams }) {
  const { payer, payee, paid, paid_back: back, meta } = answer;
  const span = WINDOW_DURING[windowOf(query, WINDOW_DEFAULT)];
  const chain = query.get('chain');
  const turned = withQuery(pairPath(payee, payer), query, {});
  return (
    <>
      {answer.is_self_payment ? (
        <p class="banner warn">
          <Chip tone="warn">to itself</Chip> Payer and payee are the same address: nothing changed hands.
        </p>
      ) : null}
      {paid.settlement_count === 0 ? (
        <EmptyState
          title={`No payment from the first to the second wallet ${chain === null ? '' : `on ${chainText(chain)} `}${span}`}
          actions={
            <>
              {back.settlement_count > 0 ? <Link to={turned}>Show the other direction</Link> : null}
              {span === WINDOW_DURING.all ? null : (
                <Link to={withQuery(pairPath(payer, payee), query, { window: null })}>Show all of time</Link>
              )}
            </>
          }
        />
      ) : (
        <>
          <PairFigures paid={paid} back={back} turned={turned} span={span} />
          <div class="panel chart-panel">
            <DayChart
              title={`Dollars paid by day, ${span}`}
              days={answer.daily}
              {...answer.daily_window}
              figures={[
                { name: 'paid', type: USD_TYPE, value: (day) => day.settled_usd },
                {
                  name: 'settlements',
                  type: COUNT_TYPE,
                  value: (day) => day.settlement_count,
                  isTableOnly: true,
                },
              ]}
            />
          </div>
          <PairSettlements payer={payer} payee={payee} since={answer.window.since} chain={meta.chain} />
        </>
      )}
    </>
  );
}

interface PairFiguresProps {
  readonly paid: Pair['paid'];
  readonly back: Pair['paid'];
  readonly turned: string;
  readonly span: string;
}

function PairFigures({ paid, back, turned, span }: PairFiguresProps) {
  const share = shareText(microsOf(paid.proven_usd), microsOf(paid.settled_usd));
  const returned = shareText(microsOf(back.settled_usd), microsOf(paid.settled_usd));
  return (
    <Stats>
      <Stat name="Paid" note={`${countText(paid.settlement_count)} settlements ${span}`}>
        <Money usd={paid.settled_usd} />
      </Stat>
      <Stat
        name="Proven x402"
        note={`${countText(paid.proven_count)} settlements${share === null ? '' : `, ${share} of the dollars`}`}
      >
        <Money usd={paid.proven_usd} />
      </Stat>
      <Stat
        name="Paid back"
        {...(back.settlement_count === 0 ? {} : { to: turned })}
        note={
          back.settlement_count === 0
            ? 'nothing came back'
            : `${countText(back.settlement_count)} settlements${returned === null ? '' : `, ${returned} of what was paid`}`
        }
      >
        <Money usd={back.settled_usd} />
      </Stat>
      <Stat name="Days with payments">{countText(paid.days_active)}</Stat>
      {paid.first_seen === null ? null : (
        <Stat name="First" note={timeText(paid.first_seen)}>
          <Time at={paid.first_seen} ago />
        </Stat>
      )}
      {paid.last_seen === null ? null : (
        <Stat name="Last" note={timeText(paid.last_seen)}>
          <Time at={paid.last_seen} ago />
        </Stat>
      )}
    </Stats>
  );
}

interface PairSettlementsProps {
  readonly payer: string;
  readonly payee: string;
  readonly since: string | null;
  /** Null for all chains. */
  readonly chain: string | null;
}

function PairSettlements({ payer, payee, since, chain }: PairSettlementsProps) {
  const { rows, ...list } = useCursorList<EntitySettlements, Settlement>(
    `/entities/${segment(payer)}/settlements`,
    { role: 'payer', counterparty: payee, since, chain, limit: PAGE_ROWS },
    ({ settlements }) => settlements,
  );
  return (
    <section aria-labelledby="settlements-title">
      <h2 id="settlements-title">Settlements</h2>
      <SettlementTable
        caption="Settlements between the two wallets, newest first"
        rows={rows}
        list={{ what: 'settlements', ...list }}
      />
    </section>
  );
}
