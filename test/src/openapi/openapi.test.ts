import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RESOURCE_NAMES } from '../../../core/domain/resources.ts';
import { ERROR_CODES, ERRORS } from '../../../core/errors.ts';
import { buildOpenApi } from '../../../src/openapi/document.ts';
import { ProblemShape } from '../../../src/openapi/problem.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { complaints } from '../../kit/answer-schema.ts';

const root = new URL('../../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: a JSON document looked into freely
const json = (path: string): any => JSON.parse(textOf(path));

const made = buildOpenApi({
  operations: OPERATIONS,
  problem: ProblemShape,
  version: json('package.json').version,
  publicUrl: '',
});
const golden = json('docs/reference/openapi.json');

function at(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** What stands there, or what it refers to. */
function followed(value: unknown): unknown {
  const reference = at(value, '$ref');
  return typeof reference === 'string' ? reference.split('/').slice(1).reduce(at, golden) : value;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
}

interface FailureResponse {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: {
    readonly 'application/problem+json': {
      readonly examples: Readonly<
        Record<string, { readonly value: { readonly status: number; readonly code: string } }>
      >;
    };
  };
}

test('the description is the golden file: npm run gen after a deliberate change', () => {
  expect(made).toEqual(golden);
});

/** What a posted operation takes in its body. */
function fieldsOf(requestBody: unknown): string[] {
  const schema = ['content', 'application/json', 'schema'].reduce(at, requestBody);
  return Object.keys(Object(at(followed(schema), 'properties')));
}

test('operations, paths, parameters and prices', () => {
  const operations = Object.entries<Record<string, Record<string, unknown>>>(golden.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, described]) =>
          ({ path: method === 'get' ? path : `${method} ${path}`, ...(described as object) }) as Record<
            string,
            unknown
          >,
      ),
    )
    .filter((operation) => 'x-payment-info' in operation);
  expect(
    operations.map(({ operationId, path, parameters, requestBody, 'x-payment-info': price }) => [
      operationId,
      path,
      [
        ...(parameters as unknown[])
          .map((parameter) => followed(parameter) as Parameter)
          .flatMap((parameter) => (parameter.in === 'header' ? [] : [parameter.name])),
        ...fieldsOf(requestBody),
      ].join(' '),
      (price as { class: string }).class,
      (price as { qu: number | null }).qu,
      (price as { x402_usd: number }).x402_usd,
    ]),
  ).toEqual([
    ['getAccount', '/account', '', 'free', 0, 0],
    ['getAccountUsage', '/account/usage', 'since until group', 'free', 0, 0],
    ['listAccountQueries', '/account/queries', 'limit before', 'free', 0, 0],
    ['forgetAccountQueries', 'delete /account/queries/{query}', 'query', 'free', 0, 0],
    ['listAccountKeys', '/account/keys', 'limit before', 'free', 0, 0],
    [
      'makeAccountKey',
      'post /account/keys',
      'label units_per_day operations rights expires_at manages_keys',
      'free',
      0,
      0,
    ],
    [
      'changeAccountKey',
      'patch /account/keys/{key}',
      'key label units_per_day operations rights expires_at manages_keys clear',
      'free',
      0,
      0,
    ],
    ['revokeAccountKey', 'delete /account/keys/{key}', 'key', 'free', 0, 0],
    ['claimHandle', 'put /account/handle', 'handle', 'free', 0, 0],
    [
      'listFlows',
      '/flows',
      'limit before after chain finality as_of since until asset facilitator tier min_usd max_usd kind scheme channel',
      'keyed',
      0,
      0.001,
    ],
    [
      'listTransactions',
      '/transactions',
      'limit before after chain finality as_of since until asset facilitator tier min_usd max_usd kind scheme channel min_probability exclude_self_payments',
      'keyed',
      0,
      0.001,
    ],
    ['getTransaction', '/transactions/{tx_hash}', 'tx_hash chain as_of', 'keyed', 0, 0.001],
    [
      'listEntitySettlements',
      '/entities/{wallet}/settlements',
      'wallet limit before after chain finality as_of since until asset facilitator tier min_usd max_usd kind scheme channel role counterparty',
      'keyed',
      0,
      0.001,
    ],
    ['getEntitySummary', '/entities/{wallet}/summary', 'wallet chain finality', 'keyed', 0, 0.001],
    [
      'listCounterparties',
      '/entities/{wallet}/counterparties',
      'wallet limit before window role order chain finality as_of',
      'keyed',
      0,
      0.001,
    ],
    [
      'listEntityChannels',
      '/entities/{wallet}/channels',
      'wallet role limit before chain',
      'keyed',
      0,
      0.001,
    ],
    ['getChannel', '/channels/{channel}', 'channel', 'keyed', 0, 0.001],
    ['getPair', '/pairs/{payer}/{payee}', 'payer payee window chain finality as_of', 'keyed', 0, 0.001],
    ['listWallets', '/wallets', 'limit before role chain finality', 'keyed', 0, 0.001],
    [
      'listFacilitators',
      '/facilitators',
      'limit offset chain facilitator named_only enriched_only status',
      'keyed',
      0,
      0.001,
    ],
    [
      'listMerchants',
      '/merchants',
      'limit offset by window q chain capability min_counterparties include_flagged',
      'keyed',
      0,
      0.001,
    ],
    ['getMerchant', '/merchants/{address}', 'address window chain finality as_of', 'keyed', 0, 0.001],
    ['getAgent', '/agents/{wallet}', 'wallet window chain finality as_of', 'keyed', 0, 0.001],
    [
      'listAgents',
      '/agents',
      'limit before chain q agent_id owner capability x402_declared active',
      'keyed',
      0,
      0.001,
    ],
    [
      'getLeaderboard',
      '/leaderboard',
      'limit offset of by window chain capability min_counterparties include_flagged include_spam',
      'keyed',
      0,
      0.001,
    ],
    ['listAttestations', '/attestations', 'limit before chain agent_id client tag kind', 'keyed', 0, 0.001],
    ['getGraph', '/graph', 'window days wallet chain max_edges finality', 'metered', 1, 0.005],
    ['listCapabilities', '/capabilities', 'fields', 'free', 0, 0],
    ['getCapability', '/capabilities/{slug}', 'slug limit', 'keyed', 0, 0.001],
    [
      'listEndpoints',
      '/endpoints',
      'limit offset q capability tag pay_to resource chain network max_price_usd',
      'free',
      0,
      0,
    ],
    ['listBundles', '/bundles', 'limit before chain table since until', 'free', 0, 0],
    ['getBundleFile', '/bundles/{chain}/{table}/{file}', 'chain table file describe', 'keyed', 0, 0.001],
    ['getTelemetry', '/telemetry', '', 'free', 0, 0],
    ['getCoverage', '/coverage', 'chain days', 'keyed', 0, 0.001],
    ['getSqlSchema', '/sql/schema', 'table functions', 'free', 0, 0],
    [
      'runSql',
      'post /sql',
      'sql query as_of tier max_qu params format numbers csv_null max_rows max_age wait_seconds explain_only',
      'metered',
      1,
      0.03,
    ],
    ['getRunningQuery', '/sql/running/{id}', 'id', 'free', 0, 0],
    ['cancelRunningQuery', 'delete /sql/running/{id}', 'id', 'free', 0, 0],
    [
      'createSqlJob',
      'post /sql/jobs',
      'sql query as_of tier max_qu params max_rows max_age',
      'metered',
      1,
      0,
    ],
    ['listSqlJobs', '/sql/jobs', 'limit offset', 'free', 0, 0],
    ['getSqlJob', '/sql/jobs/{job}', 'job format', 'free', 0, 0],
    ['cancelSqlJob', 'delete /sql/jobs/{job}', 'job', 'free', 0, 0],
    ['getResult', '/results/{result}', 'result format numbers csv_null limit offset token', 'free', 0, 0],
    ['shareResult', 'post /results/{result}/shares', 'result title chart', 'free', 0, 0],
    ['listResultShares', '/results/{result}/shares', 'result', 'free', 0, 0],
    ['revokeResultShare', 'delete /results/{result}/shares/{share}', 'result share', 'free', 0, 0],
    ['getSharedResult', '/shared/{token}', 'token', 'free', 0, 0],
    ['putTable', 'put /tables/{name}', 'name rows format types', 'free', 0, 0],
    ['getTable', '/tables/{name}', 'name', 'free', 0, 0],
    ['deleteTable', 'delete /tables/{name}', 'name', 'free', 0, 0],
    ['listTables', '/tables', '', 'free', 0, 0],
    [
      'saveQuery',
      'put /queries/{slug}',
      'slug sql parameters title description tier max_qu max_rows freshness_seconds visibility hide_text price_qu refresh_seconds',
      'free',
      0,
      0,
    ],
    ['getSavedQuery', '/queries/{slug}', 'slug version', 'free', 0, 0],
    ['deleteSavedQuery', 'delete /queries/{slug}', 'slug', 'free', 0, 0],
    ['listSavedQueries', '/queries', 'limit after', 'free', 0, 0],
    ['listQueryVersions', '/queries/{slug}/versions', 'slug', 'free', 0, 0],
    ['listQueryRefreshes', '/queries/{slug}/refreshes', 'slug', 'free', 0, 0],
    ['listPublicQueries', '/q', 'search limit before', 'free', 0, 0],
    [
      'callSavedQuery',
      '/q/{owner}/{slug}',
      'owner slug version arguments format numbers csv_null limit offset',
      'metered',
      1,
      0.01,
    ],
    ['getPublicQuery', '/q/{owner}/{slug}/about', 'owner slug version', 'free', 0, 0],
    ['getOwnerOpenApi', '/q/{owner}/openapi.json', 'owner', 'free', 0, 0],
    ['listDashboards', '/dashboards', '', 'free', 0, 0],
    ['getDashboard', '/dashboards/{owner}/{slug}', 'owner slug period chain wallet token', 'free', 0, 0],
    [
      'getDashboardPanel',
      '/dashboards/{owner}/{slug}/panels/{panel}',
      'owner slug period chain wallet token panel',
      'free',
      0,
      0,
    ],
    [
      'saveDashboard',
      'put /dashboards/{slug}',
      'slug title description visibility panels token',
      'free',
      0,
      0,
    ],
    ['deleteDashboard', 'delete /dashboards/{slug}', 'slug', 'free', 0, 0],
    ['mintTrialKey', '/test/x402', '', 'sold', null, 0.01],
  ]);
});

