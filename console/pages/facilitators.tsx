import { Time } from '../components/figures.tsx';
import { chainText, countText, usdText } from '../format.ts';
import type { PageProps } from '../page.ts';
import { CheckFilter, FilterForm, pick, SelectFilter } from '../parts/filters.tsx';
import { ListState } from '../parts/list-states.tsx';
import { coinText } from '../parts/money.ts';
import { OffsetNav, offsetOf } from '../parts/offset-nav.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Cell } from '../parts/settlement-table.tsx';
import { useChainOptions } from '../parts/use-chains.ts';
import { WalletLink } from '../parts/wallet-link.tsx';
import type { FacilitatorsAnswer, Relayer } from '../parts/wire.ts';
import { useAnswer } from '../use-answer.ts';

const PATH = '/facilitators';
const LIMIT = 50;
const TEXTS = ['Facilitator', 'Relayer', 'Chain'];
const FIGURES = ['Settlements', 'Settled', 'Payers', 'Payees', 'Nonce', 'Gas'];

/** Who sends the transactions, the busiest first, with what the chain itself says of them. */
export function FacilitatorsPage({ query }: PageProps) {
  const filters = pick(query, ['chain', 'named_only', 'enriched_only']);
  const { answer, problem, reload } = useAnswer<FacilitatorsAnswer>(PATH, {
    query: { ...filters, offset: offsetOf(query), limit: LIMIT },
  });
  const rows = answer?.facilitators ?? null;
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead title="Facilitators">
        Relayers by chain, the busiest first. Nonce and gas are read from the chain; payers and payees are
        estimates.
      </PageHead>
      <FilterForm label="Filter facilitators">
        <SelectFilter
          path={PATH}
          query={query}
          label="Chain"
          name="chain"
          options={useChainOptions('default chain')}
        />
        <CheckFilter path={PATH} query={query} label="Named only" name="named_only" />
        <CheckFilter path={PATH} query={query} label="Read from the chain only" name="enriched_only" />
      </FilterForm>
      <ListState
        what="facilitators"
        rows={rows}
        meta={answer?.meta ?? null}
        problem={problem}
        isFiltered={isFiltered}
        onRetry={reload}
      >
        <RelayerTable relayers={rows ?? []} />
        <OffsetNav
          path={PATH}
          query={query}
          limit={LIMIT}
          shown={rows?.length ?? 0}
          nextOffset={answer?.next_offset ?? null}
          what="facilitators"
        />
      </ListState>
    </>
  );
}

function RelayerTable({ relayers }: { readonly relayers: readonly Relayer[] }) {
  return (
    <div class="table-wrap">
      <table class="data">
        <caption class="visually-hidden">Relayers, the busiest first</caption>
        <thead>
          <tr>
            {TEXTS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {FIGURES.map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody>
          {relayers.map((relayer) => (
            <RelayerRow key={`${relayer.chain}/${relayer.address}`} relayer={relayer} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RelayerRow({ relayer }: { readonly relayer: Relayer }) {
  return (
    <tr>
      <Cell name="Facilitator">
        <strong>
          {relayer.facilitator_name ?? relayer.facilitator ?? <span class="muted">not named</span>}
        </strong>
      </Cell>
      <Cell name="Relayer">
        <WalletLink wallet={relayer.address} party="payer" />
      </Cell>
      <Cell name="Chain">{chainText(relayer.chain)}</Cell>
      <Cell name="Settlements" class="number">
        {countText(relayer.settlement_count)}
      </Cell>
      <Cell name="Settled" class="number">
        {usdText(relayer.settled_usd)}
      </Cell>
      <Cell name="Payers" class="number">
        {countText(relayer.distinct_payers)}
      </Cell>
      <Cell name="Payees" class="number">
        {countText(relayer.distinct_payees)}
      </Cell>
      <Cell name="Nonce" class="number">
        {relayer.nonce === undefined ? <NotRead /> : countText(relayer.nonce)}
      </Cell>
      <Cell name="Gas" class="number">
        {relayer.gas_balance === undefined ? (
          <NotRead />
        ) : (
          <span title={`${relayer.gas_balance} wei`}>{coinText(relayer.gas_balance)}</span>
        )}
      </Cell>
      <Cell name="Last seen">
        <Time at={relayer.last_seen} ago />
      </Cell>
    </tr>
  );
}

function NotRead() {
  return (
    <span class="muted" title="Not read from the chain yet.">
      –
    </span>
  );
}
