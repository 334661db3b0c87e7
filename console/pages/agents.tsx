import { useMemo } from 'preact/hooks';
import type { PageProps } from '../page.ts';
import { AgentTable } from '../parts/agent-table.tsx';
import { CheckFilter, FilterForm, pick, SelectFilter, TextFilter } from '../parts/filters.tsx';
import { ListState, MoreButton } from '../parts/list-states.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useChainOptions } from '../parts/use-chains.ts';
import { usePages } from '../parts/use-pages.ts';
import type { Agent, AgentsAnswer, CapabilitiesAnswer } from '../parts/wire.ts';
import { useAnswer } from '../use-answer.ts';

const PATH = '/agents';
const FILTERS = ['q', 'capability', 'chain', 'x402_declared'] as const;
const PAGE_ROWS = 30;
const TEXT_MAX = 100;

const rowsOf = ({ agents }: AgentsAnswer): readonly Agent[] => agents;

/** Registered agents, the newest first, by words and by what they offer. */
export function AgentsPage({ query }: PageProps) {
  const chosen = JSON.stringify(pick(query, FILTERS));
  const asked = useMemo(() => ({ ...JSON.parse(chosen), limit: PAGE_ROWS }), [chosen]);
  const list = usePages<AgentsAnswer, Agent>(PATH, asked, rowsOf);
  return (
    <>
      <PageHead title="Agents">
        Registered with ERC-8004, the newest first. Names and descriptions are claims of whoever registered
        them.
      </PageHead>
      <Filters query={query} />
      <ListState what="agents" {...list} isFiltered={chosen !== '{}'} onRetry={list.reload}>
        <AgentTable
          caption="Agents, the newest registration first"
          agents={list.rows ?? []}
          rankedBy={null}
        />
        <MoreButton {...list} shown={list.rows?.length ?? 0} what="agents" />
      </ListState>
    </>
  );
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const field = { path: PATH, query };
  const { answer } = useAnswer<CapabilitiesAnswer>('/capabilities', { query: { fields: 'compact' } });
  const capabilities = [
    { value: '', label: 'any capability' },
    ...(answer?.capabilities ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
  ];
  return (
    <FilterForm label="Filter agents">
      <TextFilter
        {...field}
        label="Words"
        name="q"
        placeholder="of name or description"
        maxLength={TEXT_MAX}
      />
      <SelectFilter {...field} label="Capability" name="capability" options={capabilities} />
      <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('default chain')} />
      <CheckFilter {...field} label="Declares x402" name="x402_declared" />
    </FilterForm>
  );
}
