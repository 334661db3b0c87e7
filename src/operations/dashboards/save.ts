import { randomBytes } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { ZERO_ADDRESS } from '../../../core/domain/account.ts';
import {
  DASHBOARD_PANELS_MAX,
  PANEL_CHARTS,
  PANEL_KINDS,
  PANEL_TEXT_MAX_CHARS,
  PANEL_WIDTHS,
  PERIODS,
} from '../../../core/domain/dashboard.ts';
import { isSlug, VISIBILITIES } from '../../../core/domain/saved-query.ts';
import { fail } from '../../../core/errors.ts';
import { defineOperation } from '../define.ts';
import { type InputOf, invalid, type Param, quoted, readChoice } from '../params.ts';
import { PRICES } from '../prices.ts';
import { ownOrganization } from '../saved/describe.ts';
import { field, isObject, readText, textField } from '../saved/params.ts';
import { orNull } from '../shapes.ts';
import { type BoardDeps, digestOf, noSuchBoard } from './boards.ts';
import { boardAnswer } from './declare.ts';
import { type Panel, type PanelChart, valuesFor } from './definition.ts';
import { boardSlugParam } from './params.ts';
import { DASHBOARD_EXAMPLE, DashboardShape, SentPanelShape } from './shapes.ts';

/** What an organization puts on a dashboard of its own. */

const TITLE_MAX_CHARS = 100;
const DESCRIPTION_MAX_CHARS = 2_000;
const COLUMN_MAX_CHARS = 200;
const COLUMNS_MAX = 20;
/** Queries that a reader of a dashboard shows beside its panels: all but those for text and the live list. */
const SENT_KINDS = PANEL_KINDS.filter((kind) => kind !== 'payments');
const TOKENS = ['keep', 'new', 'none'] as const;
const TOKEN_BYTES = 24;

type SentPanel = Static<typeof SentPanelShape>;

const panelsParam: Param<readonly Panel[]> = {
  in: 'body',
  description: `Its panels in the order of the grid, at most ${DASHBOARD_PANELS_MAX}. Each shows a saved query of the organization, or a text.`,
  required: true,
  schema: Type.Array(SentPanelShape, { maxItems: DASHBOARD_PANELS_MAX }),
  read: (raw, name) => {
    if (!Array.isArray(raw) || raw.length > DASHBOARD_PANELS_MAX)
      throw invalid(name, `${name} must be a list of at most ${DASHBOARD_PANELS_MAX} panels.`);
    const panels = raw.map((one: unknown, at) => readPanel(one, at, `${name}[${at}]`));
    const ids = new Set(panels.map(({ id }) => id));
    if (ids.size < panels.length) throw invalid(name, `${name} has two panels with the same id.`);
    return panels;
  },
};

const FIELDS: readonly string[] = Object.keys(SentPanelShape.properties);

function readPanel(raw: unknown, at: number, name: string): Panel {
  if (!isObject(raw)) throw invalid('panels', `${name} must be an object, not ${quoted(raw)}.`);
  const odd = Object.keys(raw).find((one) => !FIELDS.includes(one));
  if (odd !== undefined)
    throw invalid('panels', `${name} has ${quoted(odd)}; it takes ${FIELDS.join(', ')}.`);
  const sent = raw as Partial<Record<keyof SentPanel, unknown>>; // its keys were just compared
  const id = sent.id ?? `panel-${at + 1}`;
  if (typeof id !== 'string' || !isSlug(id)) throw invalid('panels', `${name}.id must be a slug.`);
  const kind = choiceOf(sent.kind, `${name}.kind`, SENT_KINDS);
  const query = sent.query ?? null;
  const isText = kind === 'text';
  if (isText !== (query === null) || (query !== null && (typeof query !== 'string' || !isSlug(query))))
    throw invalid('panels', `${name}.query must be the slug of a saved query, and null for a panel of text.`);
  return {
    id,
    kind,
    query,
    title: textOf(sent.title, `${name}.title`, TITLE_MAX_CHARS),
    width: choiceOf(sent.width ?? 'full', `${name}.width`, PANEL_WIDTHS),
    text: textOf(sent.text, `${name}.text`, PANEL_TEXT_MAX_CHARS),
    chart: sent.chart == null ? null : readChart(sent.chart, `${name}.chart`),
  };
}

function choiceOf<Choice extends string>(raw: unknown, at: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === raw);
  if (found !== undefined) return found;
  throw invalid('panels', `${at} must be one of ${choices.join(', ')}, not ${quoted(raw)}.`);
}

function textOf(raw: unknown, at: string, maxChars: number): string {
  try {
    return readText(raw ?? '', 'panels', maxChars, true);
  } catch {
    throw invalid('panels', `${at} must be a text of at most ${maxChars} printable characters.`);
  }
}

function readChart(raw: unknown, at: string): PanelChart {
  if (!isObject(raw)) throw invalid('panels', `${at} must be an object, not ${quoted(raw)}.`);
  const { kind, x = null, y = [], by = null } = raw;
  const isName = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= COLUMN_MAX_CHARS;
  if (!Array.isArray(y) || y.length > COLUMNS_MAX || !y.every(isName))
    throw invalid('panels', `${at}.y must be a list of at most ${COLUMNS_MAX} names of columns.`);
  if ((x !== null && !isName(x)) || (by !== null && !isName(by)))
    throw invalid('panels', `${at}.x and ${at}.by must be names of columns, or null.`);
  return { kind: choiceOf(kind, `${at}.kind`, PANEL_CHARTS), x, y, by };
}

