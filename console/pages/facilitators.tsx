import type { Window } from '../../core/domain/window.ts';
import { facilitatorColour } from '../chart/palette.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { countText } from '../format.ts';
import { nameSourceText } from '../name-source.ts';
import { FacilitatorSwatch } from '../parts/facilitator-swatch.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { CheckFilter, FilterForm, PageHead, SelectFilter, useChainOptions } from '../parts/page-head.tsx';
import { PageTabs } from '../parts/page-tabs.tsx';
import {
  changeColumn,
  comparedWindow,
  orderOf,
  RankedAt,
  type RankedOrder,
  rankColumn,
  rankingSort,
  trendColumn,
  useRanking,
} from '../parts/ranking.tsx';
import { facilitatorsSql } from '../parts/ranking-sql.ts';
import { RELAYER_COLUMNS, relayerKey } from '../parts/relayers.tsx';
import { WindowChoice } from '../parts/window-choice.tsx';
import { GROWTH_WINDOWS, WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { Link } from '../router.tsx';
import { facilitatorPath, type PageProps } from '../routes.ts';
import { useOffsetList } from '../use-list.ts';
import type { Facilitators, RankedRow, Rankings } from '../wire.ts';

const PATH = '/facilitators';
const RELAYERS_PATH = '/relayers';
const ORDERS = ['settlements', 'growth'] as const satisfies readonly RankedOrder[];

function Tabs({ current }: { readonly current: string }) {
  const tabs = [
    { to: PATH, title: 'By facilitator' },
    { to: RELAYERS_PATH, title: 'By relayer' },
  ];
  return (
    <PageTabs label="Facilitators" tabs={tabs.map((tab) => ({ ...tab, isCurrent: tab.to === current }))} />
  );
}

/** Named facilitators, ranked by what they relayed in a window. */
export function FacilitatorsPage({ query }: PageProps) {
  const by = orderOf(query, ORDERS);
  const window = windowOf(query);
  const { answer, rows, list } = useRanking({ of: 'facilitators', path: PATH, query, by });
  const field = { path: PATH, query };
  return (
    <>
      <PageHead
        title="Facilitators"
        tools={<OpenInSql {...facilitatorsSql({ window, chain: query.get('chain') })} isButton />}
      >
        Named facilitators by the settlements that they relayed. A facilitator is no party of a payment, so no
        verdict is about it.
      </PageHead>
      <Tabs current={PATH} />
      <FilterForm label="Filter facilitators" query={query}>
        <WindowChoice {...field} {...(by === 'growth' ? { windows: GROWTH_WINDOWS } : {})} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
      </FilterForm>
      <DataTable
        caption={`Facilitators ${WINDOW_DURING[window]}`}
        columns={columnsOf(comparedWindow(window, rows), by, answer?.meta ?? null)}
        rows={rows}
        keyOf={(row) => row.facilitator ?? String(row.rank)}
        sort={rankingSort({ path: PATH, query, by })}
        list={{ what: 'facilitators', ...list }}
      />
      <RankedAt answer={answer}>
        Payments of a wallet to itself count nowhere, except in proven dollars.
      </RankedAt>
    </>
  );
}

function columnsOf(
  window: Window,
  by: RankedOrder,
  meta: Rankings['meta'] | null,
): readonly Column<RankedRow>[] {
  return [
    rankColumn(window),
    {
      name: 'Facilitator',
      isRowHeader: true,
      cell: ({ facilitator: id = '', name, name_source: source }) => (
        <span class="facilitator">
          <FacilitatorSwatch id={id} />
          <Link to={facilitatorPath(id)} title={nameSourceText(source)}>
            {name ?? id}
          </Link>
          {name === null || name === id ? null : <span class="muted small">{id}</span>}
        </span>
      ),
    },
    {
      name: 'Settlements',
      isFigure: true,
      sortKey: 'settlements',
      cell: ({ figures }) => countText(figures.settlement_count),
    },
    trendColumn(meta, ({ facilitator = null }) => facilitatorColour(facilitator)),
    changeColumn(window, by),
    {
      name: 'Settled',
      isFigure: true,
      help: 'Dollars, without payments of a wallet to itself',
      cell: ({ figures }) => <Money usd={figures.settled_usd} />,
    },
    {
      name: 'Proven',
      isFigure: true,
      priority: 2,
      help: 'Dollars of settlements that are proven, payments to oneself included',
      cell: ({ figures: { proven_usd: usd } }) =>
        usd === null ? <span class="muted">–</span> : <Money usd={usd} />,
    },
  ];
}

const RELAYER_FILTERS = ['chain', 'facilitator', 'named_only', 'enriched_only'] as const;

/** The accounts that send the transactions, busiest first, with their nonce and gas on the chain. */
export function RelayersPage({ query }: PageProps) {
  const field = { path: RELAYERS_PATH, query };
  const { answer, list } = useOffsetList<Facilitators>({
    ...field,
    api: PATH,
    filters: RELAYER_FILTERS,
  });
  return (
    <>
      <PageHead title="Relayers">
        Addresses that send settlements, busiest first. Nonce and gas are read from the chain; the numbers of
        payers and payees are estimates.
      </PageHead>
      <Tabs current={RELAYERS_PATH} />
      <FilterForm label="Filter relayers" query={query}>
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
        <CheckFilter {...field} label="Named only" name="named_only" />
        <CheckFilter {...field} label="Read from the chain only" name="enriched_only" />
      </FilterForm>
      <DataTable
        caption="Relayers, busiest first"
        columns={RELAYER_COLUMNS}
        rows={answer?.facilitators ?? null}
        keyOf={relayerKey}
        list={{ what: 'relayers', ...list }}
      />
    </>
  );
}
