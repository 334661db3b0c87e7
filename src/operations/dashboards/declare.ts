import { type Static, Type } from '@sinclair/typebox';
import { DEPLOYMENT_OWNER, PANEL_ROWS_MAX } from '../../../core/domain/dashboard.ts';
import { RESULT_KEPT_MS } from '../../../core/domain/job.ts';
import { fail } from '../../../core/errors.ts';
import { type KeptResult, queryKeyOf } from '../../results/results.ts';
import type { Outcome } from '../answer.ts';
import { defineOperation } from '../define.ts';
import { PRICES } from '../prices.ts';
import { SAVED_ANSWER_HEADERS } from '../saved/answers.ts';
import type { SavedQuery } from '../saved/definition.ts';
import { timeOf } from '../saved/describe.ts';
import { QUERY_ANSWER_EXAMPLE, QueryAnswerShape } from '../saved/shapes.ts';
import { judged } from '../sql/failures.ts';
import { keptSqlOf } from '../sql/kept.ts';
import { type BoardDeps, type FoundBoard, noSuchBoard, queryOfPanel, visibleBoard } from './boards.ts';
import {
  BOARD_PLACEHOLDERS,
  type Dashboard,
  type DashboardChoice,
  type Panel,
  valuesFor,
} from './definition.ts';
import { BOARD_PARAMS, PANEL_PARAMS } from './params.ts';
import {
  DASHBOARD_EXAMPLE,
  DashboardShape,
  LISTED_DASHBOARD_EXAMPLE,
  ListedDashboardShape,
} from './shapes.ts';
import { SHIPPED_DASHBOARDS } from './shipped.ts';

/** Dashboards as everyone reads them: free, and from kept results alone. */

