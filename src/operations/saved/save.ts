import { Type } from '@sinclair/typebox';
import { fail } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { keyManager } from '../account/scope.ts';
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import { type InputOf, invalid } from '../params.ts';
import { PRICES, sqlBudget, sqlTierOf } from '../prices.ts';
import { oneOf } from '../shapes.ts';
import { judged, placeholdersOf, rejected } from '../sql/failures.ts';
import type { SavedContent, SavedParameter, SavedSettings } from './definition.ts';
import { noSuchQuery, ownAnswer, ownOrganization } from './describe.ts';
import {
  handleParam,
  SAVE_PARAMS,
  STANDARD_FRESHNESS_SECONDS,
  slugParam,
  TAKEN_NAMES,
  type ToldParameter,
} from './params.ts';
import type { SavedDeps } from './saved-queries.ts';
import { SAVED_QUERY_EXAMPLE, SavedQueryShape } from './shapes.ts';
import { readValue, typeInWords, valueTypeOf } from './values.ts';

/** What an organization saves, and under which name. */

export const claimHandle = defineOperation({
  id: 'claimHandle',
  wire: {
    method: 'PUT',
    path: '/account/handle',
    params: { handle: handleParam },
    output: Type.Object({ handle: Type.String() }),
    fails: ['api_key_required', 'key_restricted', 'handle_taken'],
  },
  words: {
    summary: 'Choose the handle of the organization',
    description:
      'The owner name in the addresses of the organization’s saved queries. Needs a key that manages keys. A handle is chosen once: it never changes and is never given to another organization, so that addresses stay valid. A handle that looks like another organization’s is refused. Sending the same handle again changes nothing.',
    tool: 'Choose the name of your organization, for good: saved queries are called by it.',
    example: { handle: 'acme' },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'adds' },
  run: async ({ handle }, { accounts }: SavedDeps, { caller }) => {
    const { organizationId } = keyManager(caller);
    const outcome = await accounts.saved.claimHandle({ organizationId, handle });
    if (outcome === 'taken')
      throw fail('handle_taken', {
        detail: `${handle} is the handle of another organization, or looks like one.`,
      });
    if (outcome === 'has_other') {
      const own = await accounts.saved.handleOf(organizationId);
      throw fail('handle_taken', { detail: `The organization has the handle ${own} for good.` });
    }
    return { handle };
  },
});

const OUTCOMES = ['created', 'new_version', 'changed', 'unchanged'] as const;

