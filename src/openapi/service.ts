import { type TSchema, Type } from '@sinclair/typebox';
import type { ErrorCode } from '../../core/errors.ts';
import { BUNDLE_KEYS_PATH, KeySetShape } from '../bundles/keys.ts';
import { PRICES } from '../operations/prices.ts';
import { advertisedPrice } from '../operations/route-price.ts';
import type { FailureResponses } from './failures.ts';
import { headerReferences } from './headers.ts';
import { OFFER_LIST_SCHEMA } from './payments.ts';
import type { Json, NamedSchemas } from './schemas.ts';

/**
 * The machine-readable routes outside the API. Pages for people (/docs, /plans, /console), texts (/llms.txt) and the MCP surface,
 * which describes itself, are not part of the description.
 */

const StatusShape = Type.Object({ status: Type.String() }, { title: 'ServiceStatus' });

/** Source: RFC 9728 3.2. */
const ProtectedResourceShape = Type.Object(
  {
    resource: Type.String({ format: 'uri', description: 'What a token must be issued for.' }),
    authorization_servers: Type.Array(Type.String({ format: 'uri' })),
    bearer_methods_supported: Type.Array(Type.String()),
    resource_name: Type.String(),
  },
  { title: 'ProtectedResource' },
);

const LISTED_CALL_EXAMPLE = {
  info: { input: { type: 'http', method: 'GET' }, output: { type: 'json' } },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: {
          type: { type: 'string', const: 'http' },
          method: { type: 'string', enum: ['GET'] },
          queryParams: { type: 'object', properties: { limit: { type: 'integer' } } },
        },
        required: ['type', 'method'],
        additionalProperties: false,
      },
    },
    required: ['input'],
  },
};

interface Parts {
  readonly schemas: NamedSchemas;
  readonly failures: FailureResponses;
}

interface ServiceRoute {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly answer: string;
  readonly shape: TSchema | Json;
  readonly example: unknown;
  readonly fails: readonly ErrorCode[];
}

const COMMON_FAILS: readonly ErrorCode[] = [
  'malformed_request',
  'method_not_allowed',
  'uri_too_long',
  'internal_error',
];

const ROUTES: Readonly<Record<string, ServiceRoute>> = {
  '/healthz': {
    id: 'getHealth',
    summary: 'Whether the process lives',
    description: 'For the platform’s liveness check. Asks nothing else.',
    answer: 'It does.',
    shape: StatusShape,
    example: { status: 'ok' },
    fails: COMMON_FAILS,
  },
  '/readyz': {
    id: 'getReadiness',
    summary: 'Whether the engine answers and its tables exist',
    description: 'For the platform’s readiness check. A verdict is kept for half a second.',
    answer: 'Both.',
    shape: StatusShape,
    example: { status: 'ready' },
    fails: [...COMMON_FAILS, 'upstream_unavailable'],
  },
  '/openapi.json': {
    id: 'getOpenApi',
    summary: 'This document',
    description: 'The description of the API, OpenAPI 3.1.',
    answer: 'The document.',
    shape: { type: 'object', additionalProperties: true },
    example: { openapi: '3.1.0', info: { title: 'Settlement Index' } },
    fails: COMMON_FAILS,
  },
  '/.well-known/oauth-protected-resource': {
    id: 'getProtectedResource',
    summary: 'Who issues access tokens for this deployment',
    description:
      'Metadata of OAuth for the deployment as a whole; that of the MCP surface stands below it, at `/mcp`. 404 where no access tokens are accepted.',
    answer: 'The issuer.',
    shape: ProtectedResourceShape,
    example: {
      resource: 'https://index.example',
      authorization_servers: ['https://id.example'],
      bearer_methods_supported: ['header'],
      resource_name: 'Settlement Index',
    },
    fails: [...COMMON_FAILS, 'not_found'],
  },
  [BUNDLE_KEYS_PATH]: {
    id: 'getBundleKeys',
    summary: 'The keys that sign the manifests of bundles',
    description:
      'A JSON Web Key set of Ed25519 keys, the one that signs now first; older ones stay. Empty before the first bundle was made.',
    answer: 'The keys.',
    shape: KeySetShape,
    example: {
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
          kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
          use: 'sig',
          alg: 'EdDSA',
        },
      ],
    },
    fails: COMMON_FAILS,
  },
  '/.well-known/x402': {
    id: 'getOfferList',
    summary: 'What is sold here over x402',
    description:
      'Every priced route with its terms, for crawlers of payable APIs. The terms of a 402 are authoritative. 404 where no calls are sold.',
    answer: 'The routes and their terms.',
    shape: OFFER_LIST_SCHEMA,
    example: {
      version: 1,
      resources: ['https://index.example/v0/flows'],
      x402Version: 2,
      items: [
        {
          resource: 'https://index.example/v0/flows',
          type: 'http',
          x402Version: 2,
          description: 'Newest settlements across every indexed chain, payer to payee',
          mimeType: 'application/json',
          serviceName: 'Settlement Index',
          accepts: [
            {
              scheme: 'exact',
              network: 'eip155:8453',
              amount: '1000',
              asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
              payTo: '0x00000000000000000000000000000000000A11cE',
              maxTimeoutSeconds: 300,
              extra: { name: 'USD Coin', version: '2' },
            },
          ],
          price: advertisedPrice(PRICES.keyed),
          extensions: { bazaar: LISTED_CALL_EXAMPLE },
        },
      ],
    },
    fails: [...COMMON_FAILS, 'not_found'],
  },
};

