import { isKeyDialogOpen } from '../components/key-dialog-state.ts';
import { Loading, ProblemState } from '../components/states.tsx';
import { countText, usdText } from '../format.ts';
import type { PageProps } from '../page.ts';
import { Figure } from '../parts/figure.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Cell } from '../parts/settlement-table.tsx';
import type { AccountAnswer, PricedRoute, SqlTierAccess } from '../parts/wire-service.ts';
import { useAnswer } from '../use-answer.ts';

/** Who the caller is to the API, and what everything costs on each lane. */
export function AccountPage(_props: PageProps) {
  const { answer, problem, reload } = useAnswer<AccountAnswer>('/account');
  return (
    <>
      <PageHead title="Account and prices">
        Who you are to the API, what is left, and what every call costs.
      </PageHead>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the account" /> : null}
      {answer === null ? null : (
        <>
          <Caller account={answer} />
          <Routes routes={answer.metered_routes} />
          <SqlTiers tiers={answer.sql_tiers} />
        </>
      )}
    </>
  );
}

function Caller({ account }: { readonly account: AccountAnswer }) {
  const { balance, organisation } = account;
  return (
    <section class="card" aria-labelledby="caller-title">
      <div class="card-head">
        <h2 id="caller-title">{organisation?.display_name ?? callerName(account)}</h2>
        <button type="button" class="button" onClick={() => isKeyDialogOpen.set(true)}>
          {account.key_present ? 'Change the key' : 'Enter a key'}
        </button>
      </div>
      <p>{account.summary}</p>
      <dl class="figures">
        <Figure name="Lane">{account.lane}</Figure>
        <Figure name="Tier">{account.tier}</Figure>
        <Figure name="Plan">{account.plan ?? '–'}</Figure>
        <Figure name="Balance">
          {balance === null ? (
            '–'
          ) : (
            <span class={balance.low_balance ? 'warn' : undefined}>{countText(balance.available_qu)} QU</span>
          )}
        </Figure>
      </dl>
      {account.balance_note === undefined ? null : <p class="note muted">{account.balance_note}</p>}
      {balance?.low_balance ? (
        <p class="note warn">
          Below {countText(balance.low_balance_threshold_qu)} QU: soon there is none left.
        </p>
      ) : null}
    </section>
  );
}

function callerName({ key_recognised: isKnown }: AccountAnswer): string {
  if (isKnown === null) return 'Without a key';
  return isKnown ? 'A key without an organization' : 'A key that is not known';
}

function Routes({ routes }: { readonly routes: readonly PricedRoute[] }) {
  return (
    <section aria-labelledby="prices-title">
      <h2 id="prices-title">Prices</h2>
      <div class="table-wrap">
        <table class="data">
          <caption class="visually-hidden">What every route costs on each lane</caption>
          <thead>
            <tr>
              <th scope="col">Route</th>
              <th scope="col">Operation</th>
              <th scope="col" class="number">
                With a key
              </th>
              <th scope="col" class="number">
                Single call over x402
              </th>
            </tr>
          </thead>
          <tbody>
            {routes.map((route) => (
              <tr key={route.operation}>
                <Cell name="Route">
                  <span class="mono">
                    <span class="muted">{route.method}</span> {route.path}
                  </span>
                </Cell>
                <Cell name="Operation">{route.operation}</Cell>
                <Cell name="With a key" class="number">
                  {unitsText(route)}
                </Cell>
                <Cell name="Single call over x402" class="number">
                  {dollarsText(route)}
                </Cell>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function unitsText({ qu, range }: PricedRoute): string {
  if (qu === null) return 'not sold';
  if (qu === 0) return 'free';
  return range === null
    ? `${qu} QU`
    : `${range.qu.min}–${range.qu.max} QU, ${range.qu.per_unit} per ${range.unit}`;
}

function dollarsText({ x402_usd: usd, range }: PricedRoute): string {
  if (usd === 0) return 'free';
  if (range === null) return usdText(usd);
  const { min, max, per_unit: each } = range.x402_usd;
  return `${usdText(min)}–${usdText(max)}, ${usdText(each)} a unit`;
}

function SqlTiers({ tiers }: { readonly tiers: readonly SqlTierAccess[] }) {
  return (
    <section aria-labelledby="tiers-title">
      <h2 id="tiers-title">SQL tiers</h2>
      <div class="table-wrap">
        <table class="data">
          <caption class="visually-hidden">Limits of the SQL tiers</caption>
          <thead>
            <tr>
              <th scope="col">Tier</th>
              <th scope="col" class="number">
                Time limit
              </th>
              <th scope="col" class="number">
                At most
              </th>
              <th scope="col" class="number">
                A minute
              </th>
              <th scope="col">For you</th>
            </tr>
          </thead>
          <tbody>
            {tiers.map((tier) => (
              <tr key={tier.tier}>
                <Cell name="Tier">
                  <strong>{tier.tier}</strong>
                </Cell>
                <Cell name="Time limit" class="number">
                  {tier.timeout_seconds} s
                </Cell>
                <Cell name="At most" class="number">
                  {tier.max_qu} QU
                </Cell>
                <Cell name="A minute" class="number">
                  {tier.requests_per_minute}
                </Cell>
                <Cell name="For you">
                  <span class={tier.allowed && tier.available ? 'good' : 'muted'}>
                    {tier.allowed && tier.available ? 'yes' : (tier.note ?? 'no')}
                  </span>
                </Cell>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