export const saveQuery = defineOperation({
  id: 'saveQuery',
  wire: {
    method: 'PUT',
    path: '/queries/{slug}',
    params: SAVE_PARAMS,
    output: Type.Object({
      outcome: oneOf(OUTCOMES, {
        title: 'SaveOutcome',
        description: '`changed`: only what holds for all versions. `unchanged`: nothing.',
      }),
      query: SavedQueryShape,
    }),
    fails: [
      'api_key_required',
      'key_restricted',
      'invalid_query',
      'query_failed',
      'upgrade_required',
      'handle_required',
      'query_limit',
    ],
  },
  words: {
    summary: 'Save a query as an endpoint',
    description:
      'Checks the query like `POST /v0/sql`, plans it with the values of its parameters, and saves it. Its address is `GET /v0/q/{owner}/{slug}`. A version never changes: a new text, parameters, limits, title or description make the next version, and an earlier version is called with `?version=`. Visibility, `hide_text`, `price_qu` and `refresh_seconds` apply to all versions. Free.',
    tool: 'Save a query under your handle (claim_handle), to be called with call_saved_query, and to be sold with price_qu. The same slug again makes its next version.',
    example: { outcome: 'new_version', query: SAVED_QUERY_EXAMPLE },
    requestExamples: {
      public: {
        summary: 'A query with a parameter that everyone may call.',
        value: {
          sql: 'SELECT payee, sum(settled_usd) AS usd FROM merchant_days WHERE day >= today() - {days:UInt16} GROUP BY payee ORDER BY usd DESC LIMIT 10',
          parameters: { days: { description: 'Days up to now.', default: 7 } },
          title: 'Top payees',
          visibility: 'public',
        },
      },
    },
  },
  money: { price: PRICES.free, load: 'query' },
  access: { changes: 'replaces' },
  check: (input) => {
    const { tier, max_qu: maxQu, freshness_seconds: freshness, refresh_seconds: refresh } = input;
    const { jobQu } = sqlTierOf(tier);
    if (maxQu > jobQu)
      throw invalid('max_qu', `max_qu is at most ${jobQu} in the tier ${tier}, not ${maxQu}.`);
    if (refresh !== undefined && freshness !== undefined && freshness < refresh)
      throw invalid(
        'freshness_seconds',
        `freshness_seconds must be at least refresh_seconds (${refresh}): a result that is older would be made anew by each call.`,
      );
    return input;
  },
  effects: ({ visibility, price_qu: priceQu, refresh_seconds: refresh }) => [
    'keeps',
    'changes',
    ...(visibility === 'private' && priceQu === 0 ? [] : (['publishes'] as const)),
    ...(refresh === undefined ? [] : (['schedules'] as const)),
  ],
  run: async (input, deps: SavedDeps, { caller, callerName }) => {
    const organization = ownOrganization(caller);
    refuseTier(input.tier, caller.organization?.plan, deps);
    const { saved } = deps.accounts;
    const owner = await saved.handleOf(organization.id);
    if (owner === null)
      throw fail('handle_required', { detail: 'A saved query needs an owner: choose a handle first.' });
    const content = await contentOf(input, deps, callerName);
    const { slug } = input;
    const settings = settingsOf(input, caller.key?.id ?? null);
    const wanted = { organizationId: organization.id, owner, slug, content, settings };
    const { outcome, query } = await saved.save(wanted);
    return { outcome, query: await ownAnswer(query, deps) };
  },
});

type SaveInput = InputOf<typeof SAVE_PARAMS>;

function refuseTier(
  tier: SaveInput['tier'],
  plan: keyof OperationDeps['deployment']['plans'] | undefined,
  { deployment: { plans } }: OperationDeps,
): void {
  if (plan !== undefined && plans[plan].sqlTiers.includes(tier)) return;
  throw fail('upgrade_required', { detail: `The plan ${plan} does not include the tier ${tier}.` });
}

function settingsOf(input: SaveInput, keyId: string | null): SavedSettings {
  return {
    visibility: input.visibility,
    hidesText: input.hide_text,
    priceQu: input.price_qu,
    refreshSeconds: input.refresh_seconds ?? null,
    ...(input.refresh_seconds === undefined ? {} : { scheduledBy: keyId }),
  };
}

/** The version as it is kept. Rejects with the fault of its text or of its parameters. */
async function contentOf(input: SaveInput, deps: SavedDeps, callerName: string): Promise<SavedContent> {
  const { sql, parameters: told, tier, refresh_seconds: refresh } = input;
  // A value is read by the type that the text gives it, so the text is read before it is judged with the values.
  const types = await typesOf(sql, deps, callerName);
  const parameters = told.map((one) => savedParameter(one, types));
  const needed = parameters.find(({ standard }) => standard === null);
  if (refresh !== undefined && needed !== undefined)
    throw invalid(
      'refresh_seconds',
      `refresh_seconds: the query runs with its defaults, and ${needed.name} has none.`,
    );
  const values = judgedValues(parameters);
  const text = { text: sql, parameters: values, caller: callerName };
  const accepted = await judged(text, deps.sql);
  await planned(accepted, { sql, values, tier }, deps, callerName);
  const { title, description, max_qu: maxQu, max_rows: maxRows } = input;
  const standard = refresh === undefined ? STANDARD_FRESHNESS_SECONDS : Math.min(2 * refresh, WEEK_SECONDS);
  const freshnessSeconds = input.freshness_seconds ?? standard;
  return { title, description, sql, parameters, tier, maxQu, maxRows, freshnessSeconds };
}