export const listDashboards = defineOperation({
  id: 'listDashboards',
  wire: {
    path: '/dashboards',
    params: {},
    output: Type.Object({ dashboards: Type.Array(ListedDashboardShape) }),
    fails: [],
  },
  words: {
    summary: 'Dashboards',
    description:
      'The dashboards that come with the service, and with the key of an organization its own. Guide: [dashboards](/docs/dashboards).',
    tool: null,
    example: { dashboards: [LISTED_DASHBOARD_EXAMPLE] },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async (_input, deps: BoardDeps, { caller: { organization, key } }) => {
    const own =
      organization === null || key?.isLent === true ? [] : await deps.accounts.boards.list(organization.id);
    return {
      dashboards: [...SHIPPED_DASHBOARDS.values(), ...own].map((board) => listedBoard(board, deps)),
    };
  },
});

export const getDashboard = defineOperation({
  id: 'getDashboard',
  wire: {
    path: '/dashboards/{owner}/{slug}',
    params: BOARD_PARAMS,
    output: Type.Object({ dashboard: DashboardShape }),
    fails: ['invalid_parameter', 'dashboard_not_found'],
  },
  words: {
    summary: 'A dashboard',
    description:
      'Its panels with their queries, and the values of their placeholders for the period, the chain and the wallet that are asked for. Rows of a panel: `GET /v0/dashboards/{owner}/{slug}/panels/{panel}`.',
    tool: null,
    example: { dashboard: DASHBOARD_EXAMPLE },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async (input, deps: BoardDeps, { caller }) => {
    const found = await visibleBoard(input, deps, caller);
    return { dashboard: await boardAnswer(found, input, deps) };
  },
});

export const getDashboardPanel = defineOperation({
  id: 'getDashboardPanel',
  wire: {
    path: '/dashboards/{owner}/{slug}/panels/{panel}',
    params: PANEL_PARAMS,
    output: QueryAnswerShape,
    answerHeaders: SAVED_ANSWER_HEADERS,
    fails: ['invalid_parameter', 'dashboard_not_found', 'result_not_found', 'upstream_unavailable'],
    caching: 'revalidate',
  },
  words: {
    summary: 'The rows of a panel',
    description: `The kept result of its query, as arrays of values, at most ${PANEL_ROWS_MAX.toLocaleString('en')} rows. Free: a panel of the deployment is made anew at most once a minute and for all readers together, and one of an organization shows the result that a call or a refresh of its owner left. 404 \`result_not_found\` where there is none. An answer has a tag.`,
    tool: null,
    example: { ...QUERY_ANSWER_EXAMPLE, rows: [['0x4020615294c913f045dc10f0a5cdebd86c280001', '1284.03']] },
  },
  money: { price: PRICES.free },
  run: async (input, deps: BoardDeps, { caller }): Promise<Outcome> => {
    const found = await visibleBoard(input, deps, caller);
    const panel = found.board.content.panels.find(({ id }) => id === input.panel);
    const query = panel === undefined ? null : await queryOfPanel(panel, found, deps);
    if (query === null) throw noSuchBoard();
    const values = valuesFor(query, input);
    if (values === null) throw noSuchResult('It takes a value that was not sent, such as `wallet`.');
    const kept = await keptRows(query, values, deps);
    const ready = await keptSqlOf(deps).answers.read(kept, query, {
      format: 'json_compact',
      numbers: 'text',
      maxRows: Math.min(PANEL_ROWS_MAX, kept.rows),
      offset: 0,
    });
    return { usedQu: null, rows: ready.rows, answer: ready.answer, discard: ready.discard };
  },
});

export async function keptRows(
  query: SavedQuery,
  values: Readonly<Record<string, string>>,
  deps: BoardDeps,
): Promise<KeptResult> {
  if (query.owner === DEPLOYMENT_OWNER && deps.standing !== null) return deps.standing.read(query, values);
  const { results, answers } = keptSqlOf(deps);
  const { sql, maxRows } = query.content;
  const { organizationId } = query;
  const printed =
    answers.printed.get(sql) ??
    (await judged({ text: sql, parameters: values, caller: organizationId }, deps.sql)).text;
  answers.printed.set(sql, printed);
  const kept = await results.recent({
    queryKey: queryKeyOf(printed, values),
    maxRows,
    maxAgeMs: RESULT_KEPT_MS,
  });
  // A result of the same text that another organization paid for is not the owner’s to show.
  if (kept !== null && (await results.mayRead(kept, organizationId))) return kept;
  throw noSuchResult('Its owner makes one by calling the query with these values, or by a refresh of it.');
}

function noSuchResult(detail: string): Error {
  return fail('result_not_found', { detail: `The panel has no kept result. ${detail}` });
}

export function listedBoard(
  { owner, slug, content: { title, description }, visibility }: Dashboard,
  { deployment: { publicUrl } }: Pick<BoardDeps, 'deployment'>,
): Static<typeof ListedDashboardShape> {
  const url = `${publicUrl}/console/dashboards/${owner}/${slug}`;
  return { owner, slug, title, description, visibility, url };
}

export async function boardAnswer(
  found: FoundBoard,
  choice: DashboardChoice,
  deps: BoardDeps,
): Promise<Static<typeof DashboardShape>> {
  const { board, isOwn } = found;
  const queries = await Promise.all(board.content.panels.map((panel) => queryOfPanel(panel, found, deps)));
  const taken = new Set(queries.flatMap((query) => query?.content.parameters.map(({ name }) => name) ?? []));
  const { publicUrl } = deps.deployment;
  return {
    ...listedBoard(board, deps),
    is_own: isOwn,
    takes: BOARD_PLACEHOLDERS.filter((name) => taken.has(name)),
    period: choice.period,
    chain: choice.chain ?? null,
    wallet: choice.wallet ?? null,
    panels: board.content.panels.map((panel, at) =>
      panelAnswer(panel, queries[at] ?? null, { choice, isOwn }),
    ),
    updated_at: board.updatedAtMs === 0 ? null : timeOf(board.updatedAtMs),
    embed_url: `${publicUrl}/embed/${board.owner}/${board.slug}`,
    has_token: isOwn && board.tokenDigest !== null,
  };
}

function panelAnswer(
  { query: _slug, chart, ...panel }: Panel,
  query: SavedQuery | null,
  { choice, isOwn }: { readonly choice: DashboardChoice; readonly isOwn: boolean },
): Static<typeof DashboardShape>['panels'][number] {
  return {
    ...panel,
    chart: chart === null ? null : { ...chart, y: [...chart.y] },
    query:
      query === null
        ? null
        : {
            slug: query.slug,
            sql: query.settings.hidesText && !isOwn ? null : query.content.sql,
            parameters: Object.entries(valuesFor(query, choice) ?? {}).map(([name, value]) => ({
              name,
              value,
            })),
          },
  };
}