export function servicePaths(publicUrl: string, parts: Parts): Json {
  const servers = [{ url: publicUrl === '' ? '/' : publicUrl }];
  return Object.fromEntries(
    Object.entries(ROUTES).map(([path, route]) => [path, { servers, get: operationObject(route, parts) }]),
  );
}

function operationObject(route: ServiceRoute, { schemas, failures }: Parts): Json {
  const { id, summary, description, answer, shape, example, fails } = route;
  return {
    operationId: id,
    tags: tagsOf(id),
    summary,
    description,
    parameters: [{ $ref: '#/components/parameters/XRequestId' }],
    security: [],
    responses: {
      200: {
        description: answer,
        headers: headerReferences(['X-Request-Id', 'Server-Timing', 'Cache-Control', 'Vary']),
        content: { 'application/json': { schema: schemas.place(shape as Json), example } }, // a TypeBox schema is plain JSON
      },
      ...failures.of(fails),
    },
  };
}

/** Groups of operations, in the order of the documentation. Every operation is in exactly one. */
export const TAGS: readonly {
  readonly name: string;
  readonly description: string;
  /** Ids. */
  readonly operations: readonly string[];
}[] = [
  {
    name: 'Account',
    description:
      'Who the caller is, what it used, its keys, what everything costs, and a key without an account.',
    operations: [
      'getAccount',
      'getAccountUsage',
      'listAccountQueries',
      'forgetAccountQueries',
      'listAccountKeys',
      'makeAccountKey',
      'changeAccountKey',
      'revokeAccountKey',
      'claimHandle',
      'mintTrialKey',
    ],
  },
  {
    name: 'Settlements',
    description: 'Payments as they were settled on chain, each with the evidence that it was x402.',
    operations: ['listFlows', 'listTransactions', 'getTransaction', 'listEntitySettlements', 'getGraph'],
  },
  {
    name: 'Wallets',
    description: 'Who pays, who is paid, who relays, and what the figures of a wallet are worth.',
    operations: [
      'getEntitySummary',
      'listCounterparties',
      'listEntityChannels',
      'getChannel',
      'getPair',
      'listWallets',
      'listFacilitators',
      'listMerchants',
      'getMerchant',
      'getAgent',
    ],
  },
  {
    name: 'Agents',
    description: 'ERC-8004 agents, and what others attest about them.',
    operations: ['listAgents', 'getLeaderboard', 'listAttestations'],
  },
  {
    name: 'Directory',
    description: 'What can be bought over x402, where, and at what price.',
    operations: ['listCapabilities', 'getCapability', 'listEndpoints'],
  },
  {
    name: 'SQL',
    description: 'Questions of one’s own over the public tables.',
    operations: [
      'getSqlSchema',
      'runSql',
      'getRunningQuery',
      'cancelRunningQuery',
      'createSqlJob',
      'listSqlJobs',
      'getSqlJob',
      'cancelSqlJob',
      'getResult',
      'shareResult',
      'listResultShares',
      'revokeResultShare',
      'getSharedResult',
      'putTable',
      'listTables',
      'getTable',
      'deleteTable',
    ],
  },
  {
    name: 'Saved queries',
    description: 'Queries of one’s own as endpoints, for oneself and for others.',
    operations: [
      'saveQuery',
      'listSavedQueries',
      'getSavedQuery',
      'deleteSavedQuery',
      'listQueryVersions',
      'listQueryRefreshes',
      'listPublicQueries',
      'callSavedQuery',
      'getPublicQuery',
      'getOwnerOpenApi',
    ],
  },
  {
    name: 'Dashboards',
    description: 'Panels of saved queries for a period and a chain, free to read.',
    operations: ['listDashboards', 'getDashboard', 'getDashboardPanel', 'saveDashboard', 'deleteDashboard'],
  },
  {
    name: 'Bundles',
    description: 'Parquet files of finalized days, signed, to take home.',
    operations: ['listBundles', 'getBundleFile', 'getBundleKeys'],
  },
  {
    name: 'Service',
    description: 'Whether the service and its index are well.',
    operations: [
      'getTelemetry',
      'getCoverage',
      'getHealth',
      'getReadiness',
      'getOpenApi',
      'getProtectedResource',
      'getOfferList',
    ],
  },
];

/** The group of an operation; empty for one that the catalogue does not have. */
export function tagsOf(operationId: string): readonly string[] {
  return TAGS.filter(({ operations }) => operations.includes(operationId)).map(({ name }) => name);
}