const WEEK_SECONDS = 7 * 86_400;

/** The types of the placeholders, by name. */
async function typesOf(
  text: string,
  { sql }: OperationDeps,
  callerName: string,
): Promise<ReadonlyMap<string, string>> {
  const types = new Map<string, string>();
  for (const { name, type } of await placeholdersOf({ text, caller: callerName }, sql)) {
    const before = types.get(name);
    if (before !== undefined && before !== type)
      throw invalid('sql', `sql gives {${name}} two types, ${before} and ${type}: a parameter has one.`);
    types.set(name, type);
  }
  return types;
}

function savedParameter(told: ToldParameter, types: ReadonlyMap<string, string>): SavedParameter {
  const { name, description, standard, example } = told;
  const at = `parameters.${name}`;
  if (TAKEN_NAMES.some((taken) => taken === name))
    throw invalid(
      'parameters',
      `${at}: every call has a parameter ${name} of its own. Name the placeholder otherwise.`,
    );
  const type = types.get(name);
  if (type === undefined) throw invalid('parameters', `${at}: the text has no placeholder {${name}:Type}.`);
  const valueType = valueTypeOf(type);
  if (valueType === null)
    throw invalid(
      'parameters',
      `${at}: a parameter cannot be of the type ${type.slice(0, 100)}. Use a number, String, Bool, a date, a time, or an Array of one of these.`,
    );
  if (standard === undefined && example === undefined)
    throw invalid(
      'parameters',
      `${at} needs a default, or an example where callers must send a value (${typeInWords(valueType)}).`,
    );
  return {
    name,
    type,
    description,
    standard: standard === undefined ? null : toldValue(standard, `${at}.default`, type),
    example: example === undefined ? null : toldValue(example, `${at}.example`, type),
  };
}

function toldValue(raw: unknown, at: string, type: string): string {
  try {
    return readValue(raw, at, type);
  } catch (error) {
    throw invalid('parameters', error instanceof Error ? error.message : `${at} cannot be read.`);
  }
}

function judgedValues(parameters: readonly SavedParameter[]): Record<string, string> {
  return Object.fromEntries(
    parameters.map(({ name, standard, example }) => [name, standard ?? example ?? '']),
  );
}

/** Unknown names and types that only planning shows. Being slow to plan is no fault of a text. */
async function planned(
  accepted: Accepted,
  {
    sql: text,
    values,
    tier,
  }: { readonly sql: string; readonly values: Record<string, string>; readonly tier: SaveInput['tier'] },
  { sql }: OperationDeps,
  callerName: string,
): Promise<void> {
  const buyer = { budget: sqlBudget(sqlTierOf(tier)), hasKey: true, text, parameters: values };
  await sql
    .estimate({ accepted, parameters: values, caller: callerName })
    .catch((error: unknown) => rejected(error, buyer, { sql, callerName }));
}

export const deleteSavedQuery = defineOperation({
  id: 'deleteSavedQuery',
  wire: {
    method: 'DELETE',
    path: '/queries/{slug}',
    params: { slug: slugParam },
    output: Type.Object({ slug: Type.String(), deleted: Type.Boolean() }),
    fails: ['api_key_required', 'key_restricted', 'query_not_found'],
  },
  words: {
    summary: 'Delete a saved query',
    description:
      'Deletes it with all of its versions; later calls get 404. If the slug is used again, version numbers continue, so that a number never means two texts.',
    tool: 'Delete a saved query of yours with all versions.',
    example: { slug: 'top-payees', deleted: true },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'removes' },
  run: async ({ slug }, { accounts }: SavedDeps, { caller }) => {
    const { id: organizationId } = ownOrganization(caller);
    if (!(await accounts.saved.remove({ organizationId, slug }))) throw noSuchQuery();
    return { slug, deleted: true };
  },
});
