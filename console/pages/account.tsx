import { AccountHead } from '../account/account-head.tsx';
import { isKeyDialogOpen } from '../api.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { Loading, ProblemState } from '../components/states.tsx';
import { bytesText, countText, usdText } from '../format.ts';
import type { PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Account, RoutePrice, SqlTierAccess } from '../wire.ts';

/** The account of the caller, and the price of every operation on each lane. */
export function AccountPage(_props: PageProps) {
  const { answer, problem, reload } = useAnswer<Account>('/account');
  return (
    <>
      <AccountHead title="Account and prices" path="/account">
        Your account, its balance, and the price of every call.
      </AccountHead>
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

function Caller({ account }: { readonly account: Account }) {
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
      <Stats isPlain>
        <Stat name="Lane">{account.lane}</Stat>
        <Stat name="Tier">{account.tier}</Stat>
        <Stat name="Plan">{account.plan ?? '–'}</Stat>
        <Stat name="Balance">
          {balance === null ? (
            '–'
          ) : (
            <span class={balance.low_balance ? 'warn' : undefined}>{countText(balance.available_qu)} QU</span>
          )}
        </Stat>
      </Stats>
      {account.balance_note === undefined ? null : <p class="note muted">{account.balance_note}</p>}
      {balance?.low_balance ? (
        <p class="note warn">
          The balance is below {countText(balance.low_balance_threshold_qu)} QU. Top up before it runs out.
        </p>
      ) : null}
    </section>
  );
}

function callerName({ key_recognised: isKnown }: Account): string {
  if (isKnown === null) return 'Without a key';
  return isKnown ? 'A key without an organization' : 'Unknown key';
}

function Routes({ routes }: { readonly routes: readonly RoutePrice[] }) {
  return (
    <section aria-labelledby="prices-title">
      <h2 id="prices-title">Prices</h2>
      <DataTable
        caption="The price of every route with a key and over x402"
        columns={PRICE_COLUMNS}
        rows={routes}
        keyOf={({ operation }) => operation}
      />
    </section>
  );
}

const PRICE_COLUMNS: readonly Column<RoutePrice>[] = [
  {
    name: 'Route',
    cell: ({ method, path }) => (
      <span class="mono">
        <span class="muted">{method}</span> {path}
      </span>
    ),
  },
  { name: 'Operation', priority: 3, cell: ({ operation }) => operation },
  { name: 'With a key', isFigure: true, cell: unitsText },
  { name: 'Single call over x402', isFigure: true, cell: dollarsText },
];

function unitsText({ qu, range }: RoutePrice): string {
  if (qu === null) return 'not sold';
  if (qu === 0) return 'free';
  return range === null
    ? `${qu} QU`
    : `${range.qu.min}–${range.qu.max} QU, ${range.qu.per_unit} per ${range.unit}`;
}

function dollarsText({ qu, x402_usd: usd, range }: RoutePrice): string {
  if (usd === 0) return qu === 0 ? 'free' : 'not sold';
  const dollars = range?.x402_usd ?? null;
  if (dollars === null) return usdText(usd);
  const { min, max, per_unit: each } = dollars;
  return `${usdText(min)}–${usdText(max)}, ${usdText(each)} a unit`;
}

function SqlTiers({ tiers }: { readonly tiers: readonly SqlTierAccess[] }) {
  return (
    <section aria-labelledby="tiers-title">
      <h2 id="tiers-title">SQL tiers</h2>
      <DataTable
        caption="Limits of the SQL tiers"
        columns={TIER_COLUMNS}
        rows={tiers}
        keyOf={({ tier }) => tier}
      />
    </section>
  );
}

const TIER_COLUMNS: readonly Column<SqlTierAccess>[] = [
  { name: 'Tier', cell: ({ tier }) => <strong>{tier}</strong> },
  { name: 'Time limit', isFigure: true, unit: 's', cell: ({ timeout_seconds: seconds }) => seconds },
  { name: 'Highest price', isFigure: true, unit: 'QU', cell: ({ max_qu: most }) => most },
  { name: 'Requests a minute', isFigure: true, cell: ({ requests_per_minute: limit }) => limit },
  { name: 'Disk of a query', isFigure: true, cell: ({ disk_bytes: most }) => bytesText(most) },
  {
    name: 'For you',
    cell: ({ allowed, available, note }) => (
      <span class={allowed && available ? 'good' : 'muted'}>
        {allowed && available ? 'yes' : (note ?? 'no')}
      </span>
    ),
  },
];
