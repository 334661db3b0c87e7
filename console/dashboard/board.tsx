import { PERIODS } from '../../core/domain/dashboard.ts';
import { ADDRESS_MAX_CHARS } from '../account-texts.ts';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { FilterForm, SelectFilter, TextFilter, useChainOptions } from '../parts/page-head.tsx';
import { Link } from '../router.tsx';
import { withQuery } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { Dashboard } from '../wire.ts';
import { type BoardChoice, boardPath, choiceOf, DEFAULT_PERIOD, hasPeriod, lacksWallet } from './choice.ts';
import { Panel } from './panel.tsx';

/** A dashboard as its readers see it: the choice of period and chain, and the panels in a grid. */

interface BoardPlace {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The dashboard of the API for the choice of an address. */
export function useBoard(name: Pick<Dashboard, 'owner' | 'slug'>, query: URLSearchParams) {
  const choice = choiceOf(query);
  const { period, chain, wallet, token } = choice;
  const state = useAnswer<{ readonly dashboard: Dashboard }>(boardPath(name), {
    query: { period, chain, wallet, token },
  });
  return { ...state, choice, board: state.answer?.dashboard ?? null };
}

interface BoardChoiceProps extends BoardPlace {
  readonly board: Dashboard | null;
  readonly choice: BoardChoice;
}

/** Without a dashboard yet the usual choices are there, so that the page does not jump. */
export function BoardFilters({ board, choice, path, query }: BoardChoiceProps) {
  const options = useChainOptions();
  const field = { path, query };
  return (
    <FilterForm label="Period and chain" query={query}>
      {board === null || hasPeriod(board) ? (
        <nav class="segmented window-choice" aria-label="Period">
          {PERIODS.map((period) => (
            <Link
              key={period}
              to={withQuery(path, query, { period: period === DEFAULT_PERIOD ? null : period })}
              current={period === choice.period}
            >
              {period}
            </Link>
          ))}
        </nav>
      ) : null}
      {board === null || board.takes.includes('chain') ? (
        <SelectFilter {...field} label="Chain" name="chain" options={options} />
      ) : null}
      {board?.takes.includes('wallet') ? (
        <TextFilter
          {...field}
          label="Wallet"
          name="wallet"
          placeholder="0x… or base58"
          maxLength={ADDRESS_MAX_CHARS}
        />
      ) : null}
    </FilterForm>
  );
}

interface BoardGridProps {
  readonly state: ReturnType<typeof useBoard>;
}

export function BoardGrid({ state: { board, choice, problem, reload } }: BoardGridProps) {
  if (board === null)
    return problem === null ? (
      <Loading what="the dashboard" lines={8} />
    ) : (
      <ProblemState problem={problem} onRetry={reload} />
    );
  if (lacksWallet(board, choice))
    return (
      <EmptyState title="Choose a wallet">
        <p>
          Enter the address of a seller above. <Link to="/merchants">The ranking of sellers</Link> has those
          that were paid the most.
        </p>
      </EmptyState>
    );
  return (
    <div class="board">
      {board.panels.map((panel) => (
        <Panel key={panel.id} board={board} panel={panel} choice={choice} />
      ))}
    </div>
  );
}