const SAVE_PARAMS = {
  slug: boardSlugParam,
  title: textField(TITLE_MAX_CHARS, 'Its name'),
  description: textField(DESCRIPTION_MAX_CHARS, 'What it shows', true),
  visibility: field(
    {
      description:
        '`private`: for keys of the organization, and for whoever has the token of its frame. `unlisted`, `public`: for everyone who has its address.',
      schema: Type.Union(
        VISIBILITIES.map((one) => Type.Literal(one)),
        { default: 'private' },
      ),
      standard: 'private' as const,
    },
    (raw, name) => readChoice(raw, name, VISIBILITIES),
  ),
  panels: panelsParam,
  token: {
    ...field(
      {
        description:
          '`new`: makes the token that opens it in a frame, in place of an earlier one, and answers it once. `none`: the token opens nothing any more.',
        schema: Type.Union(
          TOKENS.map((one) => Type.Literal(one)),
          { default: 'keep' },
        ),
        standard: 'keep' as const,
      },
      (raw, name) => readChoice(raw, name, TOKENS),
    ),
  },
};

export const saveDashboard = defineOperation({
  id: 'saveDashboard',
  wire: {
    method: 'PUT',
    path: '/dashboards/{slug}',
    params: SAVE_PARAMS,
    output: Type.Object({
      dashboard: DashboardShape,
      token: orNull(Type.String({ description: 'Of its frame, where one was made: it is told once.' })),
    }),
    fails: ['api_key_required', 'key_restricted', 'invalid_parameter', 'handle_required', 'query_limit'],
  },
  words: {
    summary: 'Save a dashboard',
    description:
      'Panels of saved queries of your organization, under its handle. Placeholders `period`, `hours`, `days`, `chain` and `wallet` of the queries are filled in by what a reader chooses; the others have their defaults. A dashboard that others may open has queries that others may call. Free; the same limit as saved queries.',
    tool: null,
    example: { dashboard: { ...DASHBOARD_EXAMPLE, owner: 'acme', is_own: true, panels: [] }, token: null },
    requestExamples: {
      note: {
        summary: 'A query and a text',
        value: {
          title: 'Sales',
          visibility: 'private',
          panels: [
            { kind: 'chart', title: 'Top payees', width: 'half', query: 'top-payees' },
            { kind: 'text', width: 'half', text: 'What we are paid.' },
          ],
        },
      },
    },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'replaces' },
  effects: ({ visibility, token }) => [
    'keeps',
    'changes',
    ...(visibility === 'private' && token !== 'new' ? [] : (['publishes'] as const)),
  ],
  run: async (input, deps: BoardDeps, { caller }) => {
    const { id: organizationId } = ownOrganization(caller);
    const { saved, boards } = deps.accounts;
    if ((await saved.handleOf(organizationId)) === null)
      throw fail('handle_required', { detail: 'A dashboard needs an owner: choose a handle first.' });
    await checkQueries(input, organizationId, deps);
    const { slug, title, description, panels, visibility } = input;
    const before = await boards.find({ organizationId, slug });
    const token = input.token === 'new' ? randomBytes(TOKEN_BYTES).toString('base64url') : null;
    const kept = input.token === 'keep' ? (before?.tokenDigest ?? null) : null;
    const board = await boards.save({
      organizationId,
      slug,
      content: { title, description, panels },
      settings: { visibility, tokenDigest: token === null ? kept : digestOf(token) },
    });
    const found = { board, organizationId, isOwn: true, isTrusted: true };
    return { dashboard: await boardAnswer(found, NO_CHOICE, deps), token };
  },
});

const NO_CHOICE = { period: PERIODS[1], chain: undefined, wallet: undefined };

/** Each panel has a query, which its readers may call and which a dashboard can fill in. */
async function checkQueries(
  { panels, visibility }: InputOf<typeof SAVE_PARAMS>,
  organizationId: string,
  { accounts: { saved } }: BoardDeps,
): Promise<void> {
  for (const { id, query: slug } of panels) {
    if (slug === null) continue;
    const query = await saved.find({ organizationId, slug, version: null });
    if (query === null) throw invalid('panels', `The panel ${id} names ${slug}, which is not saved.`);
    if (visibility !== 'private' && query.settings.visibility === 'private')
      throw invalid(
        'panels',
        `The query ${slug} of the panel ${id} is private, and the dashboard is not: make the query public or unlisted first.`,
      );
    if (valuesFor(query, { ...NO_CHOICE, wallet: ZERO_ADDRESS }) === null)
      throw invalid(
        'panels',
        `The query ${slug} of the panel ${id} has a parameter without a default that a dashboard does not fill in.`,
      );
  }
}

export const deleteDashboard = defineOperation({
  id: 'deleteDashboard',
  wire: {
    method: 'DELETE',
    path: '/dashboards/{slug}',
    params: { slug: boardSlugParam },
    output: Type.Object({ slug: Type.String(), deleted: Type.Boolean() }),
    fails: ['api_key_required', 'key_restricted', 'dashboard_not_found'],
  },
  words: {
    summary: 'Remove a dashboard',
    description: 'Its address and its frame are 404 from then on. Its queries stay.',
    tool: null,
    example: { slug: 'sales', deleted: true },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'removes' },
  run: async ({ slug }, { accounts }: BoardDeps, { caller }) => {
    const { id: organizationId } = ownOrganization(caller);
    if (!(await accounts.boards.remove({ organizationId, slug }))) throw noSuchBoard();
    return { slug, deleted: true };
  },
});