test('everything that has a price says how it is paid, and what can go wrong with it', () => {
  for (const { id, method, path, price } of OPERATIONS) {
    const { parameters, responses } = golden.paths[path][method.toLowerCase()];
    const sent = parameters.map((parameter: unknown) => (followed(parameter) as Parameter).name);
    const isPriced = price.class !== 'free';
    const isSold = price.x402UsdMicros > 0n;
    expect([id, sent.includes('X-PAYMENT'), sent.includes('PAYMENT-SIGNATURE')]).toEqual([
      id,
      isSold,
      isSold,
    ]);
    expect([id, '402' in responses, '502' in responses]).toEqual([id, isPriced, isPriced]);
    if (!isSold) continue;
    const refusal = followed(responses['402']) as FailureResponse;
    expect(Object.keys(refusal.headers)).toContain('PAYMENT-REQUIRED');
    const value = refusal.content['application/problem+json'].examples['payment_required']?.value;
    expect(value).toMatchObject({
      x402Version: 1,
      accepts: [{ scheme: 'exact', payTo: expect.any(String) }],
    });
  }
});

describe.each(OPERATIONS.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  const described = golden.paths[operation.path][operation.method.toLowerCase()];

  test('the example is a true answer', () => {
    const { example, examples } = described.responses[operation.status ?? 200].content['application/json'];
    expect(complaints(operation.output, example ?? examples.answer.value)).toEqual([]);
  });

  test('every failure has an example for its code, and each is a true problem', () => {
    const problems = Object.entries<unknown>(described.responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, response]) => [status, followed(response) as FailureResponse] as const)
      .flatMap(([status, response]) =>
        Object.entries(response.content['application/problem+json'].examples).map(([code, { value }]) => ({
          status: Number(status),
          code,
          value,
        })),
      );
    for (const { status, code, value } of problems) {
      expect(complaints(ProblemShape, value)).toEqual([]);
      expect({ status: value.status, code: value.code }).toEqual({ status, code });
      expect(ERRORS[code as keyof typeof ERRORS].status).toBe(status);
    }
    expect(problems.map(({ code }) => code)).toEqual(
      expect.arrayContaining([...operation.fails, 'rate_limited', 'internal_error']),
    );
  });

  test('every path parameter is declared, and declared as required', () => {
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = described.parameters
      .map(followed)
      .filter((parameter: { in: string }) => parameter.in === 'path');
    expect(declared.map((parameter: { name: string }) => parameter.name)).toEqual(inPath);
    for (const parameter of declared) expect(parameter.required).toBe(true);
  });
});

