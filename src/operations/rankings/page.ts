import type { Static } from '@sinclair/typebox';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Window } from '../../../core/domain/window.ts';
import { listMeta } from '../meta.ts';
import { invalid } from '../params.ts';
import { type Chosen, choose, isRating, type Order, type RankedSubject } from './orders.ts';
import { RANKING_OFFSET_MAX, type RankingDeps } from './rankings.ts';
import { type RankedRowShape, type RankingMetaShape, rankedAnswers, rankingFacts } from './shape.ts';

/** One page of a ranking by payments, as every route that lists one answers it. */

interface RankingInput {
  readonly by: Order | undefined;
  readonly window: Window | undefined;
  readonly capability: string | undefined;
}

/** The ranked page that a caller asks for, with its defaults. Throws `invalid_parameter`. */
export function checkedRanking({
  of,
  by,
  window,
  capability,
}: RankingInput & { readonly of: RankedSubject }): Chosen {
  return choose({ of, by, window, capability });
}

export function checkRankingOffset(offset: number): void {
  if (offset > RANKING_OFFSET_MAX)
    throw invalid(
      'offset',
      `offset reaches to ${RANKING_OFFSET_MAX} in a ranking by payments; use the filters to see what lies beyond.`,
    );
}

interface PageInput {
  readonly limit: number;
  readonly offset: number;
  readonly chain: Chain | undefined;
  readonly chosen: Chosen;
  readonly capability: string | undefined;
  /** Part of a name. */
  readonly q?: string | undefined;
  readonly min_counterparties: number;
  readonly include_flagged: boolean;
}

interface Page {
  readonly rows: Static<typeof RankedRowShape>[];
  readonly next_offset: number | null;
  readonly meta: Static<typeof RankingMetaShape>;
}

export async function rankingPage(
  { limit, offset, chain, chosen, capability, q, ...filters }: PageInput,
  deps: RankingDeps,
): Promise<Page> {
  const {
    clock,
    deployment: { chains },
    index: { dataset, freshness, names },
    rankings,
  } = deps;
  const { by, ...asked } = chosen;
  if (isRating(by)) throw new TypeError(`no ranking by payments: ${by}`);
  const nowMs = clock.nowMs();
  const scope = {
    ...asked,
    by,
    chain,
    capability,
    name: q,
    minCounterparties: filters.min_counterparties,
    includeFlagged: filters.include_flagged,
  };
  const [page, statuses] = await Promise.all([rankings.page(scope, { offset, limit }), freshness.statuses()]);
  const directory = await names.of(page.rows.flatMap(({ subject }) => subject.wallet ?? []));
  const isListed = asked.of === 'endpoints' || asked.of === 'capabilities';
  const table = isListed ? () => dataset.endpoints(chain) : dataset.settlements;
  const next = offset + limit;
  const meta = await listMeta({ chain, chains, statuses, nowMs }, page.rows, table);
  const pending = page.isPending ? (['rankings_not_computed'] as const) : [];
  return {
    rows: rankedAnswers(page, { by, directory, chains: chain === undefined ? chains : [chain] }),
    next_offset: page.hasMore && next <= RANKING_OFFSET_MAX ? next : null,
    meta: {
      ...meta,
      ...(pending.length > 0 ? { warnings: [...(meta.warnings ?? []), ...pending] } : {}),
      ...rankingFacts(page, chosen),
    },
  };
}