test('a posted operation says what its body holds, in which types it answers, and that a key repeats it', () => {
  const { requestBody, parameters, responses } = golden.paths['/sql'].post;
  expect(requestBody).toMatchObject({
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/RunSqlRequest' } } },
  });
  expect(golden.components.schemas.RunSqlRequest).toMatchObject({
    type: 'object',
    additionalProperties: false,
  });
  expect(Object.keys(responses['200'].content).sort()).toEqual([
    'application/json',
    'application/vnd.apache.arrow.stream',
    'application/vnd.apache.parquet',
    'application/x-ndjson',
    'text/csv',
  ]);
  expect(Object.keys(responses['200'].content['application/json'].examples)).toEqual([
    'answer',
    'json_compact',
    'explain_only',
  ]);
  expect(parameters.map((parameter: unknown) => (followed(parameter) as Parameter).name)).toContain(
    'Idempotency-Key',
  );
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '403', '409', '413', '415', '429']));
});

test('the list of codes is one list: in code, in the docs, and in the description', () => {
  const documented = [...textOf('docs/reference/errors.md').matchAll(/^## (\w+)$/gm)].map(([, code]) => code);
  expect(documented).toEqual(ERROR_CODES);
  expect(golden.components.schemas.ErrorCode.enum).toEqual(ERROR_CODES);
});

test('the list of resources is one list: in code, in the docs, and in the description', () => {
  const [, section = ''] = textOf('docs/reference/errors.md').split('## upstream_unavailable');
  expect([...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(RESOURCE_NAMES);
  expect(golden.components.schemas.Resource.enum).toEqual(RESOURCE_NAMES);
  // Nouns for callers: nothing spelled like a statement (`feed-window`), a table (`wallet_rows`) or a file.
  expect(RESOURCE_NAMES.filter((name) => !/^[a-z]+$/.test(name))).toEqual(['identity_provider']);
});
